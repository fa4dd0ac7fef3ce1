/** Keeps `metadata.managedFields` with every write that is not an apply. */
import { entriesOf, NO_OWNERS, type Owners, ownersOf } from "../../api/apply/managed-fields.ts";
import { trackUpdate } from "../../api/apply/track-update.ts";
import type { ResourceType } from "../../api/resource.ts";
import type { KubeObject, ManagedFieldsEntry, ObjectMeta } from "../../api/types/meta.ts";
import { without } from "../../kernel/json.ts";
import type { RequestContext, ServerPorts } from "../ports.ts";
import { knownOwners, type WriteOptions, writerOf } from "./writer.ts";

/** Undefined: nobody owns anything. */
export interface ManagedFields {
	readonly entries: readonly ManagedFieldsEntry[] | undefined;
}

interface TrackOptions extends WriteOptions {
	readonly ownedBy?: ManagedFields;
}

/** The new object, with who owns what of it. */
export function trackedCreate(
	ports: ServerPorts,
	type: ResourceType,
	object: KubeObject,
	options: TrackOptions,
	context: RequestContext,
): KubeObject {
	if (options.ownedBy !== undefined) return withManagedFields(object, options.ownedBy.entries);
	return safely(ports, type, object, () => {
		const owners = isReset(object.metadata.managedFields)
			? NO_OWNERS
			: (ownersOf(object.metadata.managedFields) ?? NO_OWNERS);
		const bare = withManagedFields(object, undefined);
		const known = knownOwners(ports, type, owners);
		return withManagedFields(bare, entriesOf(trackUpdate(known, {}, bare, writerOf(ports, type, options, context))));
	});
}

/** `next` with who owns what of it after the write. */
export function trackedUpdate(
	ports: ServerPorts,
	type: ResourceType,
	stored: KubeObject,
	next: KubeObject,
	options: TrackOptions,
	context: RequestContext,
): KubeObject {
	if (options.ownedBy !== undefined) return withManagedFields(next, options.ownedBy.entries);
	if (options.subresource === "finalize") return withManagedFields(next, stored.metadata.managedFields);
	return safely(ports, type, next, () => {
		const before = stored.metadata.managedFields;
		const owners = knownOwners(ports, type, ownersOfUpdate(before, next.metadata.managedFields, options));
		// To the comparison the entries are equal, so that it does not look into them.
		const bare = withManagedFields(next, before);
		// Of an object that nobody owns anything of, nobody becomes owner but by applying.
		if (owners.length === 0) return withManagedFields(bare, undefined);
		const tracked = trackUpdate(owners, stored, bare, writerOf(ports, type, options, context));
		return withManagedFields(bare, entriesOf(tracked));
	});
}

/**
 * What the client sends replaces what is stored, so that it can hand fields over. Who does not know of such things
 * sends nothing, or something else, and changes nothing.
 */
function ownersOfUpdate(
	stored: readonly ManagedFieldsEntry[] | undefined,
	sent: readonly ManagedFieldsEntry[] | undefined,
	{ subresource }: WriteOptions,
): Owners {
	const live = (): Owners => ownersOf(stored) ?? NO_OWNERS;
	if (subresource !== undefined) return live();
	if (isReset(sent)) return NO_OWNERS;
	const asked = ownersOf(sent);
	return asked === undefined || asked.length === 0 ? live() : asked;
}

/** `[]` and `[{}]` clear the field. */
function isReset(sent: readonly ManagedFieldsEntry[] | undefined): boolean {
	if (sent === undefined) return false;
	const [first, second] = sent;
	return first === undefined || (second === undefined && Object.keys(first).length === 0);
}

function withManagedFields(object: KubeObject, managedFields: readonly ManagedFieldsEntry[] | undefined): KubeObject {
	const { metadata } = object;
	if (metadata.managedFields === managedFields) return object;
	const changed: ObjectMeta =
		managedFields === undefined ? without(metadata, "managedFields") : { ...metadata, managedFields };
	return { ...object, metadata: changed };
}

/** Bookkeeping must not stop a write: what cannot be told is dropped. */
function safely({ log }: ServerPorts, type: ResourceType, object: KubeObject, track: () => KubeObject): KubeObject {
	try {
		return track();
	} catch (error) {
		const { namespace = "", name } = object.metadata;
		log.error("Failed to tell who owns the fields of an object", { kind: type.kind, namespace, name, error });
		return withManagedFields(object, undefined);
	}
}
