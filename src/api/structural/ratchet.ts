/**
 * What was stored before its schema became stricter may stay as it is: an update is judged by what it changes.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting
 */
import { deepEqual, isObject, ownValue } from "../../kernel/json.ts";
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
	let [now, before]: [unknown, unknown] = [next, stored];
	let schema: SchemaProps | undefined = root;
	for (const step of path) {
		if (before === undefined) return false;
		if (schema !== undefined && typeof step === "number") before = counterpart(now, before, step, schema);
		else before = isObject(before) ? ownValue(before, String(step)) : undefined;
		now =
			typeof step === "number"
				? Array.isArray(now)
					? now[step]
					: undefined
				: isObject(now)
					? ownValue(now, step)
					: undefined;
		schema = schema === undefined ? undefined : innerSchema(schema, step);
	}
	return before !== undefined && deepEqual(now, before);
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
