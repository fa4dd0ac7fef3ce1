/**
 * Decodes request bodies in Kubernetes' protobuf form into the JSON form, by the schema.
 *
 *     k8s NUL  Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: raw bytes of the object's own message }
 *
 * Typed Go clients send this on create, update and delete unless told otherwise, and do not fall back to JSON.
 * Go writes scalars even when they are zero, so zeros are dropped unless the schema says that presence matters.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { TypeMeta } from "../../api/schema/decode.ts";
import type { Field, Scalar } from "../../api/schema/notation.ts";
import { utcSeconds, ZERO_TIME } from "../../api/schema/scalar-text.ts";
import { type Message, messageNameOf, messageOf } from "../../api/schema/schema.ts";
import { ApiError, badRequest } from "../../api/status.ts";
import { setOwn } from "../../kernel/json.ts";

const MAGIC = [0x6b, 0x38, 0x73, 0x00] as const;

type Struct = Record<string, unknown>;

export interface ProtobufBody extends TypeMeta {
	/** In JSON form, with kind and apiVersion: what `decodeObject` takes. */
	readonly object: Readonly<Struct>;
}

/**
 * @param expected Stands in for a kind or apiVersion that the envelope leaves empty.
 * @throws {ApiError} `BadRequest` if the bytes are no envelope, their kind is unknown, or they are broken.
 */
export function decodeProtobufBody(bytes: Uint8Array, expected?: TypeMeta): ProtobufBody {
	return orBadRequest(() => {
		const envelope = readEnvelope(bytes);
		const apiVersion = envelope.apiVersion || (expected?.apiVersion ?? "");
		const kind = envelope.kind || (expected?.kind ?? "");
		const name = messageNameOf(apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "", kind);
		if (name === undefined) throw badRequest(`no kind "${kind}" is registered for version "${apiVersion}"`);
		const reader = new BinaryReader(envelope.raw);
		return { apiVersion, kind, object: { apiVersion, kind, ...readStruct(messageOf(name), reader) } };
	});
}

/** The options of a DELETE. Clients put their own group-version into the envelope; any is taken. */
export function decodeDeleteOptions(bytes: Uint8Array): ProtobufBody {
	const body = decodeProtobufBody(bytes, { apiVersion: "v1", kind: "DeleteOptions" });
	if (body.kind === "DeleteOptions") return body;
	throw badRequest(`${body.kind} in version "${body.apiVersion}" cannot be handled as a DeleteOptions`);
}

/** What the reader throws about broken bytes is the client's fault; an ApiError says so already. */
function orBadRequest<T>(read: () => T): T {
	try {
		return read();
	} catch (error) {
		if (error instanceof ApiError) throw error;
		const why = error instanceof Error ? error.message : String(error);
		throw new ApiError("BadRequest", `the protobuf body cannot be decoded: ${why}`, { cause: error });
	}
}

function readEnvelope(bytes: Uint8Array): TypeMeta & { readonly raw: Uint8Array } {
	if (bytes.length === 0) throw badRequest("the protobuf body is empty");
	if (MAGIC.some((byte, index) => bytes[index] !== byte)) {
		throw badRequest("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
	}
	let typeMeta: Struct = {};
	let raw: Uint8Array = new Uint8Array();
	forEachField(new BinaryReader(bytes.subarray(MAGIC.length)), (number, reader) => {
		if (number === 1) typeMeta = readStruct(messageOf("runtime.TypeMeta"), new BinaryReader(reader.bytes()));
		else if (number === 2) raw = reader.bytes();
		else return false;
		return true;
	});
	return { apiVersion: String(typeMeta["apiVersion"] ?? ""), kind: String(typeMeta["kind"] ?? ""), raw };
}

/** `read` says whether it has read the field; the others are skipped, as protobuf wants it for unknown ones. */
function forEachField(
	reader: BinaryReader,
	read: (number: number, reader: BinaryReader, wireType: WireType) => boolean,
): void {
	while (reader.pos < reader.len) {
		const [number, wireType] = reader.tag();
		if (!read(number, reader, wireType)) reader.skip(wireType, number);
	}
}

function readStruct(message: Message, reader: BinaryReader): Struct {
	const out: Struct = {};
	readInto(out, message, reader);
	for (const field of message.nullWhenEmpty) out[field.name] ??= null;
	return out;
}

function readInto(out: Struct, message: Message, reader: BinaryReader): void {
	forEachField(reader, (number, body, wireType) => {
		const field = message.wireFields.get(number);
		if (field === undefined) return false;
		requireWireType(message, field, wireType);
		if (field.isInline) readInto(out, messageOf(field.messageName), new BinaryReader(body.bytes()));
		else if (field.shape === "map") readEntry(out, field, new BinaryReader(body.bytes()));
		else if (field.shape === "list") readItems(out, field, body, wireType);
		else {
			const value = readValue(field, body);
			// A repeated field of one value counts by its last occurrence, also when that is zero.
			if (value === undefined || (!field.keepsZero && isZero(value))) delete out[field.name];
			else out[field.name] = value;
		}
		return true;
	});
}

function requireWireType(message: Message, field: Field, wireType: WireType): void {
	const isVarint = field.shape !== "map" && isVarintType(field.type);
	const isPacked = isVarint && field.shape === "list" && wireType === WireType.LengthDelimited;
	if (wireType === (isVarint ? WireType.Varint : WireType.LengthDelimited) || isPacked) return;
	throw badRequest(`proto: wrong wireType = ${wireType} for field ${field.name} of ${message.name}`);
}

function readItems(out: Struct, field: Field, reader: BinaryReader, wireType: WireType): void {
	out[field.name] ??= [];
	const items = out[field.name] as unknown[];
	if (!isVarintType(field.type) || wireType === WireType.Varint) {
		items.push(readValue(field, reader));
		return;
	}
	const packed = new BinaryReader(reader.bytes());
	while (packed.pos < packed.len) items.push(readValue(field, packed));
}

/** A map is a list of messages {1 key, 2 value}; a missing value is the zero value. */
function readEntry(out: Struct, field: Field, reader: BinaryReader): void {
	let key = "";
	let value: unknown = field.type === "Strings" ? [] : field.type === "Quantity" ? "0" : "";
	forEachField(reader, (number) => {
		if (number === 1) key = reader.string(true);
		else if (number === 2) value = readValue(field, reader);
		else return false;
		return true;
	});
	out[field.name] ??= {};
	setOwn(out[field.name] as object, key, value);
}

function readValue(field: Field, reader: BinaryReader): unknown {
	if (field.type !== "message") return readScalar(field.type, reader);
	return readStruct(messageOf(field.messageName), new BinaryReader(reader.bytes()));
}

function readScalar(type: Scalar, reader: BinaryReader): unknown {
	switch (type) {
		case "string":
			return reader.string(true);
		case "bool":
			return reader.bool();
		case "int32":
			return reader.int32();
		case "int64":
			return Number(reader.int64());
		case "bytes":
			return Buffer.from(reader.bytes()).toString("base64");
		default:
			return readSpecial(type, new BinaryReader(reader.bytes()));
	}
}

type Special = Exclude<Scalar, "string" | "bool" | "int32" | "int64" | "bytes">;

/** Scalars of JSON that are small messages on the wire. */
function readSpecial(type: Special, reader: BinaryReader): unknown {
	switch (type) {
		case "Time":
		case "MicroTime":
			return readTime(type, reader);
		case "IntOrString":
			return readIntOrString(reader);
		case "Quantity":
			return readTexts(reader).at(-1) || "0";
		case "Strings":
			return readTexts(reader);
		case "RawExtension":
		case "FieldsV1": {
			const text = readTexts(reader).at(-1) ?? "";
			return text === "" ? undefined : JSON.parse(text);
		}
	}
}

/** {1 seconds, 2 nanoseconds}; nothing at all is null. */
function readTime(type: "Time" | "MicroTime", reader: BinaryReader): string | undefined {
	if (reader.len === 0) return undefined;
	let [seconds, nanos] = [0, 0];
	forEachField(reader, (number) => {
		if (number === 1) seconds = Number(reader.int64());
		else if (number === 2) nanos = reader.int32();
		else return false;
		return true;
	});
	const text = utcSeconds(seconds);
	if (text === undefined) throw badRequest(`the time ${seconds} s is outside the years 0 to 9999`);
	if (`${text}Z` === ZERO_TIME) return undefined;
	const micros = String(Math.trunc(nanos / 1000)).padStart(6, "0");
	return type === "Time" ? `${text}Z` : `${text}.${micros}Z`;
}

/** {1 type: 0 is a number, 1 a string; 2 number; 3 string}. */
function readIntOrString(reader: BinaryReader): number | string {
	let [isString, number, text] = [false, 0, ""];
	forEachField(reader, (fieldNumber) => {
		if (fieldNumber === 1) isString = Number(reader.int64()) === 1;
		else if (fieldNumber === 2) number = reader.int32();
		else if (fieldNumber === 3) text = reader.string(true);
		else return false;
		return true;
	});
	return isString ? text : number;
}

/** The strings of field 1. */
function readTexts(reader: BinaryReader): string[] {
	const texts: string[] = [];
	forEachField(reader, (number) => {
		if (number !== 1) return false;
		texts.push(reader.string(true));
		return true;
	});
	return texts;
}

function isVarintType(type: Field["type"]): boolean {
	return type === "bool" || type === "int32" || type === "int64";
}

function isZero(value: unknown): boolean {
	if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
	return value === "" || value === 0 || value === false;
}
