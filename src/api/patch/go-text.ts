import { isObject } from "../../kernel/json.ts";
import { compareStrings } from "../../kernel/order.ts";

/** Plain data as Go's `%v` prints it, `map[a:1 b:[x y]]`: the messages of a real server contain it. */
export function goText(value: unknown): string {
	if (value === null || value === undefined) return "<nil>";
	if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
	if (!isObject(value)) return String(value);
	const entries = Object.keys(value).sort(compareStrings);
	return `map[${entries.map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
}

export function goTypeOf(value: unknown): string {
	if (Array.isArray(value)) return "[]interface {}";
	if (isObject(value)) return "map[string]interface {}";
	if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
	return typeof value === "boolean" ? "bool" : typeof value;
}
