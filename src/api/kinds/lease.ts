/** Lease: the heartbeat of a node, the lock of a leader. */

import { without } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { Lease } from "../types/coordination.ts";
import { AGE_COLUMN, column, NAME_COLUMN } from "./cells.ts";

export const LEASE: ResourceType = defineResource<Lease>({
	group: "coordination.k8s.io",
	version: "v1",
	kind: "Lease",
	plural: "leases",
	singular: "lease",
	namespaced: true,
	shortNames: [],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/leases/",
	schema: "coordination.Lease",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: true,
	// Two candidates for one lock must never both succeed.
	unconditionalUpdate: false,
	deleteAnswers: "status",
	fieldLabels: [],
	table: {
		columns: [NAME_COLUMN, column("Holder", "The identity of the holder of the lease."), AGE_COLUMN],
		cells: ({ metadata, spec }, nowMs) => [
			metadata.name,
			spec?.holderIdentity ?? "",
			age(nowMs, metadata.creationTimestamp),
		],
	},
	withDefaults: (lease) => ({ ...lease, spec: lease.spec ?? {} }),
	prepareCreate: withoutStrategy,
	prepareUpdate: withoutStrategy,
	validate,
	validateUpdate: validate,
	warnings: () => [],
	fields: () => ({}),
});

/** Coordinated leader election is an alpha feature of Kubernetes, off by default. */
function withoutStrategy(lease: Lease): Lease {
	return lease.spec === undefined ? lease : { ...lease, spec: without(lease.spec, "strategy", "preferredHolder") };
}

function validate({ spec }: Lease): readonly FieldError[] {
	const { leaseDurationSeconds, leaseTransitions } = spec ?? {};
	return [
		...(leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0
			? [invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0")]
			: []),
		...(leaseTransitions !== undefined && leaseTransitions < 0
			? [invalid("spec.leaseTransitions", leaseTransitions, "must be greater than or equal to 0")]
			: []),
	];
}
