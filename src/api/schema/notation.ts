/**
 * The notation of the files in `messages/`, and its parser.
 *
 *     ServiceSpec atomic
 *     	1 ports ServicePort[] merge(port) map(port,protocol=TCP); 2 selector map<string> atomic
 *
 * A line that starts at the margin names a message, the indented lines below it list its fields,
 * separated by `;`. A field is its number on the wire, its JSON name, its type and annotations.
 * Types are scalars or messages; a message of another group is written with its group (`meta.Condition`).
 *
 *     T[]  map<T>    a list, a map from strings
 *     T?             presence matters: a zero value that is given is kept (a pointer in the Go type)
 *     T*             OpenAPI lists the field as required
 *     inline         the members of the message stand in the JSON of the parent
 *     null           an empty or missing list, or time, is written as null
 *     merge(k)       a strategic merge patch merges the list by key k; `merge` alone: a union of scalars
 *     retainKeys     a strategic merge patch may say which keys stay
 *     map(k,l=d)     server-side apply identifies items by k and l, where a missing l counts as d
 *     set  atomic    server-side apply takes the list as a set; takes the value as one
 *
 * A list without `map` or `set` is atomic, everything else is granular. Behind a message's name, `kind`
 * says that it has `kind` and `apiVersion` in JSON, `atomic` that server-side apply takes it as one.
 */

export type Scalar =
	| "string"
	| "bool"
	| "int32"
	| "int64"
	| "bytes"
	| "Time"
	| "MicroTime"
	| "Quantity"
	| "IntOrString"
	| "RawExtension"
	| "FieldsV1"
	/** A message of one repeated string that is a plain array in JSON. */
	| "Strings";

export interface ListMapKey {
	readonly name: string;
	readonly default?: string | number | boolean;
}

export interface Field {
	readonly name: string;
	/** 0 for `kind` and `apiVersion`, which are not on the wire. */
	readonly number: number;
	readonly shape: "one" | "list" | "map";
	readonly type: Scalar | "message";
	/** The message's name for `messageOf`; "" for scalars. */
	readonly messageName: string;
	readonly keepsZero: boolean;
	readonly isRequired: boolean;
	readonly isInline: boolean;
	readonly isNullWhenEmpty: boolean;
	/** How a strategic merge patch treats a list. */
	readonly patchStrategy: "merge" | "replace";
	/** The merge key of a list of messages. Absent with strategy merge: a union of scalars. */
	readonly mergeKey?: string;
	readonly retainsKeys: boolean;
	/** How server-side apply sees the value. A message that is atomic itself is not marked here. */
	readonly applied: "granular" | "atomic" | "set" | "map";
	readonly listMapKeys: readonly ListMapKey[];
}

/** A message as written: its own fields, inline ones not resolved. */
export interface MessageText {
	readonly group: string;
	readonly name: string;
	readonly isKind: boolean;
	readonly isAtomic: boolean;
	readonly fields: string;
}

const SCALARS: ReadonlySet<string> = new Set<Scalar>([
	"string",
	"bool",
	"int32",
	"int64",
	"bytes",
	"Time",
	"MicroTime",
	"Quantity",
	"IntOrString",
	"RawExtension",
	"FieldsV1",
	"Strings",
]);

const TYPE = /^(map<)?([\w.]+)>?(\[\])?(\?)?(\*)?$/;
const ANNOTATION = /^(\w+)(?:\((.*)\))?$/;

/** Cuts a text into its messages without reading their fields. */
export function splitMessages(group: string, text: string): MessageText[] {
	const messages: MessageText[] = [];
	for (const block of text.trim().split(/\n(?!\t)/)) {
		const headEnd = block.indexOf("\n");
		const [name = "", ...marks] = block.slice(0, headEnd).split(" ");
		messages.push({
			group,
			name,
			isKind: marks.includes("kind"),
			isAtomic: marks.includes("atomic"),
			fields: block.slice(headEnd + 1),
		});
	}
	return messages;
}

export function parseFields(message: MessageText): Field[] {
	return message.fields.split(";").map((text) => parseField(message.group, text.trim()));
}

function parseField(group: string, text: string): Field {
	const [number = "", name = "", typeText = "", ...words] = text.split(" ");
	const [, map, type = "", list, presence, required] = TYPE.exec(typeText) ?? [];
	const notes = new Map(words.map(parseAnnotation));
	const shape = map !== undefined ? "map" : list !== undefined ? "list" : "one";
	const mergeKey = notes.get("merge");
	const isScalar = SCALARS.has(type);
	return {
		name,
		number: Number(number),
		shape,
		type: isScalar ? (type as Scalar) : "message",
		messageName: isScalar ? "" : type.includes(".") ? type : `${group}.${type}`,
		keepsZero: presence !== undefined,
		isRequired: required !== undefined,
		isInline: notes.has("inline"),
		isNullWhenEmpty: notes.has("null"),
		patchStrategy: mergeKey === undefined ? "replace" : "merge",
		...(mergeKey === undefined || mergeKey === "" ? {} : { mergeKey }),
		retainsKeys: notes.has("retainKeys"),
		applied: appliedAs(shape, notes),
		listMapKeys: (notes.get("map") ?? "").split(",").flatMap(parseListMapKey),
	};
}

function parseAnnotation(word: string): [string, string] {
	const [, name = "", argument = ""] = ANNOTATION.exec(word) ?? [];
	return [name, argument];
}

function appliedAs(shape: Field["shape"], notes: ReadonlyMap<string, string>): Field["applied"] {
	if (notes.has("map")) return "map";
	if (notes.has("set")) return "set";
	return shape === "list" || notes.has("atomic") ? "atomic" : "granular";
}

function parseListMapKey(text: string): ListMapKey[] {
	if (text === "") return [];
	const [name = "", fallback] = text.split("=");
	return [fallback === undefined ? { name } : { name, default: fallback }];
}
