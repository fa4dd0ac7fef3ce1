import { type FieldError, notSupported, required } from "../field-error.ts";

/** Every list of words is shown in this order: sorted. */
const PROTOCOLS: readonly string[] = ["SCTP", "TCP", "UDP"];

export function validateProtocol(field: string, protocol: string | null | undefined): readonly FieldError[] {
	return validateOneOf(field, protocol ?? "", PROTOCOLS);
}

/** Required when it is empty, Unsupported when it is none of `supported`. */
export function validateOneOf(field: string, value: string, supported: readonly string[]): readonly FieldError[] {
	if (value === "") return [required(field, "")];
	return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}
