/** What a mirrored slice says about itself: everything that its Endpoints say, and where it comes from. */
import { dns1123SubdomainName } from "../../api/names.ts";
import type { Endpoints } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft, ObjectMeta, StringMap } from "../../api/types/meta.ts";
import {
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	LAST_APPLIED_ANNOTATION,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
	TRIGGER_TIME_ANNOTATION,
} from "../../api/well-known.ts";
import { deepEqual } from "../../kernel/json.ts";

export function mirrorMetadata({ metadata }: Endpoints): Draft<EndpointSlice>["metadata"] {
	const { name, namespace, uid, labels } = metadata;
	return {
		generateName: prefixOf(name),
		...(namespace === undefined ? {} : { namespace }),
		labels: {
			...labels,
			[SERVICE_NAME_LABEL]: name,
			[SLICE_MANAGED_BY_LABEL]: ENDPOINTSLICEMIRRORING_CONTROLLER,
		},
		annotations: copiedAnnotations(metadata),
		ownerReferences: [{ apiVersion: "v1", kind: "Endpoints", name, uid, controller: true, blockOwnerDeletion: true }],
	};
}

/** A name that makes no prefix with a dash behind it is its own prefix. */
function prefixOf(name: string): string {
	return dns1123SubdomainName(`${name}-`, true).length === 0 ? `${name}-` : name;
}

function copiedAnnotations({ annotations = {} }: ObjectMeta): StringMap {
	const { [LAST_APPLIED_ANNOTATION]: _applied, [TRIGGER_TIME_ANNOTATION]: _time, ...copied } = annotations;
	return copied;
}

/**
 * Whether the slice's metadata need no write. Endpoints that were deleted and made again under their name have
 * another uid, which the slice must name.
 */
export function hasMetadataOf(slice: EndpointSlice, { metadata }: Endpoints): boolean {
	const { [SERVICE_NAME_LABEL]: _name, [SLICE_MANAGED_BY_LABEL]: _manager, ...labels } = slice.metadata.labels ?? {};
	return (
		deepEqual(labels, metadata.labels ?? {}) &&
		deepEqual(slice.metadata.annotations ?? {}, copiedAnnotations(metadata)) &&
		!(slice.metadata.ownerReferences ?? []).some(
			({ kind, name, uid }) => kind === "Endpoints" && name === metadata.name && uid !== metadata.uid,
		)
	);
}
