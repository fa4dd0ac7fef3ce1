/**
 * Mistakes of a rule that show without an object: it compares a field with what its schema does not allow, is no
 * condition, or matches by what is no pattern. Such a rule can never hold, so its definition is refused.
 */
import { compilePattern } from "../api/structural/pattern.ts";
import { schemaOf } from "../api/structural/prune.ts";
import type { SchemaProps } from "../api/structural/schema-props.ts";

interface AstNode {
	readonly op: unknown;
	readonly args: unknown;
}

export function isNode(value: unknown): value is AstNode {
	return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** @param matches The name under which the rule calls `matches`. */
export function ruleMistake(root: unknown, schema: SchemaProps, matches: string): string | undefined {
	const type = typeAt(root, schema);
	return type !== undefined && type !== "bool" ? "must evaluate to a bool" : mistakeIn(root, schema, matches);
}

function mistakeIn(value: unknown, schema: SchemaProps, matches: string): string | undefined {
	if (Array.isArray(value)) {
		for (const each of value) {
			const found = mistakeIn(each, schema, matches);
			if (found !== undefined) return found;
		}
		return undefined;
	}
	if (!isNode(value)) return undefined;
	return comparisonMistake(value, schema) ?? patternMistake(value, matches) ?? mistakeIn(value.args, schema, matches);
}

function comparisonMistake({ op, args }: AstNode, schema: SchemaProps): string | undefined {
	if ((op !== "==" && op !== "!=") || !Array.isArray(args)) return undefined;
	const [left, right]: readonly unknown[] = args;
	const types = [typeAt(left, schema) ?? typeOfLiteral(left), typeAt(right, schema) ?? typeOfLiteral(right)] as const;
	if (types[0] === undefined || types[1] === undefined) return undefined;
	if (types[0] === types[1] || types.every((type) => NUMBERS.has(type ?? ""))) return undefined;
	return `found no matching overload for '_${op}_' applied to '(${types.join(", ")})'`;
}

/** Different numbers may be the same. */
const NUMBERS: ReadonlySet<string> = new Set(["int", "double"]);

function patternMistake({ op, args }: AstNode, matches: string): string | undefined {
	if ((op !== "rcall" && op !== "call") || !Array.isArray(args) || args[0] !== matches) return undefined;
	const given: readonly unknown[] = op === "call" ? args[1] : [args[1], ...args[2]];
	const pattern = given[1];
	if (!isNode(pattern) || pattern.op !== "value" || typeof pattern.args !== "string") return undefined;
	const compiled = compilePattern(pattern.args);
	return compiled.kind === "wrong" ? `invalid matches argument: ${compiled.why}` : undefined;
}

/** The type of `self`, or of a field below it that the schema names. Undefined for whatever else, or more than one. */
function typeAt(node: unknown, schema: SchemaProps): string | undefined {
	const found = schemaAt(node, schema);
	return found === undefined ? undefined : typeOfSchema(found);
}

function schemaAt(node: unknown, schema: SchemaProps): SchemaProps | undefined {
	if (!isNode(node)) return undefined;
	if (node.op === "id") return node.args === "self" || node.args === "oldSelf" ? schema : undefined;
	if (node.op !== "." || !Array.isArray(node.args)) return undefined;
	const [object, name]: readonly unknown[] = node.args;
	const above = schemaAt(object, schema);
	return above === undefined || typeof name !== "string" ? undefined : schemaOf(above, name);
}

const TYPES: ReadonlyMap<string, string> = new Map([
	["boolean", "bool"],
	["integer", "int"],
	["number", "double"],
	["string", "string"],
]);
const TEXT_TYPES: ReadonlyMap<string, string> = new Map([
	["date", "timestamp"],
	["date-time", "timestamp"],
	["duration", "duration"],
	["byte", "bytes"],
]);

function typeOfSchema({ type = "", format = "", ...schema }: SchemaProps): string | undefined {
	if (schema["x-kubernetes-int-or-string"] === true || schema.nullable === true) return undefined;
	return type === "string" ? (TEXT_TYPES.get(format) ?? "string") : TYPES.get(type);
}

function typeOfLiteral(node: unknown): string | undefined {
	if (!isNode(node) || node.op !== "value") return undefined;
	const { args } = node;
	if (typeof args === "bigint") return "int";
	if (typeof args === "number") return "double";
	if (typeof args === "boolean") return "bool";
	return typeof args === "string" ? "string" : undefined;
}
