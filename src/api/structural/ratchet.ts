/**
 * What was stored before its schema became stricter may stay as it is: an update is judged by what it changes.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting
 */
import { deepEqual } from "../../kernel/json.ts";
import { memberOf } from "./defaults.ts";
import { schemaOf } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaProps } from "./schema-props.ts";
import { canonicalText, keyOfItem, type PathStep, type Problem } from "./validate.ts";

/** The problems of values that are not as they were. */
export function newProblems(
	problems: readonly Problem[],
	next: unknown,
	stored: unknown,
	schema: SchemaProps,
): readonly Problem[] {
	return problems.filter(({ subject }) => subject === undefined || !isUnchanged(subject, next, stored, schema));
}

function isUnchanged(path: readonly PathStep[], next: unknown, stored: unknown, root: SchemaProps): boolean {
	let now = next;
	let before = stored;
	let schema: SchemaProps | undefined = root;
	for (const step of path) {
		before = typeof step === "number" ? counterpart(now, before, step, schema ?? {}) : memberOf(before, step);
		now = typeof step === "number" ? itemOf(now, step) : memberOf(now, step);
		schema = schema === undefined ? undefined : innerSchema(schema, step);
	}
	return before !== undefined && deepEqual(now, before);
}

function itemOf(value: unknown, index: number): unknown {
	return Array.isArray(value) ? value[index] : undefined;
}

/** The item that stood for the same thing: items of other lists than maps are known by nothing but the whole list. */
export function counterpart(now: unknown, before: unknown, index: number, schema: SchemaProps): unknown {
	if (!Array.isArray(now) || !Array.isArray(before)) return undefined;
	if (schema["x-kubernetes-list-type"] !== "map") return deepEqual(now, before) ? before[index] : undefined;
	const keys = schema["x-kubernetes-list-map-keys"] ?? [];
	const wanted = canonicalText(keyOfItem(now[index], keys));
	return before.find((item) => canonicalText(keyOfItem(item, keys)) === wanted);
}

function innerSchema(schema: SchemaProps, step: PathStep): SchemaProps | undefined {
	return typeof step === "number" ? itemsOf(schema) : (schemaOf(schema, step) ?? additionalOf(schema));
}
