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
import { inServedVersion } from "./older-versions.ts";

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

/** @throws {Error} For what is no object of the space's kind. The message says why, and nothing that the value holds. */
export function objectOfValue(space: string, value: Uint8Array): KubeObject {
	const type = TYPES.get(space);
	const data = dataOf(value);
	return type === undefined ? customObject(data) : objectOf(type, data);
}

function dataOf(value: Uint8Array): unknown {
	const provider = providerOf(value);
	if (provider !== undefined) throw new Error(`it is encrypted, with ${provider}: ${DECRYPT}`);
	if (isProtobuf(value)) return told(() => decodeProtobufBody(value).object);
	try {
		return JSON.parse(decoder.decode(value));
	} catch {
		// The parser's own words quote what it found.
		throw new Error("it is neither JSON nor Kubernetes' protobuf");
	}
}

const DECRYPT =
	"put the provider identity first in the EncryptionConfiguration of the real API servers, and write such objects anew";
/** `k8s:enc:aescbc:v1:KEY:` stands before what is encrypted. */
const ENCRYPTED = /^k8s:enc:[a-z0-9]{1,20}:v\d{1,3}(?=:)/;
const ENCRYPTED_BYTES = 64;

function providerOf(value: Uint8Array): string | undefined {
	return ENCRYPTED.exec(String.fromCharCode(...value.subarray(0, ENCRYPTED_BYTES)))?.[0];
}

function objectOf(type: ResourceType, data: unknown): KubeObject {
	const expected = { apiVersion: apiVersionOf(type), kind: type.kind };
	const served = inServedVersion(data, expected);
	const decoded = type.decode?.(served, expected) ?? decodeObject(type.schema, served, expected);
	if (decoded.kind === "wrong") throw new Error(withoutValues(decoded.message));
	// As real servers do: what was stored before a field had a default has it now.
	return type.withDefaults(named(decoded.object));
}

/** A Secret's value must not come to the log by way of the words for what is wrong with it. */
function withoutValues(message: string): string {
	// Before the first colon stand kind and version alone; behind it a value is in quotes, which it may have inside.
	const [head = "", ...why] = message.split(": ");
	return [head, ...(why.length === 0 ? [] : [why.join(": ").replace(/".*"/s, '"..."')])]
		.join(": ")
		.replaceAll(/\bnumber -?[\d.e+]+/g, "number");
}

function told<T>(read: () => T): T {
	try {
		return read();
	} catch (error) {
		throw new Error(withoutValues(error instanceof Error ? error.message : String(error)), { cause: error });
	}
}

/** Its schema is another object: only what every object has is looked at. */
function customObject(data: unknown): KubeObject {
	if (!isObject(data) || typeof data["kind"] !== "string" || typeof data["apiVersion"] !== "string") {
		throw new Error("it has no kind and apiVersion");
	}
	const metadata = ownValue(data, "metadata");
	if (!isObject(metadata)) throw new Error("it has no metadata");
	const decoded = decodePart("meta.ObjectMeta", metadata, "metadata");
	if (decoded.wrong !== undefined) throw new Error(withoutValues(decoded.wrong));
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
