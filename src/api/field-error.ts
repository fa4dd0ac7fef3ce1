/** One thing that is wrong with one field of an object, in Kubernetes' words. */
import { clipped, clippedJson } from "../kernel/clipped.ts";

export type FieldErrorType =
	| "Required"
	| "Invalid"
	| "NotSupported"
	| "Forbidden"
	| "Duplicate"
	| "TooLong"
	| "TooMany"
	| "TypeInvalid"
	| "NotFound"
	| "InternalError";

export interface FieldError {
	readonly type: FieldErrorType;
	/** `spec.ports[0].nodePort`, `metadata.annotations[a/b]`. */
	readonly field: string;
	/** What the user reads after the path: `Invalid value: 70000: must be between 1 and 65535, inclusive`. */
	readonly body: string;
}

/** Errors of one list, or of one object, that are told: nobody reads more, and all would be many times its size. */
export const ERRORS_MAX = 500;

/** What is wrong with the items. They are not looked at any further when there is more than is told. */
export function errorsOf<T>(
	items: readonly T[],
	errorsOfItem: (item: T, index: number) => readonly FieldError[],
): readonly FieldError[] {
	const errors: FieldError[] = [];
	for (let index = 0; index < items.length && errors.length <= ERRORS_MAX; index++) {
		for (const error of errorsOfItem(items[index] as T, index)) errors.push(error);
	}
	return errors;
}

export function required(field: string, detail: string): FieldError {
	return { type: "Required", field, body: withDetail("Required value", detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
	return { type: "Invalid", field, body: withDetail(`Invalid value: ${shown(value)}`, detail) };
}

/** `supported` is shown in the order given. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
	const list = supportedWords(supported);
	return { type: "NotSupported", field, body: `Unsupported value: ${shown(value)}: supported values: ${list}` };
}

export function forbidden(field: string, detail: string): FieldError {
	return { type: "Forbidden", field, body: withDetail("Forbidden", detail) };
}

export function duplicate(field: string, value: unknown, detail = ""): FieldError {
	return { type: "Duplicate", field, body: withDetail(`Duplicate value: ${shown(value)}`, detail) };
}

export function notFound(field: string, value: unknown): FieldError {
	return { type: "NotFound", field, body: `Not found: ${shown(value)}` };
}

export function tooLong(field: string, bytesMax: number): FieldError {
	const unit = bytesMax === 1 ? "byte" : "bytes";
	return { type: "TooLong", field, body: `Too long: may not be more than ${bytesMax} ${unit}` };
}

export function tooMany(field: string, count: number, itemsMax: number): FieldError {
	return { type: "TooMany", field, body: `Too many: ${count}: must have at most ${itemsMax} items` };
}

/** Characters of a value that an error shows. A name may have 253; whole lists are shown too. */
const SHOWN_MAX = 1_024;
/** Characters of what an error says of it, which may quote words of the object's own. */
const DETAIL_MAX = 4_096;

function withDetail(head: string, detail: string): string {
	return detail === "" ? head : `${head}: ${clipped(detail, DETAIL_MAX)}`;
}

/** No more of them than are shown: a schema may name thousands, and each item of a list be none of them. */
function supportedWords(supported: readonly string[]): string {
	let list = "";
	for (const word of supported) {
		if (list.length > DETAIL_MAX) break;
		list += `${list === "" ? "" : ", "}${clippedJson(word, SHOWN_MAX)}`;
	}
	return clipped(list, DETAIL_MAX);
}

/** Lists and objects that many errors quote. */
const shownBefore = new WeakMap<object, string>();

/**
 * Strings quoted, numbers and booleans plain, the rest as compact JSON, of which a long one is cut. A value that is
 * not there (a nil pointer) is shown as the string "null", an empty list (null) without quotes.
 */
function shown(value: unknown): string {
	if (value === undefined) return '"null"';
	if (typeof value !== "object" || value === null) return clippedJson(value, SHOWN_MAX);
	const text = shownBefore.get(value) ?? clippedJson(value, SHOWN_MAX);
	shownBefore.set(value, text);
	return text;
}
