/** The paths of everything in a value that came, or went, as a whole. */
import { type FieldSet, fieldSet, fieldSetOf, LEAF } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import type { ApplyShape, StructShape } from "./shape.ts";
import { childShape, deduced, itemElement, listOf, membersOf } from "./shaped-value.ts";

/** Of every node, inner ones included: whoever adds a map owns the map beside its entries. */
export function presentFields(shape: ApplyShape, value: unknown): FieldSet {
	const known = deduced(shape, value);
	switch (known.kind) {
		case "atom":
			return LEAF;
		case "struct":
		case "map":
			return presentMembers(known, membersOf(value));
		default: {
			const items = listOf(value);
			if (items.length === 0) return LEAF;
			const entries = new Map<string, FieldSet>();
			for (const item of items) {
				const element = itemElement(known, item);
				const isRepeated = entries.has(element);
				entries.set(element, known.kind === "set" || isRepeated ? LEAF : presentFields(known.of, item));
			}
			return fieldSetOf(true, entries);
		}
	}
}

function presentMembers(
	shape: StructShape | Extract<ApplyShape, { kind: "map" }>,
	members: Readonly<Record<string, unknown>>,
): FieldSet {
	const elements: string[] = [];
	const sets: FieldSet[] = [];
	const add = (name: string, value: unknown): void => {
		elements.push(fieldElement(name));
		sets.push(presentFields(childShape(shape, name), value));
	};
	for (const name of Object.keys(members)) if (members[name] !== undefined) add(name, members[name]);
	if (shape.kind === "struct") {
		for (const name of shape.alwaysThere ?? []) if (!Object.hasOwn(members, name)) add(name, null);
	}
	return fieldSet(true, elements, sets);
}
