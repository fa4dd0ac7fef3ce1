/**
 * Checks the data of a request body against the schema and brings it into the stored form: wrong types are
 * refused, nulls and empty values dropped as Go's omitempty does, times and quantities normalised, unknown
 * fields dropped and reported.
 *
 * Every write passes here, so the walk allocates nothing but its result.
 */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import type { FieldError } from "../field-error.ts";
import { canonicalQuantity } from "../quantity.ts";
import { DEPTH_MAX, isDeeperThan } from "./depth.ts";
import type { Field, Scalar } from "./notation.ts";
import { base64Fault, microTime, secondsTime, ZERO_TIME } from "./scalar-text.ts";
import { type Message, messageOf } from "./schema.ts";

export interface TypeMeta {
	readonly apiVersion: string;
	readonly kind: string;
}

export type Decoded =
	| {
			readonly kind: "ok";
			readonly object: Record<string, unknown> & TypeMeta;
			/** `unknown field "spec.foo"`, in the order of the body. */
			readonly unknown: readonly string[];
	  }
	| WrongBody;

export interface WrongBody {
	readonly kind: "wrong";
	/** The message of a 400. */
	readonly message: string;
	/** The body can be read, but is not valid: a 422 of this kind of object instead. */
	readonly invalid?: { readonly kind: string; readonly error: FieldError };
}

/**
 * @param schemaName The message that the endpoint takes, such as `core.Service`.
 * @param value Parsed JSON. It is not changed, and only free-form parts of it are shared with the result.
 * @param expected What the endpoint takes; fills in a missing kind and apiVersion.
 * @param known An object that was decoded before, frozen: what the value has in common with it, as the very same
 * object, is taken as it is. So writers in the process, and patches, pay for what they change.
 */
export function decodeObject(schemaName: string, value: unknown, expected: TypeMeta, known?: object): Decoded {
	const head = headOf(value, expected);
	if (head.kind === "wrong") return head;
	if (!isObject(value)) return unrecognized(expected, `cannot unmarshal ${jsonType(value)}`);
	const decoder = new Decoder();
	const object = decoder.struct(messageOf(schemaName), value, { ...expected }, known);
	if (decoder.wrong !== undefined) return wrong(expected, expected, decoder.wrong);
	return { kind: "ok", object: object as Record<string, unknown> & TypeMeta, unknown: decoder.unknown };
}

export interface DecodedPart {
	readonly value: Record<string, unknown>;
	readonly unknown: readonly string[];
	/** Why the first wrong field is wrong. */
	readonly wrong: string | undefined;
}

/** A part of an object whose whole has no message, such as the metadata of a custom resource. @param path Of the part. */
export function decodePart(schemaName: string, value: Record<string, unknown>, path: string): DecodedPart {
	const decoder = new Decoder(path);
	const decoded = decoder.struct(messageOf(schemaName), value, {});
	return { value: decoded, unknown: decoder.unknown, wrong: decoder.wrong };
}

/** The kind and version that a body says it is, or why it is none that the endpoint takes. */
export function headOf(value: unknown, expected: TypeMeta): { readonly kind: "ok" } | WrongBody {
	if (!isObject(value)) return unrecognized(expected, `cannot unmarshal ${jsonType(value)}`);
	const given = typeMetaOf(value, expected);
	if (given === undefined) return unrecognized(expected, "kind and apiVersion must be strings");
	if (given.kind !== expected.kind) {
		return wrong(given, expected, `converting (v1.${given.kind}) to (v1.${expected.kind}): unknown conversion`);
	}
	return given.apiVersion === expected.apiVersion ? { kind: "ok" } : wrongVersion(given.apiVersion, expected);
}

export function wrongVersion(given: string, { apiVersion }: TypeMeta): WrongBody {
	const message = `the API version in the data (${given}) does not match the expected API version (${apiVersion})`;
	return { kind: "wrong", message };
}

function typeMetaOf(value: Record<string, unknown>, expected: TypeMeta): TypeMeta | undefined {
	const apiVersion = value["apiVersion"] ?? "";
	const kind = value["kind"] ?? "";
	if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
	return { apiVersion: apiVersion || expected.apiVersion, kind: kind || expected.kind };
}

function unrecognized(expected: TypeMeta, why: string): WrongBody {
	const detail = `couldn't get version/kind; json parse error: json: ${why}`;
	return {
		kind: "wrong",
		message: `the object provided is unrecognized (must be of type ${expected.kind}): ${detail}`,
	};
}

export function wrong(given: TypeMeta, expected: TypeMeta, why: string): WrongBody {
	const version = given.apiVersion.slice(given.apiVersion.lastIndexOf("/") + 1);
	const message = `${given.kind} in version "${version}" cannot be handled as a ${expected.kind}: ${why}`;
	return { kind: "wrong", message };
}

/** What is odd about one body: a real server tells no more. */
export const ODDITIES_MAX = 100;

const INT32 = 2 ** 31;
const INT64 = 2 ** 63;

class Decoder {
	/** Why the first wrong field is wrong. */
	wrong: string | undefined;
	readonly unknown: string[] = [];
	/** Field names, and indexes of lists of messages. */
	readonly #path: (string | number)[] = [];

	/** @param root Path of what is decoded, when that is a part of an object. */
	constructor(root = "") {
		if (root !== "") this.#path.push(root);
	}

	struct(
		message: Message,
		value: Record<string, unknown>,
		out: Record<string, unknown>,
		known?: object,
	): Record<string, unknown> {
		for (const key of Object.keys(value)) {
			const field = message.fields.get(key);
			if (field === undefined) {
				this.#addUnknown(key);
				continue;
			}
			const given = value[key];
			if (given === null || given === undefined) continue;
			const before = known === undefined ? undefined : ownValue(known, key);
			const decoded =
				before === given && typeof given === "object" ? given : this.#member(message, field, given, before);
			if (decoded !== undefined) out[key] = decoded;
		}
		for (const field of message.nullWhenEmpty) out[field.name] ??= null;
		for (const field of message.zeroWhenAbsent) out[field.name] ??= zeroOf(field);
		return out;
	}

	#addUnknown(key: string): void {
		if (this.unknown.length < ODDITIES_MAX) this.unknown.push(`unknown field "${this.#pathText(key)}"`);
	}

	#member(parent: Message, field: Field, given: unknown, known: unknown): unknown {
		this.#path.push(field.name);
		const isStruct = field.type === "message" && field.shape === "one" && isObject(known);
		const decoded = isStruct ? this.#one(parent, field, given, known) : this.#field(parent, field, given);
		this.#path.pop();
		return decoded;
	}

	/** Undefined when the field drops out. */
	#field(parent: Message, field: Field, given: unknown): unknown {
		switch (field.shape) {
			case "list":
				return this.#list(parent, field, given);
			case "map":
				return this.#map(parent, field, given);
			case "one": {
				const decoded = this.#one(parent, field, given);
				return isZero(decoded) && !field.keepsZero ? undefined : decoded;
			}
		}
	}

	#list(parent: Message, field: Field, given: unknown): unknown {
		if (!Array.isArray(given)) return this.#refuse(parent, given, `[]${goType(field)}`);
		if (given.length === 0) return undefined;
		const items = new Array<unknown>(given.length);
		for (let index = 0; index < given.length; index++) {
			this.#path.push(index);
			items[index] = this.#one(parent, field, given[index] ?? zeroOf(field));
			this.#path.pop();
		}
		return items;
	}

	#map(parent: Message, field: Field, given: unknown): unknown {
		if (!isObject(given)) return this.#refuse(parent, given, `map[string]${goType(field)}`);
		const keys = Object.keys(given);
		if (keys.length === 0) return undefined;
		const entries = {};
		for (const key of keys) setOwn(entries, key, this.#one(parent, field, given[key] ?? zeroOf(field)));
		return entries;
	}

	#one(parent: Message, field: Field, given: unknown, known?: object): unknown {
		if (field.type !== "message") return this.#scalar(parent, field.type, given);
		if (!isObject(given)) return this.#refuse(parent, given, goType(field));
		return this.struct(messageOf(field.messageName), given, {}, known);
	}

	#scalar(parent: Message, type: Scalar, given: unknown): unknown {
		switch (type) {
			case "string":
				return typeof given === "string" ? given : this.#refuse(parent, given, "string");
			case "bool":
				return typeof given === "boolean" ? given : this.#refuse(parent, given, "bool");
			case "int32":
			case "int64":
				return isInteger(given, type) ? given : this.#refuse(parent, given, type);
			case "Strings":
				return this.#strings(parent, given);
			case "RawExtension":
			case "FieldsV1":
				return isDeeperThan(given, DEPTH_MAX) ? this.#fail("exceeded max depth") : given;
			case "IntOrString":
				return typeof given === "string" || isInteger(given, "int32") ? given : this.#failValue(given, "int32");
			case "Quantity":
				return this.#quantity(given);
			default:
				return typeof given === "string" ? this.#text(type, given) : this.#failValue(given, "string");
		}
	}

	#strings(parent: Message, given: unknown): unknown {
		if (!Array.isArray(given)) return this.#refuse(parent, given, "[]string");
		const bad = given.find((item) => typeof item !== "string" && item !== null);
		return bad === undefined ? given.map((item) => item ?? "") : this.#refuse(parent, bad, "string");
	}

	#quantity(given: unknown): unknown {
		const text = typeof given === "number" ? String(given) : given;
		const canonical = typeof text === "string" ? canonicalQuantity(text.trim()) : undefined;
		if (canonical !== undefined) return canonical;
		return this.#fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	}

	#text(type: "bytes" | "Time" | "MicroTime", given: string): unknown {
		if (type === "bytes") {
			const text = given.replaceAll(/[\r\n]/g, "");
			const fault = base64Fault(text);
			return fault === undefined ? text : this.#fail(`illegal base64 data at input byte ${fault}`);
		}
		const time = type === "Time" ? secondsTime(given) : microTime(given);
		if (time !== undefined) return given === ZERO_TIME ? undefined : time;
		const layout = type === "Time" ? "2006-01-02T15:04:05Z07:00" : "2006-01-02T15:04:05.000000Z07:00";
		return this.#fail(`parsing time "${given}" as "${layout}": cannot parse "${given}" as "2006"`);
	}

	/** A value of the wrong JSON type, in the words of Go's decoder: the path is without indexes. */
	#refuse(parent: Message, given: unknown, type: string): undefined {
		const struct = parent.name.slice(parent.name.indexOf(".") + 1);
		const path = this.#path.filter((step) => typeof step === "string").join(".");
		const what = typeof given === "number" && type.startsWith("int") ? `number ${given}` : jsonType(given);
		return this.#fail(`json: cannot unmarshal ${what} into Go struct field ${struct}.${path} of type ${type}`);
	}

	#failValue(given: unknown, type: string): undefined {
		const what = typeof given === "number" && type === "int32" ? `number ${given}` : jsonType(given);
		return this.#fail(`json: cannot unmarshal ${what} into Go value of type ${type}`);
	}

	#fail(why: string): undefined {
		this.wrong ??= why;
		return undefined;
	}

	#pathText(last: string): string {
		return [...this.#path, last].reduce<string>((text, step) => {
			if (typeof step === "number") return `${text}[${step}]`;
			return text === "" ? step : `${text}.${step}`;
		}, "");
	}
}

function isInteger(value: unknown, type: "int32" | "int64"): boolean {
	const limit = type === "int32" ? INT32 : INT64;
	return typeof value === "number" && Number.isInteger(value) && value >= -limit && value < limit;
}

function isZero(value: unknown): boolean {
	return value === "" || value === 0 || value === false;
}

/** What null stands for inside a list or a map, and what is not given for a field that is always there. */
function zeroOf(field: Field): unknown {
	switch (field.type) {
		case "message":
			return {};
		case "bool":
			return false;
		case "int32":
		case "int64":
			return 0;
		case "Quantity":
			return "0";
		case "Strings":
			return [];
		default:
			return "";
	}
}

function goType(field: Field): string {
	if (field.type === "message") return field.messageName.replace(/^[^.]*/, "v1");
	if (field.type === "bytes") return "[]uint8";
	return field.type === "Strings" ? "v1.ExtraValue" : field.type;
}

function jsonType(value: unknown): string {
	if (value === null || value === undefined) return "null";
	if (Array.isArray(value)) return "array";
	return typeof value === "boolean" ? "bool" : typeof value;
}
