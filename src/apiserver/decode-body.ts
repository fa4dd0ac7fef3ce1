/** From what a client sent to an object of the resource's kind: shapes are checked, unknown fields reported. */
import { apiVersionOf, type ResourceType } from "../api/resource.ts";
import { decodeObject, ODDITIES_MAX, type WrongBody } from "../api/schema/decode.ts";
import { type ApiError, badRequest, invalidObject } from "../api/status.ts";
import type { KubeObject, ObjectMeta } from "../api/types/meta.ts";
import { isObject, ownValue } from "../kernel/json.ts";
import type { RequestContext, WriteFlags } from "./ports.ts";

/**
 * @param body Plain data, as JSON.parse gives it.
 * @param stored The object that the body is a change of, if it is one: parts that are shared are not looked at again.
 * @throws {ApiError} `BadRequest` for a wrong type, kind or version, and under Strict for unknown and repeated fields.
 */
export function decodeBody(
	type: ResourceType,
	body: unknown,
	flags: Pick<WriteFlags, "fieldValidation" | "oddities">,
	context: RequestContext,
	stored?: KubeObject,
): KubeObject {
	const expected = { apiVersion: apiVersionOf(type), kind: type.kind };
	const decoded = type.decode?.(body, expected) ?? decodeObject(type.schema, body, expected, stored);
	if (decoded.kind === "wrong") throw refusal(type, decoded, body);
	reportOddities(type, [...(flags.oddities ?? []), ...decoded.unknown].slice(0, ODDITIES_MAX), flags, context);
	return withMetadata(decoded.object, body);
}

function refusal({ group }: ResourceType, { message, invalid }: WrongBody, body: unknown): ApiError {
	if (invalid === undefined) return badRequest(message);
	const metadata = isObject(body) ? ownValue(body, "metadata") : undefined;
	const name = isObject(metadata) ? ownValue(metadata, "name") : undefined;
	return invalidObject({ group, kind: invalid.kind }, typeof name === "string" ? name : "", [invalid.error]);
}

function reportOddities(
	type: ResourceType,
	oddities: readonly string[],
	{ fieldValidation }: Pick<WriteFlags, "fieldValidation">,
	context: RequestContext,
): void {
	if (oddities.length === 0 || fieldValidation === "Ignore") return;
	if (fieldValidation === "Warn") {
		for (const text of oddities) context.warn(text);
		return;
	}
	const cannot = `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
	throw badRequest(`${cannot}: strict decoding error: ${oddities.join(", ")}`);
}

/** A body without metadata is as good as one with empty metadata: the rules of names speak next. */
function withMetadata(object: object, body: unknown): KubeObject {
	const { metadata } = object as Partial<KubeObject>;
	const complete: Partial<ObjectMeta> = metadata ?? {};
	// Nobody is to own anything: decoding drops empty lists, and this one means something.
	const cleared = clearsManagedFields(body) ? { managedFields: [] } : {};
	return {
		...(object as KubeObject),
		metadata: { ...(complete as ObjectMeta), ...cleared, name: complete.name ?? "" },
	};
}

function clearsManagedFields(body: unknown): boolean {
	const metadata = isObject(body) ? ownValue(body, "metadata") : undefined;
	const given = isObject(metadata) ? ownValue(metadata, "managedFields") : undefined;
	return Array.isArray(given) && given.length === 0;
}
