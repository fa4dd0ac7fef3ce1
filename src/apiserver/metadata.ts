/** Metadata that the server keeps in order, whatever a client sends. */
import type { ObjectMeta, OwnerReference } from "../api/types/meta.ts";
import { repeatedIndexes } from "../kernel/order.ts";
import type { RequestContext } from "./ports.ts";

/** A field of old, which clients may still send and no server keeps. */
export interface WithSelfLink {
	readonly selfLink?: string;
}

/**
 * The metadata of an update: a client may change labels, annotations, owners and finalizers, and
 * nothing else; what it leaves out or tries to change of the rest stays as stored.
 */
export function updatedMetadata(next: ObjectMeta, stored: ObjectMeta, context: RequestContext): ObjectMeta {
	const {
		namespace: _namespace,
		generateName: _prefix,
		deletionTimestamp: _at,
		deletionGracePeriodSeconds: _grace,
		generation: _generation,
		selfLink: _link,
		...asked
	}: ObjectMeta & WithSelfLink = next;
	return {
		...asked,
		name: stored.name,
		...(stored.namespace === undefined ? {} : { namespace: stored.namespace }),
		uid: stored.uid,
		resourceVersion: stored.resourceVersion,
		creationTimestamp: stored.creationTimestamp,
		...(stored.generateName === undefined ? {} : { generateName: stored.generateName }),
		...(stored.generation === undefined ? {} : { generation: stored.generation }),
		...(stored.deletionTimestamp === undefined ? {} : { deletionTimestamp: stored.deletionTimestamp }),
		...(stored.deletionGracePeriodSeconds === undefined
			? {}
			: { deletionGracePeriodSeconds: stored.deletionGracePeriodSeconds }),
		...dedupedOwners(next.ownerReferences, context),
	};
}

/** Owner references without exact duplicates; a warning names the uids that came twice. */
export function dedupedOwners(
	owners: readonly OwnerReference[] | undefined,
	context: RequestContext,
): { ownerReferences?: readonly OwnerReference[] } {
	if (owners === undefined || owners.length === 0) return {};
	// Most often none has a uid twice, and what else they say need not be put into words.
	if (repeatedIndexes(owners, ({ uid }) => uid).size === 0) return { ownerReferences: owners };
	const again = repeatedIndexes(owners, ownerText);
	const repeated = new Set(owners.filter((_owner, index) => again.has(index)).map(({ uid }) => uid));
	if (repeated.size > 0) {
		context.warn(
			".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may " +
				"reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
				[...repeated].join(", "),
		);
	}
	return { ownerReferences: repeated.size > 0 ? owners.filter((_owner, index) => !again.has(index)) : owners };
}

/** The same for two that say the same. */
function ownerText({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
	return JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null]);
}
