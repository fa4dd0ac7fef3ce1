/**
 * Rules of custom resources, evaluated by a CEL library. What the library does not know, a definition may not use:
 * it is refused when it is written.
 *
 * A rule is trusted as little as the objects it looks at: its own size, the work it can make and the patterns it
 * matches by have limits.
 */
import { Environment } from "@marcbachmann/cel-js";
import { parseCIDR, parseIP } from "../api/ip.ts";
import { aligned } from "../api/structural/align.ts";
import { compilePattern, StepBudget } from "../api/structural/pattern.ts";
import type { CompiledRule, RuleCompilation, RuleCompiler, RuleResult } from "../api/structural/rules.ts";
import type { RuleProps, SchemaProps } from "../api/structural/schema-props.ts";
import { isNode, ruleMistake } from "./cel-mistakes.ts";
import { celValue, type Measured } from "./cel-values.ts";

/** Visits of parts of an expression: about a tenth of a second. */
const WORK_MAX = 2_000_000;
const RULE_CHARACTERS_MAX = 10_000;
/** Comprehensions within each other. */
const DEPTH_MAX = 5;

type Evaluate = ReturnType<Environment["parse"]>;

interface Parsed {
	readonly evaluate: Evaluate;
	readonly type: string;
	readonly nodes: number;
	readonly depth: number;
	readonly usesOldSelf: boolean;
	readonly splits: boolean;
}

export class CelRules implements RuleCompiler {
	readonly #environment: Environment;
	readonly #compiled = new WeakMap<SchemaProps, Map<RuleProps, RuleCompilation>>();
	#patterns = new StepBudget();

	constructor() {
		this.#environment = this.#newEnvironment();
	}

	compile(rule: RuleProps, schema: SchemaProps): RuleCompilation {
		const known = this.#compiled.get(schema) ?? new Map<RuleProps, RuleCompilation>();
		this.#compiled.set(schema, known);
		const compilation = known.get(rule) ?? this.#compile(rule, schema);
		known.set(rule, compilation);
		return compilation;
	}

	#compile(rule: RuleProps, schema: SchemaProps): RuleCompilation {
		if (rule.optionalOldSelf === true) {
			return { kind: "wrong", field: "optionalOldSelf", why: "optionalOldSelf is not supported by this server" };
		}
		const condition = this.#parse(rule.rule);
		if (typeof condition === "string") return { kind: "wrong", field: "rule", why: condition };
		if (condition.type !== "bool" && condition.type !== "dyn") {
			return { kind: "wrong", field: "rule", why: "must evaluate to a bool" };
		}
		const mistake = ruleMistake(condition.evaluate.ast, schema, LINEAR);
		if (mistake !== undefined) return { kind: "wrong", field: "rule", why: mistake };
		const message = rule.messageExpression === undefined ? undefined : this.#parse(rule.messageExpression);
		if (typeof message === "string") return { kind: "wrong", field: "messageExpression", why: message };
		if (message !== undefined && message.type !== "string" && message.type !== "dyn") {
			return { kind: "wrong", field: "messageExpression", why: "must evaluate to a string" };
		}
		return { kind: "rule", rule: this.#ruleOf(condition, message, schema) };
	}

	/** What can be evaluated, or why the text is none. */
	#parse(text: string): Parsed | string {
		if (text.length > RULE_CHARACTERS_MAX) return `longer than ${RULE_CHARACTERS_MAX} characters`;
		try {
			const evaluate = this.#environment.parse(withLinearMatches(text));
			const checked = evaluate.check();
			if (!checked.valid) return firstLine(checked.error);
			const shape = shapeOf(evaluate.ast);
			if (shape.depth > DEPTH_MAX) return `comprehensions are nested deeper than ${DEPTH_MAX} levels`;
			if (shape.binds) return "cel.bind is not supported by this server";
			return { evaluate, type: String(checked.type), splits: /\bsplit\b/.test(text), ...shape };
		} catch (error) {
			return firstLine(error);
		}
	}

	#ruleOf(condition: Parsed, message: Parsed | undefined, schema: SchemaProps): CompiledRule {
		return {
			usesOldSelf: condition.usesOldSelf,
			check: (self, oldSelf) => {
				const measured: Measured = { itemsMax: 1, charactersMax: 1 };
				const values = {
					self: celValue(self, schema, measured),
					oldSelf: oldSelf === undefined ? null : celValue(aligned(oldSelf, self, schema), schema, measured),
				};
				const result = this.#evaluate(condition, values, measured);
				if (result.kind === "failed") return result;
				if (result.value === true) return { kind: "holds" };
				if (result.value !== false) return { kind: "failed", why: "the rule gave no bool" };
				const told = message === undefined ? undefined : this.#evaluate(message, values, measured);
				return told?.kind === "value" && isMessage(told.value)
					? { kind: "broken", message: told.value }
					: { kind: "broken" };
			},
		};
	}

	#evaluate(
		parsed: Parsed,
		values: Record<string, unknown>,
		{ itemsMax, charactersMax }: Measured,
	): { readonly kind: "value"; readonly value: unknown } | (RuleResult & { kind: "failed" }) {
		const size = Math.max(itemsMax, parsed.splits ? charactersMax : 0);
		if (parsed.nodes * size ** parsed.depth > WORK_MAX) {
			return { kind: "failed", why: "the object is too large for the rule: limits such as maxItems make it cheaper;" };
		}
		this.#patterns = new StepBudget();
		try {
			return { kind: "value", value: parsed.evaluate(values) };
		} catch (error) {
			return { kind: "failed", why: firstLine(error) };
		}
	}

	#newEnvironment(): Environment {
		const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
			.registerVariable("self", "dyn")
			.registerVariable("oldSelf", "dyn");
		const matches = (text: string, pattern: string): boolean => this.#matches(text, pattern);
		return withKubernetesFunctions(environment)
			.registerFunction(`string.${LINEAR}(string): bool`, matches)
			.registerFunction(`${LINEAR}(string, string): bool`, matches);
	}

	#matches(text: string, pattern: string): boolean {
		const compiled = compilePattern(pattern);
		if (compiled.kind === "wrong") throw new Error(compiled.why);
		const fits = compiled.pattern.matches(text, this.#patterns);
		if (fits === undefined) throw new Error("the text is too long for its pattern to be checked");
		return fits;
	}
}

function isMessage(value: unknown): value is string {
	return typeof value === "string" && value.trim() !== "" && !/[\n\r]/.test(value);
}

/** The library's own `matches` is a RegExp, which some patterns keep busy for ever. */
const LINEAR = "matchesInLinearTime";

/** Renames the function outside of string literals. */
function withLinearMatches(text: string): string {
	const literalOrName =
		/("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*)|\bmatches(?=\s*\()/g;
	return text.replace(literalOrName, (whole, literal: string | undefined) => (literal === undefined ? LINEAR : whole));
}

const MACROS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);

interface AstShape {
	readonly nodes: number;
	readonly depth: number;
	readonly usesOldSelf: boolean;
	readonly binds: boolean;
}

function shapeOf(root: unknown): AstShape {
	const shape = { nodes: 0, depth: 0, usesOldSelf: false, binds: false };
	const visit = (value: unknown, within: number): void => {
		if (Array.isArray(value)) for (const each of value) visit(each, within);
		if (!isNode(value)) return;
		const name = methodOf(value);
		const inner = MACROS.has(name) ? within + 1 : within;
		shape.nodes++;
		shape.depth = Math.max(shape.depth, inner);
		shape.usesOldSelf ||= value.op === "id" && value.args === "oldSelf";
		shape.binds ||= name === "bind";
		visit(value.args, inner);
	};
	visit(root, 0);
	return shape;
}

function methodOf({ op, args }: { readonly op: unknown; readonly args: unknown }): string {
	return op === "rcall" && Array.isArray(args) ? String(args[0]) : "";
}

type Numbers = readonly (bigint | number)[];

/** Functions that Kubernetes has beside those of the language. @see https://kubernetes.io/docs/reference/using-api/cel/ */
function withKubernetesFunctions(environment: Environment): Environment {
	const extreme = (list: Numbers, isBetter: (a: bigint | number, b: bigint | number) => boolean): bigint | number => {
		const [first, ...rest] = list;
		if (first === undefined) throw new Error("min or max of an empty list");
		return rest.reduce((best, each) => (isBetter(each, best) ? each : best), first);
	};
	return environment
		.registerFunction("list.isSorted(): bool", (list: Numbers) =>
			list.every((each, index) => index === 0 || (list[index - 1] as bigint) <= each),
		)
		.registerFunction("list.sum(): dyn", (list: Numbers) =>
			list.every((each) => typeof each === "bigint")
				? list.reduce<bigint>((sum, each) => sum + BigInt(each), 0n)
				: list.reduce<number>((sum, each) => sum + Number(each), 0),
		)
		.registerFunction("list.min(): dyn", (list: Numbers) => extreme(list, (a, b) => a < b))
		.registerFunction("list.max(): dyn", (list: Numbers) => extreme(list, (a, b) => a > b))
		.registerFunction("list.indexOf(dyn): int", (list: readonly unknown[], value: unknown) =>
			BigInt(list.indexOf(value)),
		)
		.registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
			text.split(from).join(to),
		)
		.registerFunction("isIP(string): bool", (text: string) => parseIP(text) !== undefined)
		.registerFunction("isCIDR(string): bool", (text: string) => parseCIDR(text) !== undefined);
}

function firstLine(error: unknown): string {
	const text = error instanceof Error ? error.message : String(error);
	return (text.split("\n")[0] ?? "")
		.replaceAll(LINEAR, "matches")
		.replace(/^No such key: index out of bounds, index (-?\d+).*/, "index out of bounds: $1")
		.replace(/^No such key/, "no such key");
}
