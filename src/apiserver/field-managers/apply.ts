/** What a server-side apply makes of an object: the object to write, and who owns what of it. */
import { type Applied, applyConfig, type Conflict, type GivenConfig } from "../../api/apply/apply-config.ts";
import { conflictError } from "../../api/apply/conflict-text.ts";
import { difference, EMPTY_SET } from "../../api/apply/field-set.ts";
import { checkedFields } from "../../api/apply/given-fields.ts";
import { fieldsAsLastApplied, KUBECTL, withLastApplied } from "../../api/apply/last-applied.ts";
import { entriesOf, NO_OWNERS, type Owners, ownersOf } from "../../api/apply/managed-fields.ts";
import type { ApplyShape } from "../../api/apply/shape.ts";
import { trackUpdate, type Writer } from "../../api/apply/track-update.ts";
import type { ResourceType } from "../../api/resource.ts";
import { ApiError } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { isObject, ownValue, without } from "../../kernel/json.ts";
import type { RequestContext, ServerPorts } from "../ports.ts";
import type { ManagedFields } from "./track-write.ts";
import { knownOwners, type WriteOptions, writerOf } from "./writer.ts";

/** Holds what an object has when somebody first applies to it and nobody knows who gave it that. */
const BEFORE_FIRST_APPLY = "before-first-apply";

export interface AppliedObject {
	/** Plain data, not yet decoded. */
	readonly object: Readonly<Record<string, unknown>>;
	readonly ownedBy: ManagedFields;
}

export interface ApplyOptions extends WriteOptions {
	readonly force?: boolean;
}

/**
 * @param value Of the right kind, without managedFields.
 * @throws {ApiError} Without a reason, when it does not fit the schema.
 */
export function checkedConfig(shape: ApplyShape, value: GivenConfig["value"]): GivenConfig {
	const checked = checkedFields(shape, value);
	if (checked.kind === "ok") return { value, fields: checked.fields };
	throw new ApiError("", `failed to create typed patch object (${configWords(value)}): ${checked.message}`);
}

/**
 * @param live Absent when there is no object yet.
 * @throws {ApiError} `Conflict` when others own what it would change.
 */
export function applied(
	ports: ServerPorts,
	type: ResourceType,
	live: KubeObject | undefined,
	config: GivenConfig,
	options: ApplyOptions,
	context: RequestContext,
): AppliedObject {
	const writer = writerOf(ports, type, options, context);
	const bare = live === undefined ? {} : { ...live, metadata: without(live.metadata, "managedFields") };
	const known = knownOwners(ports, type, ownersOf(live?.metadata.managedFields) ?? NO_OWNERS);
	const owners = known.length > 0 ? known : trackUpdate(known, {}, bare, { ...writer, manager: BEFORE_FIRST_APPLY });
	const result = outcome(owners, bare, config, writer, options.force === true);
	if (result.kind === "conflicts") throw conflictError(result.conflicts);
	const changed = result.object ?? bare;
	const object = writer.manager === KUBECTL ? withLastApplied(changed, config.value) : changed;
	return {
		object: object as Readonly<Record<string, unknown>>,
		ownedBy: { entries: entriesOf(result.owners) },
	};
}

/** `kubectl` may change what its own client-side apply has set, whoever owns it. */
function outcome(owners: Owners, live: unknown, config: GivenConfig, writer: Writer, isForced: boolean): Applied {
	const result = applyConfig(owners, live, config, writer, isForced);
	if (result.kind !== "conflicts" || writer.manager !== KUBECTL) return result;
	const allowed = fieldsAsLastApplied(writer.shape, writer.apiVersion, live);
	const conflicts: readonly Conflict[] = result.conflicts
		.map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed) }))
		.filter(({ fields }) => fields !== EMPTY_SET);
	return conflicts.length > 0 ? { kind: "conflicts", conflicts } : applyConfig(owners, live, config, writer, true);
}

/** `default/web; /v1, Kind=Service` */
function configWords(config: Readonly<Record<string, unknown>>): string {
	const metadata = ownValue(config, "metadata");
	const [namespace, name] = ["namespace", "name"].map((key) =>
		isObject(metadata) ? (ownValue(metadata, key) ?? "") : "",
	);
	return `${String(namespace)}/${String(name)}; ${kindWords(config)}`;
}

/** `apps/v1, Kind=Deployment`; a version of the core group begins with a slash. */
export function kindWords({ apiVersion = "", kind = "" }: Readonly<Record<string, unknown>>): string {
	const text = String(apiVersion ?? "");
	return `${text.includes("/") ? text : `/${text}`}, Kind=${String(kind ?? "")}`;
}
