/**
 * The fields that a configuration gives, and what is wrong with it.
 *
 * An item of a list or of a map is owned beside what is in it; a struct is owned only by what is in it, unless it
 * is given empty.
 */
import { isObject } from "../../kernel/json.ts";
import { goText, goTypeOf } from "../patch/go-text.ts";
import { EMPTY_SET, type FieldSet, fieldSetOf, LEAF, union, withMembership } from "./field-set.ts";
import { elementText, fieldElement, keyElement, setElement } from "./path-element.ts";
import type { ApplyShape, KeyedListShape, ScalarKind } from "./shape.ts";
import { childShape, deduced, itemElement, type ListShape } from "./shaped-value.ts";

/** Of a value that is in order already, such as a stored object, duplicates in lists included. */
export function givenFields(shape: ApplyShape, value: unknown): FieldSet {
	return new Walk().fields(shape, value);
}

export type CheckedFields =
	| { readonly kind: "ok"; readonly fields: FieldSet }
	/** `.spec.foo: field not declared in schema`, in the words of a real server. */
	| { readonly kind: "wrong"; readonly message: string };

export function checkedFields(shape: ApplyShape, value: unknown): CheckedFields {
	const problems: string[] = [];
	const fields = new Walk(problems).fields(shape, value);
	const [first, second] = problems;
	if (first === undefined) return { kind: "ok", fields };
	return { kind: "wrong", message: second === undefined ? first : ["errors:", ...problems].join("\n  ") };
}

class Walk {
	readonly #problems: string[] | undefined;
	readonly #path: string[] = [];

	constructor(problems?: string[]) {
		this.#problems = problems;
	}

	fields(shape: ApplyShape, value: unknown): FieldSet {
		const known = deduced(shape, value);
		switch (known.kind) {
			case "atom":
				this.#checkAtom(known.of, value);
				return LEAF;
			case "struct":
			case "map":
				if (isObject(value)) return this.#members(known, value);
				return value === null ? EMPTY_SET : this.#mismatch("map", value);
			default:
				if (Array.isArray(value)) return this.#items(known, value);
				return value === null ? EMPTY_SET : this.#mismatch("list", value);
		}
	}

	#members(shape: Extract<ApplyShape, { kind: "struct" | "map" }>, value: Readonly<Record<string, unknown>>): FieldSet {
		const entries = new Map<string, FieldSet>();
		for (const name of Object.keys(value)) {
			const given = value[name];
			if (given === undefined) continue;
			const element = fieldElement(name);
			this.#path.push(element);
			if (shape.kind === "struct" && shape.fieldOf(name) === undefined) this.#problem("field not declared in schema");
			const deeper = this.fields(childShape(shape, name), given);
			const isEmpty = given === null || (isObject(given) && Object.keys(given).length === 0);
			entries.set(element, shape.kind === "map" || isEmpty ? withMembership(deeper, true) : deeper);
			this.#path.pop();
		}
		return fieldSetOf(false, entries);
	}

	#items(shape: ListShape, items: readonly unknown[]): FieldSet {
		const entries = new Map<string, FieldSet>();
		for (const [index, item] of items.entries()) {
			const element = this.#elementOf(shape, item, index);
			if (element === undefined) continue;
			const before = entries.get(element);
			if (before !== undefined) this.#problem(`duplicate entries for key ${elementText(element)}`);
			this.#path.push(element);
			const deeper = shape.kind === "set" ? LEAF : this.fields(shape.of, item);
			this.#path.pop();
			entries.set(element, withMembership(union(before ?? EMPTY_SET, deeper), true));
		}
		return fieldSetOf(false, entries);
	}

	#elementOf(shape: ListShape, item: unknown, index: number): string | undefined {
		if (this.#problems === undefined) return itemElement(shape, item);
		const why = shape.kind === "set" ? setProblem(item) : keyProblem(shape, item);
		if (why !== undefined) {
			this.#problem(`element ${index}: ${why}`);
			return undefined;
		}
		return shape.kind === "set" ? setElement(item) : keyElement(shape, item);
	}

	#checkAtom(of: ScalarKind | "list" | "map" | undefined, value: unknown): void {
		if (this.#problems === undefined || of === undefined || value === null) return;
		if (of === "list" || of === "map") {
			const isRight = of === "list" ? Array.isArray(value) : isObject(value);
			if (!isRight) this.#mismatch(of, value);
			return;
		}
		const found = typeof value === "number" ? "numeric" : typeof value;
		if (found === of) return;
		const wanted = of === "numeric" ? "numeric (int or float)" : of;
		this.#problem(`expected ${wanted}, got ${goTypeOf(value)}`);
	}

	#mismatch(wanted: "list" | "map", value: unknown): FieldSet {
		this.#problem(`expected ${wanted}, got &{${goText(value)}}`);
		return LEAF;
	}

	#problem(why: string): void {
		this.#problems?.push(`${this.#path.map(elementText).join("")}: ${why}`);
	}
}

function setProblem(item: unknown): string | undefined {
	if (item === null) return "associative list without keys has an element that's an explicit null";
	if (isObject(item)) return "associative list without keys has an element that's a map type";
	return Array.isArray(item) ? "not supported: associative list with lists as elements" : undefined;
}

function keyProblem({ keys }: KeyedListShape, item: unknown): string | undefined {
	if (item === null) return "associative list with keys may not have a null element";
	if (!isObject(item)) return "associative list with keys may not have non-map elements";
	const missing = keys.find(
		({ name, default: fallback }) => fallback === undefined && (!Object.hasOwn(item, name) || item[name] === undefined),
	);
	if (missing === undefined) return undefined;
	return `associative list with keys has an element that omits key field ${JSON.stringify(missing.name)} (and doesn't have default value)`;
}
