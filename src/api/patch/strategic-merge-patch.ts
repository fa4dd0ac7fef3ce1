/**
 * Strategic merge patch: a merge patch that knows which lists are really maps, by the schema.
 *
 *     {"spec": {"$setElementOrder/ports": [{"port": 81}],
 *               "ports": [{"port": 81}, {"$patch": "delete", "port": 80}]}}
 *
 * @see https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
import { isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { DEPTH_MAX, isDeeperThan } from "../schema/depth.ts";
import type { Field } from "../schema/notation.ts";
import { type Message, messageOf } from "../schema/schema.ts";
import { arranged, elementKey, indexByKey, isInOrder } from "./element-order.ts";
import { goText, goTypeOf } from "./go-text.ts";
import { type BadPatch, badPatch, type PatchResult } from "./patch-result.ts";

type Data = Readonly<Record<string, unknown>>;

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const ELEMENT_ORDER = "$setElementOrder/";
const DELETE_FROM_LIST = "$deleteFromPrimitiveList/";

/** @param schemaName The target's message, such as `core.Service`. The target must be decoded by it. */
export function applyStrategicMergePatch(schemaName: string, target: Data, patch: unknown): PatchResult {
	if (!isObject(patch)) return badPatch(400, "a strategic merge patch must be a JSON object");
	if (isDeeperThan(patch, DEPTH_MAX)) return badPatch(400, "exceeded max depth");
	const merge = new StrategicMerge();
	const value = merge.map(messageOf(schemaName), target, patch);
	return merge.problem ?? { kind: "ok", value };
}

class StrategicMerge {
	/** The first thing that was wrong; what is returned then does not matter. */
	problem: BadPatch | undefined;

	/** @param message Undefined inside maps and free-form data, which the schema does not describe. */
	map(message: Message | undefined, original: Data, patch: Data): Data {
		if (Object.hasOwn(patch, DIRECTIVE)) return this.#directed(patch);
		const result: Record<string, unknown> = { ...original };
		if (Object.hasOwn(patch, RETAIN_KEYS)) this.#retainKeys(result, patch);
		const done = new Set([RETAIN_KEYS]);
		for (const key of Object.keys(patch)) {
			if (!key.startsWith(ELEMENT_ORDER)) continue;
			const name = key.slice(ELEMENT_ORDER.length);
			this.#setElementOrder(message, result, { name, order: patch[key], patch: ownValue(patch, name) });
			done.add(key).add(name);
		}
		for (const key of Object.keys(patch)) {
			if (done.has(key)) continue;
			if (key.startsWith(DELETE_FROM_LIST)) this.#deleteFromList(message, result, key, patch[key]);
			else this.#set(message, result, key, patch[key]);
		}
		return result;
	}

	#directed(patch: Data): Data {
		const { [DIRECTIVE]: directive, ...rest } = patch;
		if (directive === "replace") return rest;
		if (directive !== "delete") this.#bad(400, `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
		return {};
	}

	#retainKeys(result: Record<string, unknown>, patch: Data): void {
		const retained = patch[RETAIN_KEYS];
		const names = new Set<unknown>(Array.isArray(retained) ? retained : []);
		const isListed = (key: string): boolean =>
			names.has(key) || patch[key] === null || key === RETAIN_KEYS || isListDirective(key);
		if (!Array.isArray(retained) || !Object.keys(patch).every(isListed)) {
			this.#bad(400, "invalid patch format of retainKeys");
		}
		for (const key of Object.keys(result)) if (!names.has(key)) delete result[key];
	}

	#set(message: Message | undefined, result: Record<string, unknown>, key: string, value: unknown): void {
		if (value === null || value === undefined) {
			delete result[key];
			return;
		}
		const original = ownValue(result, key);
		const field = message?.fields.get(key);
		if (isObject(original) && isObject(value)) setOwn(result, key, this.map(messageIn(field), original, value));
		else if (Array.isArray(original) && Array.isArray(value)) {
			setOwn(result, key, field?.patchStrategy === "merge" ? this.#mergedList(field, original, value) : value);
		} else {
			const added = withoutDirectives(value);
			if (added !== undefined) setOwn(result, key, added);
		}
	}

	#setElementOrder(
		message: Message | undefined,
		result: Record<string, unknown>,
		list: { readonly name: string; readonly order: unknown; readonly patch: unknown },
	): void {
		const field = this.#listField(message, list.name);
		const original = ownValue(result, list.name);
		const [order, before, patch] = [list.order, original ?? [], list.patch ?? []].map((part) => this.#asList(part));
		if (field === undefined || order === undefined || before === undefined || patch === undefined) return;
		const kept = patch.filter((element) => !hasDirective(element));
		this.#requireKeys([...order, ...kept], field.mergeKey);
		if (order.length > 0 && !isInOrder(kept, order, field.mergeKey)) {
			const lists = `${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`;
			this.#bad(400, `The order in patch list:\n${lists}`);
		}
		if (original === undefined && list.patch === undefined) return;
		const elements = this.#elements(
			field,
			original === undefined ? undefined : before,
			list.patch === undefined ? undefined : patch,
		);
		const server = serverOrder({ before, patch, mergeKey: field.mergeKey });
		setOwn(result, list.name, arranged(elements, { patch: order, server, mergeKey: field.mergeKey }));
	}

	#elements(field: Field, before: unknown[] | undefined, patch: unknown[] | undefined): readonly unknown[] {
		if (patch === undefined) return before ?? [];
		if (before === undefined) return patch.map(withoutDirectives).filter((element) => element !== undefined);
		return field.patchStrategy === "merge" ? this.#mergedList(field, before, patch) : patch;
	}

	#deleteFromList(message: Message | undefined, result: Record<string, unknown>, key: string, value: unknown): void {
		const name = key.slice(DELETE_FROM_LIST.length);
		const field = this.#listField(message, name);
		const original = ownValue(result, name);
		if (field === undefined || !Array.isArray(original)) return;
		const deleted = new Set<unknown>(this.#asList(value));
		setOwn(
			result,
			name,
			original.filter((element) => !deleted.has(element)),
		);
	}

	#mergedList(field: Field, original: readonly unknown[], patch: readonly unknown[]): readonly unknown[] {
		const kinds = new Set([...original, ...patch].map(goTypeOf));
		if (kinds.size > 1) {
			this.#bad(400, `list element types are not identical: [${goText(original)} ${goText(patch)}]`);
			return original;
		}
		if (kinds.has("[]interface {}")) this.#bad(422, "lists of lists are not supported");
		if (field.mergeKey !== undefined) return this.#mergedByKey(field, field.mergeKey, original, patch);
		return arranged([...new Set([...original, ...patch])], { patch, server: original, mergeKey: undefined });
	}

	#mergedByKey(
		field: Field,
		mergeKey: string,
		original: readonly unknown[],
		patch: readonly unknown[],
	): readonly unknown[] {
		const elements = patch.filter((element) => !Object.hasOwn(element as object, DIRECTIVE)) as Data[];
		const special = patch.filter((element) => Object.hasOwn(element as object, DIRECTIVE)) as Data[];
		for (const element of special) this.#checkElementDirective(element, mergeKey);
		if (special.some((element) => element[DIRECTIVE] === "replace")) return elements.map(withoutRetainKeys);
		this.#requireKeys([...elements, ...original], mergeKey);

		const deleted = new Set(special.map((element) => elementKey(element, mergeKey)));
		const before = original.filter((element) => !deleted.has(elementKey(element, mergeKey)));
		const result = [...before] as Data[];
		const indexes = indexByKey(result, mergeKey);
		for (const element of elements) {
			const key = elementKey(element, mergeKey);
			const index = indexes.get(key);
			if (index === undefined) indexes.set(key, result.push(withoutRetainKeys(element)) - 1);
			else result[index] = this.map(messageIn(field), result[index] ?? {}, element);
		}
		return arranged(result, { patch: elements, server: before, mergeKey });
	}

	#checkElementDirective(element: Data, mergeKey: string): void {
		const directive = element[DIRECTIVE];
		if (directive === "delete") this.#requireKeys([element], mergeKey);
		else if (directive === "merge") this.#bad(400, "merging lists cannot yet be specified in the patch");
		else if (directive !== "replace") {
			this.#bad(400, `unknown patch type: ${goText(directive)} in map: ${goText(element)}`);
		}
	}

	#requireKeys(elements: readonly unknown[], mergeKey: string | undefined): void {
		if (mergeKey === undefined) return;
		const without = elements.find((element) => elementKey(element, mergeKey) === undefined);
		if (without === undefined) return;
		this.#bad(500, `map: ${goText(without)} does not contain declared merge key: ${mergeKey}`);
	}

	#listField(message: Message | undefined, name: string): Field | undefined {
		const field = message?.fields.get(name);
		if (field?.shape === "list") return field;
		const struct = message === undefined ? "" : message.name.slice(message.name.indexOf(".") + 1);
		this.#bad(400, `unable to find api field in struct ${struct} for the json field "${name}"`);
		return undefined;
	}

	#asList(value: unknown): unknown[] | undefined {
		if (Array.isArray(value)) return value;
		this.#bad(400, `expected a []interface {}, but received a ${goTypeOf(value)}`);
		return undefined;
	}

	#bad(code: BadPatch["code"], message: string): void {
		this.problem ??= badPatch(code, message);
	}
}

function isListDirective(key: string): boolean {
	return key.startsWith(ELEMENT_ORDER) || key.startsWith(DELETE_FROM_LIST);
}

function hasDirective(element: unknown): boolean {
	return isObject(element) && Object.hasOwn(element, DIRECTIVE);
}

/**
 * The order against which server-only elements are placed when the patch sets an order: what is left of the
 * list, then as many new elements as others were deleted. (A real server reuses the slots of deleted
 * elements for new ones and so takes these for old; clients compute their patches with the same code.)
 */
function serverOrder(list: {
	readonly before: readonly unknown[];
	readonly patch: readonly unknown[];
	readonly mergeKey: string | undefined;
}): readonly unknown[] {
	const { before, patch, mergeKey } = list;
	if (mergeKey === undefined) return before;
	const deleted = new Set(patch.filter(hasDirective).map((element) => elementKey(element, mergeKey)));
	const left = before.filter((element) => !deleted.has(elementKey(element, mergeKey)));
	const known = indexByKey(left, mergeKey);
	const added = patch.filter((element) => !hasDirective(element) && !known.has(elementKey(element, mergeKey)));
	return [...left, ...added.slice(0, before.length - left.length)];
}

function messageIn(field: Field | undefined): Message | undefined {
	return field?.type === "message" && field.shape !== "map" ? messageOf(field.messageName) : undefined;
}

function withoutRetainKeys(element: Data): Data {
	const { [RETAIN_KEYS]: _retained, ...rest } = element;
	return rest;
}

/** New data as it is inserted: without nulls and directives. Undefined for a map that is only a directive. */
function withoutDirectives(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutDirectives).filter((element) => element !== undefined);
	if (!isObject(value)) return value;
	if (Object.hasOwn(value, DIRECTIVE)) return undefined;
	const result = {};
	for (const key of Object.keys(value)) {
		if (key === RETAIN_KEYS || isListDirective(key) || value[key] === null) continue;
		const inner = withoutDirectives(value[key]);
		if (inner !== undefined) setOwn(result, key, inner);
	}
	return result;
}
