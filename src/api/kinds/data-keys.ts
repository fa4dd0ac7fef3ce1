/** What ConfigMap and Secret have in common: a bag of named values. */
import { deepEqual } from "../../kernel/json.ts";
import { errorsOf, type FieldError, forbidden, tooLong } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import { byteLength } from "../names.ts";
import type { StringMap } from "../types/meta.ts";

/** 1 MiB: of all values together, keys not counted. */
const DATA_BYTES_MAX = 1024 * 1024;
const KEY_BYTES_MAX = 253;

const KEY_PROBLEM =
	"a valid config key must consist of alphanumeric characters, '-', '_' or '.'" +
	" (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys become the names of files. */
function keyProblems(key: string): readonly string[] {
	return [
		...(byteLength(key) > KEY_BYTES_MAX ? [`must be no more than ${KEY_BYTES_MAX} characters`] : []),
		...(/^[-._a-zA-Z0-9]+$/.test(key) ? [] : [KEY_PROBLEM]),
		...pathProblems(key),
	];
}

function pathProblems(key: string): readonly string[] {
	if (key === "." || key === "..") return [`must not be '${key}'`];
	return key.startsWith("..") ? ["must not start with '..'"] : [];
}

export function validateKeys(field: string, data: StringMap | undefined): readonly FieldError[] {
	return errorsOf(Object.keys(data ?? {}), (key) => invalids(`${field}[${key}]`, key, keyProblems(key)));
}

/** @param field "" for the object as a whole. */
export function validateDataSize(field: string, bytes: number): readonly FieldError[] {
	return bytes > DATA_BYTES_MAX ? [tooLong(field, DATA_BYTES_MAX)] : [];
}

export function textBytes(data: StringMap | undefined): number {
	return Object.values(data ?? {}).reduce((sum, text) => sum + byteLength(text), 0);
}

/** Of values in base64: four characters are three bytes, less the padding. */
export function base64Bytes(data: StringMap | undefined): number {
	return Object.values(data ?? {}).reduce((sum, text) => {
		const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
		return sum + Math.floor(text.length / 4) * 3 - padding;
	}, 0);
}

interface Freezable {
	readonly immutable?: boolean;
	readonly data?: StringMap;
	readonly binaryData?: StringMap;
}

/** Once `immutable` is set, it and the data stay. */
export function validateFrozen(next: Freezable, stored: Freezable): readonly FieldError[] {
	if (stored.immutable !== true) return [];
	const detail = "field is immutable when `immutable` is set";
	const changed = (["data", "binaryData"] as const).filter((key) => !deepEqual(next[key] ?? {}, stored[key] ?? {}));
	const fields = next.immutable === true ? changed : ["immutable", ...changed];
	return fields.map((field) => forbidden(field, detail));
}

/** The map under its key, or nothing when it is empty: empty maps are not printed. */
export function nonEmpty<K extends string>(key: K, data: StringMap | undefined): { readonly [P in K]?: StringMap } {
	const isEmpty = data === undefined || Object.keys(data).length === 0;
	return (isEmpty ? {} : { [key]: data }) as { readonly [P in K]?: StringMap };
}
