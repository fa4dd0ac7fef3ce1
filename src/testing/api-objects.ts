import type { FieldError } from "../api/field-error.ts";
import type { ObjectMeta } from "../api/types/meta.ts";

/** Metadata of an object in namespace `default`, as a server has filled it in. */
export function metadataOf(name: string, more: Partial<ObjectMeta> = {}): ObjectMeta {
	return {
		name,
		namespace: "default",
		uid: "u1",
		resourceVersion: "1",
		creationTimestamp: "2026-01-01T00:00:00Z",
		...more,
	};
}

/** Each error as a user reads it: `spec.ports: Required value`. */
export function errorTexts(errors: readonly FieldError[]): readonly string[] {
	return errors.map(({ field, body }) => `${field}: ${body}`);
}
