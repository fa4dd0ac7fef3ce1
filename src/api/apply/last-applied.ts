/**
 * What kubectl's client-side apply left behind: an annotation with the configuration that it applied last.
 *
 * While it stands there, server-side apply by the manager `kubectl` may take over what that configuration says,
 * and keeps the annotation up to date, so that people can go back.
 */
import { deepEqual, isObject, ownValue, setOwn, without } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";
import { compare } from "./compare.ts";
import { difference, EMPTY_SET, type FieldSet, union } from "./field-set.ts";
import { checkedFields } from "./given-fields.ts";
import type { ApplyShape } from "./shape.ts";

export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** The manager that kubectl applies as when it is not told another. */
export const KUBECTL = "kubectl";
/** Bytes of all annotations; of one with more than this, nothing is kept. */
const ANNOTATION_LENGTH_MAX = 256 * 1024;

interface Annotated {
	readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

function lastAppliedOf(object: unknown): string | undefined {
	const metadata = isObject(object) ? ownValue(object, "metadata") : undefined;
	const annotations = isObject(metadata) ? ownValue(metadata, "annotations") : undefined;
	const text = isObject(annotations) ? ownValue(annotations, LAST_APPLIED) : undefined;
	return typeof text === "string" && text !== "" ? text : undefined;
}

/** The fields that the annotation gives the value that they have. */
export function fieldsAsLastApplied(shape: ApplyShape, apiVersion: string, live: unknown): FieldSet {
	const text = lastAppliedOf(live);
	const last = text === undefined ? undefined : parsed(text);
	if (!isObject(last) || last["apiVersion"] !== apiVersion) return EMPTY_SET;
	const checked = checkedFields(shape, last);
	if (checked.kind === "wrong") return EMPTY_SET;
	const found = compare(shape, last, live);
	return difference(checked.fields, union(found.written, found.removed));
}

/** The object with the annotation, if it has one, saying what was applied now. */
export function withLastApplied(object: unknown, config: Readonly<Record<string, unknown>>): unknown {
	if (lastAppliedOf(object) === undefined) return object;
	const text = `${JSON.stringify(inOrder(withoutAnnotation(config)))}\n`;
	const { metadata, ...rest } = object as Annotated;
	const others = without(metadata.annotations ?? {}, LAST_APPLIED);
	const annotations = text.length > ANNOTATION_LENGTH_MAX ? others : { ...others, [LAST_APPLIED]: text };
	if (deepEqual(annotations, metadata.annotations)) return object;
	return { ...rest, metadata: { ...metadata, annotations } };
}

function withoutAnnotation(config: Readonly<Record<string, unknown>>): unknown {
	const { metadata } = config;
	const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
	if (!isObject(metadata) || !isObject(annotations) || !Object.hasOwn(annotations, LAST_APPLIED)) return config;
	return { ...config, metadata: { ...metadata, annotations: without(annotations, LAST_APPLIED) } };
}

/** With keys in order, as kubectl writes it too. */
function inOrder(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(inOrder);
	if (!isObject(value)) return value;
	const sorted = {};
	for (const key of Object.keys(value).sort(compareStrings)) setOwn(sorted, key, inOrder(value[key]));
	return sorted;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
