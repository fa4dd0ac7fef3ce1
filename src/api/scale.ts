/** The `scale` subresource: the size of a workload as an object of its own. */
import { age } from "./age.ts";
import { type FieldError, invalid } from "./field-error.ts";
import { AGE_COLUMN, column, integerColumn } from "./kinds/cells.ts";
import { formatRequirements, requirementsOf } from "./label-selector.ts";
import type { Table } from "./resource.ts";
import type { Deployment, ReplicaSet, StatefulSet } from "./types/apps.ts";
import type { Scale } from "./types/autoscaling.ts";

/** The kinds that have the subresource. */
export type Workload = Deployment | ReplicaSet | StatefulSet;

export function scaleOf({ metadata, spec, status }: Workload): Scale {
	const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
	return {
		kind: "Scale",
		apiVersion: "autoscaling/v1",
		metadata: {
			name,
			...(namespace === undefined ? {} : { namespace }),
			uid,
			resourceVersion,
			creationTimestamp,
		},
		// A size of 0 is not printed: so it is on a real server.
		spec: (spec.replicas ?? 0) === 0 ? {} : { replicas: spec.replicas ?? 0 },
		status: { replicas: status?.replicas ?? 0, selector: formatRequirements(requirementsOf(spec.selector)) },
	};
}

/** The workload with the size that the Scale asks for; nothing else of it counts. */
export function withScale<T extends Workload>(workload: T, scale: Scale): T {
	return { ...workload, spec: { ...workload.spec, replicas: scale.spec?.replicas ?? 0 } };
}

export function validateScale(scale: Scale): readonly FieldError[] {
	const replicas = scale.spec?.replicas ?? 0;
	return replicas < 0 ? [invalid("spec.replicas", replicas, "must be greater than or equal to 0")] : [];
}

export const SCALE_TABLE: Table<Scale> = {
	columns: [
		column("Name", "Name must be unique within a namespace."),
		integerColumn("Desired", "How many pods there should be."),
		integerColumn("Available", "How many pods there are."),
		AGE_COLUMN,
	],
	cells: ({ metadata, spec, status }, nowMs) => [
		metadata.name,
		spec?.replicas ?? 0,
		status?.replicas ?? 0,
		age(nowMs, metadata.creationTimestamp),
	],
};
