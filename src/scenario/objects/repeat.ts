/** `{i}` and integer arithmetic around it, in the texts of an entry that stands for many objects. */
import { setOwn } from "../../kernel/json.ts";
import type { Repeat } from "../format/objects.ts";

/** An expression over i in braces; other braces are text. */
const EXPRESSION = /\{([0-9i+\-*/%() ]*i[0-9i+\-*/%() ]*)\}/g;
const PRECEDENCE: Readonly<Record<string, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2 };

/** The objects that the entry stands for. @throws {Error} for an expression that cannot be read. */
export function repeated<T extends object>({ count, ...entry }: Repeat<T>): readonly T[] {
	return Array.from({ length: count }, (_, i) => withTexts(entry, (text) => counted(text, i)) as T);
}

/** The same data with every text of it, keys included, put through `change`. */
export function withTexts(value: unknown, change: (text: string) => string): unknown {
	if (typeof value === "string") return change(value);
	if (Array.isArray(value)) return value.map((item) => withTexts(item, change));
	if (typeof value !== "object" || value === null) return value;
	const changed = {};
	for (const [key, item] of Object.entries(value)) setOwn(changed, change(key), withTexts(item, change));
	return changed;
}

function counted(text: string, i: number): string {
	return text.replaceAll(EXPRESSION, (written, expression: string) => {
		const value = evaluated(expression, i);
		if (value === undefined) throw new Error(`${written}: want integer arithmetic over i, such as {i%200+1}`);
		return String(value);
	});
}

/** By precedence climbing; division truncates. undefined for what cannot be read. */
function evaluated(expression: string, i: number): number | undefined {
	const tokens = expression.match(/[0-9]+|[i+\-*/%()]/g) ?? [];
	let at = 0;
	const operand = (): number => {
		const token = tokens[at++];
		if (token === "(") {
			const inner = sum(1);
			return tokens[at++] === ")" ? inner : Number.NaN;
		}
		return token === "i" ? i : Number(token ?? Number.NaN);
	};
	const sum = (least: number): number => {
		let left = operand();
		for (;;) {
			const operator = tokens[at] ?? "";
			const precedence = PRECEDENCE[operator] ?? 0;
			if (precedence < least) return left;
			at++;
			left = applied(operator, left, sum(precedence + 1));
		}
	};
	const value = sum(1);
	return at === tokens.length && Number.isSafeInteger(value) ? value : undefined;
}

function applied(operator: string, left: number, right: number): number {
	switch (operator) {
		case "+":
			return left + right;
		case "-":
			return left - right;
		case "*":
			return left * right;
		case "/":
			return Math.trunc(left / right);
		default:
			return left % right;
	}
}
