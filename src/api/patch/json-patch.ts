/**
 * JSON patch. @see RFC 6902
 *
 * Written here and not taken from a package, for three reasons: every key is data (`constructor` and `toString` too,
 * which packages look up on prototypes), the frozen target is copied only along the paths that change, and what
 * copy operations may add up to is limited.
 */
import { deepEqual, isObject, ownValue, setOwn } from "../../kernel/json.ts";
import { DEPTH_MAX, isDeeperThan } from "../schema/depth.ts";
import { listIndex, pointerSteps } from "./json-pointer.ts";
import { badPatch, type PatchResult } from "./patch-result.ts";

/** Operations per request, the limit of a real server. */
export const OPERATIONS_MAX = 10_000;
/** Characters of JSON that the copy operations of one patch may add up to: the size of a request. */
const COPIED_MAX = 3 * 1024 * 1024;

const TOO_DEEP = "exceeded max depth";

type Container = Record<string, unknown> | unknown[];

interface Operation {
	readonly op: unknown;
	readonly path: string;
	readonly steps: readonly string[];
	readonly from: unknown;
	readonly value: unknown;
}

export function applyJsonPatch(target: Readonly<Record<string, unknown>>, operations: unknown): PatchResult {
	if (!Array.isArray(operations) || !operations.every(isObject)) {
		return badPatch(400, "a JSON patch must be a list of operations");
	}
	if (operations.length > OPERATIONS_MAX) {
		const limit = `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${operations.length}`;
		return badPatch(413, `Request entity too large: ${limit}`);
	}
	if (operations.some((operation) => isDeeperThan(operation, DEPTH_MAX))) return badPatch(400, TOO_DEEP);
	const document = new PatchedDocument(target);
	for (const operation of operations) {
		const problem = document.apply(operation);
		if (problem !== undefined) return badPatch(422, problem);
	}
	const { root } = document;
	// Moves can nest what no single operation nests.
	if (isDeeperThan(root, DEPTH_MAX)) return badPatch(422, TOO_DEEP);
	return isObject(root) ? { kind: "ok", value: root } : badPatch(422, "a JSON patch must leave an object");
}

/** Members that no operation has, for strict field validation: `json patch unknown field "[0].foo"`. */
export function unknownOperationFields(operations: unknown): string[] {
	if (!Array.isArray(operations)) return [];
	return operations.filter(isObject).flatMap((operation, index) => {
		const { op: _op, path: _path, from: _from, value: _value, ...unknown } = operation;
		return Object.keys(unknown).map((key) => `json patch unknown field "[${index}].${key}"`);
	});
}

class PatchedDocument {
	root: unknown;
	/** Containers made by this patch, which may be changed in place. */
	readonly #owned = new Set<unknown>();
	#copied = 0;

	constructor(root: unknown) {
		this.root = root;
	}

	/** Answers with why it cannot be done, in the words of the library that a real server uses. */
	apply(given: Readonly<Record<string, unknown>>): string | undefined {
		const { op, path, from, value = null } = given;
		const steps = typeof path === "string" ? pointerSteps(path) : undefined;
		if (typeof path !== "string" || steps === undefined) {
			return `${String(op)} operation does not apply: invalid path: ${JSON.stringify(path ?? null)}`;
		}
		const operation = { op, path, steps, from, value };
		switch (op) {
			case "add":
				return this.#add("add", path, value);
			case "remove":
				return this.#remove("remove", path);
			case "replace":
				return this.#replace(operation);
			case "move":
			case "copy":
				return this.#transfer(operation);
			case "test":
				return this.#test(operation);
			default:
				return `Unexpected kind: ${String(op)}`;
		}
	}

	#add(op: string, path: string, value: unknown): string | undefined {
		const parent = this.#ownedParent(path);
		if (parent === undefined) {
			this.root = value;
			return undefined;
		}
		const { container, step } = parent;
		if (container === undefined) return missingPath(op, path);
		if (!Array.isArray(container)) {
			setOwn(container, step, value);
			return undefined;
		}
		const index = step === "-" ? container.length : listIndex(step, container.length + 1);
		if (index === undefined) return `${op} operation does not apply: ${badIndex(path, step)}`;
		container.splice(index, 0, value);
		return undefined;
	}

	#remove(op: string, path: string): string | undefined {
		const parent = this.#ownedParent(path);
		if (parent === undefined) return `${op} operation does not apply: the whole document cannot be removed`;
		const { container, step } = parent;
		if (container === undefined) return missingPath(op, path);
		if (!Array.isArray(container)) {
			if (!Object.hasOwn(container, step)) {
				return `error in ${op} for path: '${path}': Unable to remove nonexistent key: ${step}: missing value`;
			}
			delete container[step];
			return undefined;
		}
		const index = listIndex(step, container.length);
		if (index === undefined) return `error in ${op} for path: '${path}': ${badIndex(path, step)}`;
		container.splice(index, 1);
		return undefined;
	}

	#replace({ path, steps, value }: Operation): string | undefined {
		if (steps.length > 0 && this.#find(steps) === undefined) {
			return `replace operation does not apply: doc is missing key: ${path}: missing value`;
		}
		const parent = this.#ownedParent(path);
		const container = parent?.container;
		if (parent === undefined) this.root = value;
		else if (Array.isArray(container)) container[listIndex(parent.step, container.length) ?? 0] = value;
		else if (container !== undefined) setOwn(container, parent.step, value);
		return undefined;
	}

	#transfer({ op, path, from }: Operation): string | undefined {
		const steps = typeof from === "string" ? pointerSteps(from) : undefined;
		if (typeof from !== "string" || steps === undefined) return `${op} operation does not apply: invalid from`;
		const value = this.#find(steps);
		if (value === undefined) return missingPath(String(op), from);
		if (op === "copy") {
			if (isDeeperThan(value, DEPTH_MAX)) return TOO_DEEP;
			this.#copied += JSON.stringify(value).length;
			return this.#copied > COPIED_MAX ? tooMuchCopied(this.#copied) : this.#add("copy", path, copyOf(value));
		}
		if (path.startsWith(`${from}/`)) return "move operation does not apply: a value cannot be moved into itself";
		return path === from ? undefined : (this.#remove("move", from) ?? this.#add("move", path, value));
	}

	#test({ path, steps, value }: Operation): string | undefined {
		const found = this.#find(steps) ?? null;
		return !isDeeperThan(found, DEPTH_MAX) && deepEqual(found, value)
			? undefined
			: `testing value ${path} failed: test failed`;
	}

	#find(steps: readonly string[]): unknown {
		let value = this.root;
		for (const step of steps) {
			if (Array.isArray(value)) {
				const index = listIndex(step, value.length);
				value = index === undefined ? undefined : value[index];
			} else value = isObject(value) ? ownValue(value, step) : undefined;
		}
		return value;
	}

	/** The container that holds the path's last step, ready to be changed. Undefined for the whole document. */
	#ownedParent(path: string): { container: Container | undefined; step: string } | undefined {
		const steps = pointerSteps(path) ?? [];
		const step = steps.pop();
		if (step === undefined) return undefined;
		if (!isContainer(this.#find(steps))) return { container: undefined, step };
		let container = this.#own(this.root);
		this.root = container;
		for (const inner of steps) {
			const key = Array.isArray(container) ? String(listIndex(inner, container.length)) : inner;
			const owned = this.#own(ownValue(container, key));
			setOwn(container, key, owned);
			container = owned;
		}
		return { container, step };
	}

	#own(value: unknown): Container {
		if (this.#owned.has(value)) return value as Container;
		const copy = Array.isArray(value) ? [...value] : { ...(value as Record<string, unknown>) };
		this.#owned.add(copy);
		return copy;
	}
}

function isContainer(value: unknown): value is Container {
	return Array.isArray(value) || isObject(value);
}

/** A copy that shares no container, since containers are changed in place. */
function copyOf(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(copyOf);
	if (!isObject(value)) return value;
	const copy = {};
	for (const key of Object.keys(value)) setOwn(copy, key, copyOf(value[key]));
	return copy;
}

function missingPath(op: string, path: string): string {
	return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
}

function badIndex(path: string, step: string): string {
	return `Unable to access invalid index: ${step} of ${path}: invalid index referenced`;
}

function tooMuchCopied(size: number): string {
	const limit = `the accumulated size increase of copy is ${size}, exceeding the limit ${COPIED_MAX}`;
	return `Unable to complete the copy, ${limit}`;
}
