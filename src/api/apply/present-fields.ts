/** The paths of everything in a value that came, or went, as a whole. */
import { type FieldSet, fieldSetOf, LEAF } from "./field-set.ts";
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
	const entries = new Map<string, FieldSet>();
	for (const name of Object.keys(members)) {
		const value = members[name];
		if (value === undefined) continue;
		entries.set(fieldElement(name), presentFields(childShape(shape, name), value));
	}
	if (shape.kind === "struct") {
		for (const name of shape.alwaysThere ?? []) {
			if (!Object.hasOwn(members, name)) entries.set(fieldElement(name), presentFields(childShape(shape, name), null));
		}
	}
	return fieldSetOf(true, entries);
}
