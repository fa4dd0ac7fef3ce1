/**
 * The value under a key of etcd, as a real API server writes it with `--storage-media-type=application/json`: kind and
 * apiVersion of the stored version, no resourceVersion, a line end. What a real server writes by default, protobuf, is
 * read as well.
 */
import { NEW_EVENT } from "../../api/kinds/new-event.ts";
import { apiVersionOf, type ResourceType } from "../../api/resource.ts";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import { decodeObject, decodePart } from "../../api/schema/decode.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { utf8 } from "../../kernel/bytes.ts";
import { isObject, ownValue } from "../../kernel/json.ts";
import { decodeProtobufBody } from "../codec/protobuf.ts";

/** What an object of each space is read as. Events have one stored form, that of `v1`. */
const TYPES: ReadonlyMap<string, ResourceType> = new Map(
	RESOURCE_TYPES.filter((type) => type !== NEW_EVENT).map((type) => [type.storagePrefix, type]),
);

/** The spaces of kinds that are built in. */
export const STORED_SPACES: readonly string[] = [...TYPES.keys()];

export function storedValue(object: KubeObject): Uint8Array {
	const { kind, apiVersion, metadata, ...rest } = object;
	const { resourceVersion: _ofRevision, ...kept } = metadata;
	return utf8(`${JSON.stringify({ kind, apiVersion, metadata: kept, ...rest })}\n`);
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @throws {Error} For what is no object of the space's kind; encrypted values are among them. */
export function objectOfValue(space: string, value: Uint8Array): KubeObject {
	const data: unknown = isProtobuf(value) ? decodeProtobufBody(value).object : JSON.parse(decoder.decode(value));
	const type = TYPES.get(space);
	return type === undefined ? customObject(data) : objectOf(type, data);
}

function objectOf(type: ResourceType, data: unknown): KubeObject {
	const expected = { apiVersion: apiVersionOf(type), kind: type.kind };
	const decoded = type.decode?.(data, expected) ?? decodeObject(type.schema, data, expected);
	if (decoded.kind === "wrong") throw new Error(decoded.message);
	// As real servers do: what was stored before a field had a default has it now.
	return type.withDefaults(named(decoded.object));
}

/** Its schema is another object: only what every object has is looked at. */
function customObject(data: unknown): KubeObject {
	if (!isObject(data) || typeof data["kind"] !== "string" || typeof data["apiVersion"] !== "string") {
		throw new Error("it has no kind and apiVersion");
	}
	const metadata = ownValue(data, "metadata");
	if (!isObject(metadata)) throw new Error("it has no metadata");
	const decoded = decodePart("meta.ObjectMeta", metadata, "metadata");
	if (decoded.wrong !== undefined) throw new Error(decoded.wrong);
	return named({ ...data, metadata: decoded.value });
}

function named(object: object): KubeObject {
	const metadata = ownValue(object, "metadata");
	if (!isObject(metadata) || typeof metadata["name"] !== "string") throw new Error("it has no metadata.name");
	// Both readers have checked the rest.
	return object as KubeObject;
}

/** `k8s` and a zero byte. */
function isProtobuf(value: Uint8Array): boolean {
	return value[0] === 0x6b && value[1] === 0x38 && value[2] === 0x73 && value[3] === 0;
}
