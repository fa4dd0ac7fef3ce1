/** The shape of a built-in message, from the one schema that decoding and patching use too. */
import type { Field, Scalar } from "../schema/notation.ts";
import { type Message, messageOf } from "../schema/schema.ts";
import { type ApplyShape, ATOM, type ScalarKind, UNTYPED } from "./shape.ts";

const shapes = new Map<string, ApplyShape>();

/** @param name Of the message, such as `core.Service`. The same name gives the same shape. */
export function shapeOfMessage(name: string): ApplyShape {
	const known = shapes.get(name);
	if (known !== undefined) return known;
	const message = messageOf(name);
	const shape: ApplyShape = message.isAtomic ? { kind: "atom", of: "map" } : structOf(message);
	shapes.set(name, shape);
	return shape;
}

function structOf(message: Message): ApplyShape {
	const fields = new Map<string, ApplyShape>();
	const fieldOf = (name: string): ApplyShape | undefined => {
		const known = fields.get(name);
		if (known !== undefined) return known;
		const field = message.fields.get(name);
		if (field === undefined) return undefined;
		const shape = shapeOfField(field);
		fields.set(name, shape);
		return shape;
	};
	const alwaysThere = [...message.fields.values()].filter(isAlwaysThere).map((field) => field.name);
	return { kind: "struct", fieldOf, ...(alwaysThere.length === 0 ? {} : { alwaysThere }) };
}

/** In the Go type it is a struct, not a pointer to one, or a list that is written even when it is empty. */
function isAlwaysThere({ shape, type, keepsZero, isRequired, isNullWhenEmpty }: Field): boolean {
	if (shape === "list") return isRequired || isNullWhenEmpty;
	return shape === "one" && type === "message" && (!keepsZero || isRequired);
}

function shapeOfField(field: Field): ApplyShape {
	switch (field.shape) {
		case "list":
			return shapeOfList(field);
		case "map":
			return field.applied === "atomic" ? { kind: "atom", of: "map" } : { kind: "map", of: shapeOfItem(field) };
		case "one":
			return field.applied === "atomic" ? { kind: "atom", of: "map" } : shapeOfItem(field);
	}
}

function shapeOfList(field: Field): ApplyShape {
	switch (field.applied) {
		case "set":
			return { kind: "set" };
		case "map":
			return { kind: "keyed-list", keys: field.listMapKeys, of: shapeOfItem(field) };
		default:
			return { kind: "atom", of: "list" };
	}
}

function shapeOfItem({ type, messageName }: Field): ApplyShape {
	return type === "message" ? shapeOfMessage(messageName) : shapeOfScalar(type);
}

const SCALAR_KINDS: ReadonlyMap<Scalar, ScalarKind> = new Map([
	["string", "string"],
	["bytes", "string"],
	["Time", "string"],
	["MicroTime", "string"],
	["bool", "boolean"],
	["int32", "numeric"],
	["int64", "numeric"],
]);

function shapeOfScalar(type: Scalar): ApplyShape {
	if (type === "RawExtension") return UNTYPED;
	const kind = SCALAR_KINDS.get(type);
	return kind === undefined ? ATOM : { kind: "atom", of: kind };
}
