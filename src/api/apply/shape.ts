/**
 * How server-side apply sees a value: what is one value, what is a struct, which lists are sets or have keys.
 *
 * Where the schema came from does not matter here: messages of built-in kinds and structural schemas of custom
 * resources both give a shape. Shapes are made lazily, since messages may contain themselves.
 */
import type { ListMapKey } from "../schema/notation.ts";

/** What a scalar may be, for the words of a refusal. Absent: anything. */
export type ScalarKind = "string" | "numeric" | "boolean";

export type ApplyShape =
	/** One value, whatever is inside: scalars, atomic lists and maps. */
	| { readonly kind: "atom"; readonly of?: ScalarKind | "list" | "map" }
	| StructShape
	| { readonly kind: "map"; readonly of: ApplyShape }
	| { readonly kind: "set" }
	| KeyedListShape
	/** Nothing is known: objects are maps, everything else is one value. */
	| { readonly kind: "untyped" };

export interface StructShape {
	readonly kind: "struct";
	/** Undefined for a field that is not declared. */
	fieldOf(name: string): ApplyShape | undefined;
	/**
	 * Fields that every value of the struct has, as a struct in Go is there without being given. Absent: none.
	 * Nobody becomes owner of such a field by giving it; of those that stand empty in a new item somebody does.
	 */
	readonly alwaysThere?: readonly string[];
}

export interface KeyedListShape {
	readonly kind: "keyed-list";
	readonly keys: readonly ListMapKey[];
	readonly of: ApplyShape;
}

export const ATOM: ApplyShape = { kind: "atom" };
export const UNTYPED: ApplyShape = { kind: "untyped" };
