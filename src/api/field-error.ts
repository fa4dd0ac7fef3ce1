/** One thing that is wrong with one field of an object, in Kubernetes' words. */

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

export function required(field: string, detail: string): FieldError {
	return { type: "Required", field, body: withDetail("Required value", detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
	return { type: "Invalid", field, body: withDetail(`Invalid value: ${shown(value)}`, detail) };
}

/** `supported` is shown in the order given. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
	const list = supported.map((word) => JSON.stringify(word)).join(", ");
	return { type: "NotSupported", field, body: `Unsupported value: ${shown(value)}: supported values: ${list}` };
}

export function forbidden(field: string, detail: string): FieldError {
	return { type: "Forbidden", field, body: withDetail("Forbidden", detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
	return { type: "Duplicate", field, body: `Duplicate value: ${shown(value)}` };
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

function withDetail(head: string, detail: string): string {
	return detail === "" ? head : `${head}: ${detail}`;
}

/**
 * Strings quoted, numbers and booleans plain, the rest as compact JSON. A value that is not there
 * (a nil pointer) is shown as the string "null", an empty list (null) without quotes.
 */
function shown(value: unknown): string {
	return value === undefined ? '"null"' : JSON.stringify(value);
}
