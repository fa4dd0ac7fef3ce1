/** The pods of a StatefulSet: each has a number, and with it a name that stays. */
import { STATEFUL_SETS } from "../../api/resource-names.ts";
import type { StatefulSet } from "../../api/types/apps.ts";
import type { Pod, PodSpec, PodTemplateSpec } from "../../api/types/core.ts";
import type { Draft, StringMap } from "../../api/types/meta.ts";
import { ownValue } from "../../kernel/json.ts";
import { controllerReference } from "./owned-by.ts";

export const REVISION_LABEL = "controller-revision-hash";
const POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL = "apps.kubernetes.io/pod-index";

export function podName({ metadata }: StatefulSet, ordinal: number): string {
	return `${metadata.name}-${ordinal}`;
}

/** undefined for a pod whose name is not one of the set's. */
export function ordinalOf(set: StatefulSet, { metadata }: Pod): number | undefined {
	const [, digits] = /-(\d{1,10})$/.exec(metadata.name) ?? [];
	if (digits === undefined) return undefined;
	const ordinal = Number(digits);
	return metadata.name === podName(set, ordinal) ? ordinal : undefined;
}

export function revisionNameOf({ metadata }: Pod): string | undefined {
	return metadata.labels?.[REVISION_LABEL];
}

export interface PodVersion {
	readonly template: PodTemplateSpec;
	readonly revisionName: string;
}

/** The pod of this number, as it is sent to the API. */
export function podOf(set: StatefulSet, ordinal: number, { template, revisionName }: PodVersion): Draft<Pod> {
	const { metadata = {}, spec } = template;
	const name = podName(set, ordinal);
	return {
		metadata: {
			name,
			generateName: `${set.metadata.name}-`,
			labels: {
				...metadata.labels,
				[POD_INDEX_LABEL]: String(ordinal),
				[REVISION_LABEL]: revisionName,
				[POD_NAME_LABEL]: name,
			},
			...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
			...(metadata.finalizers === undefined ? {} : { finalizers: metadata.finalizers }),
			ownerReferences: [controllerReference(STATEFUL_SETS, set)],
		},
		spec: {
			...spec,
			hostname: name,
			...(set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}),
			...volumesOf(set, spec, name),
		},
	};
}

/** A claim of its own for every template: it wins over a volume of its name. */
function volumesOf({ spec }: StatefulSet, { volumes = [] }: PodSpec, name: string): Pick<PodSpec, "volumes"> {
	const claims = (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? "");
	if (claims.length === 0) return {};
	const others = volumes.filter((volume) => !claims.some((claim) => ownValue(volume, "name") === claim));
	const own = claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } }));
	return { volumes: [...own, ...others] };
}

/** The labels that say who the pod is, when one is missing or wrong: so on pods that were adopted. */
export function missingIdentity({ metadata }: Pod): StringMap | undefined {
	const { name, labels } = metadata;
	return labels?.[POD_NAME_LABEL] === name ? undefined : { [POD_NAME_LABEL]: name };
}
