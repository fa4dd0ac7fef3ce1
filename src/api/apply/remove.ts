/** A value without some of its fields. */
import { isObject, setOwn } from "../../kernel/json.ts";
import { below, EMPTY_SET, elementsOf, type FieldSet, fieldSet, isMember, withMembership } from "./field-set.ts";
import { fieldElement, fieldNameOf } from "./path-element.ts";
import type { ApplyShape } from "./shape.ts";
import { childShape, deduced, itemElement, type ListShape } from "./shaped-value.ts";

/** Undefined when nothing is left. What is one value is not looked into. */
export function withoutFields(shape: ApplyShape, value: unknown, fields: FieldSet): unknown {
	if (fields === EMPTY_SET) return value;
	const known = deduced(shape, value);
	switch (known.kind) {
		case "atom":
			return value;
		case "struct":
		case "map":
			return isObject(value) ? withoutMembers(known, value, fields) : value;
		default:
			return Array.isArray(value) ? withoutItems(known, value, fields) : value;
	}
}

function withoutItems(shape: ListShape, items: readonly unknown[], fields: FieldSet): unknown {
	const kept: unknown[] = [];
	for (const item of items) {
		const deeper = below(fields, itemElement(shape, item));
		if (isMember(deeper)) continue;
		const left = shape.kind === "set" ? item : withoutFields(shape.of, item, deeper);
		if (left !== undefined) kept.push(left);
	}
	return kept.length === 0 && items.length > 0 ? undefined : kept;
}

function withoutMembers(
	shape: Extract<ApplyShape, { kind: "struct" | "map" }>,
	value: Readonly<Record<string, unknown>>,
	fields: FieldSet,
): unknown {
	const kept = {};
	const names = Object.keys(value);
	for (const name of names) {
		const deeper = below(fields, fieldElement(name));
		if (isMember(deeper)) continue;
		const left = withoutFields(childShape(shape, name), value[name], deeper);
		if (left !== undefined) setOwn(kept, name, left);
	}
	return names.length > 0 && Object.keys(kept).length === 0 ? undefined : kept;
}

/** The set with every declared field on the way to its paths: whoever owns `a.b.c` counts as owner of the struct `a`. */
export function withNamedFields(shape: ApplyShape, fields: FieldSet): FieldSet {
	const elements = elementsOf(fields);
	const sets = elements.map((element) => {
		const whole = withNamedFields(shapeBelow(shape, element), below(fields, element));
		const isDeclared = shape.kind === "struct" && fieldNameOf(element) !== undefined;
		return isDeclared ? withMembership(whole, true) : whole;
	});
	return fieldSet(isMember(fields), elements, sets);
}

function shapeBelow(shape: ApplyShape, element: string): ApplyShape {
	const name = fieldNameOf(element);
	switch (shape.kind) {
		case "struct":
		case "map":
			return name === undefined ? { kind: "atom" } : childShape(shape, name);
		case "keyed-list":
			return shape.of;
		default:
			return shape.kind === "untyped" ? shape : { kind: "atom" };
	}
}
