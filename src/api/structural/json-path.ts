/**
 * The part of kubectl's JSONPath that printer columns, scale and selectable fields are written in:
 * `.status.conditions[?(@.type=="Ready")].status`, `.spec.hosts[0]`, `.metadata.labels.app\.kubernetes\.io/name`.
 *
 * @see https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
import { isObject, ownValue } from "../../kernel/json.ts";

type Step =
	| { readonly kind: "field"; readonly name: string }
	| { readonly kind: "index"; readonly index: number }
	| { readonly kind: "slice"; readonly from: number | undefined; readonly to: number | undefined }
	| { readonly kind: "all" }
	| { readonly kind: "filter"; readonly path: readonly Step[]; readonly operator: string; readonly value: unknown };

export interface JsonPath {
	readonly steps: readonly Step[];
}

export type ParsedJsonPath =
	| { readonly kind: "path"; readonly path: JsonPath }
	| { readonly kind: "wrong"; readonly why: string };

/** More than any real path has. */
const PATH_CHARACTERS_MAX = 1024;

/** @param text Without the braces that kubectl writes around it. */
export function parseJsonPath(text: string): ParsedJsonPath {
	if (text.length > PATH_CHARACTERS_MAX) return { kind: "wrong", why: `longer than ${PATH_CHARACTERS_MAX} characters` };
	const steps: Step[] = [];
	let at = 0;
	while (at < text.length) {
		const rest = text.slice(at);
		const found = fieldStep(rest) ?? bracketStep(rest);
		if (found === undefined) return { kind: "wrong", why: `unrecognized ${JSON.stringify(rest)}` };
		if (found.step !== undefined) steps.push(found.step);
		at += found.length;
	}
	return { kind: "path", path: { steps } };
}

interface Found {
	/** Absent for a dot alone: the object itself. */
	readonly step?: Step;
	readonly length: number;
}

function fieldStep(rest: string): Found | undefined {
	const found = /^\.((?:\\.|[^.[\]\\\s{}()'"*])+)/.exec(rest);
	if (found !== null) return { step: { kind: "field", name: unescaped(found[1] ?? "") }, length: found[0].length };
	if (rest.startsWith(".*")) return { step: { kind: "all" }, length: 2 };
	return rest === "." || rest.startsWith(".[") ? { length: 1 } : undefined;
}

function unescaped(text: string): string {
	return text.replaceAll(/\\(.)/g, "$1");
}

function bracketStep(rest: string): Found | undefined {
	const quoted = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/.exec(rest);
	if (quoted !== null) {
		return { step: { kind: "field", name: unescaped(quoted[1] ?? quoted[2] ?? "") }, length: quoted[0].length };
	}
	if (rest.startsWith("[*]")) return { step: { kind: "all" }, length: 3 };
	const index = /^\[(-?\d{1,9})\]/.exec(rest);
	if (index !== null) return { step: { kind: "index", index: Number(index[1]) }, length: index[0].length };
	const slice = /^\[(-?\d{1,9})?:(-?\d{1,9})?\]/.exec(rest);
	if (slice !== null) {
		const [from, to] = [slice[1], slice[2]].map((text) => (text === undefined ? undefined : Number(text)));
		return { step: { kind: "slice", from, to }, length: slice[0].length };
	}
	return filterStep(rest);
}

const FILTER =
	/^\[\?\(\s*@((?:\.(?:\\.|[\w$/-])+|\['[^']*'\]|\[\d+\])*)\s*(?:(==|!=|<=|>=|<|>)\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s)'"]+)\s*)?\)\]/;

function filterStep(rest: string): Found | undefined {
	const found = FILTER.exec(rest);
	if (found === null) return undefined;
	const inner = parseJsonPath(found[1] ?? "");
	if (inner.kind === "wrong") return undefined;
	const value = found[3] === undefined ? undefined : literalOf(found[3]);
	return {
		step: { kind: "filter", path: inner.path.steps, operator: found[2] ?? "exists", value },
		length: found[0].length,
	};
}

function literalOf(text: string): unknown {
	if (/^['"]/.test(text)) return unescaped(text.slice(1, -1));
	if (text === "true" || text === "false") return text === "true";
	const number = Number(text);
	return Number.isNaN(number) ? text : number;
}

/** What the path finds, in the order of the document. */
export function findAll({ steps }: JsonPath, root: unknown): readonly unknown[] {
	let found: readonly unknown[] = [root];
	for (const step of steps) found = found.flatMap((value) => children(step, value));
	return found;
}

function children(step: Step, value: unknown): readonly unknown[] {
	if (step.kind === "field") return present(isObject(value) ? ownValue(value, step.name) : undefined);
	if (step.kind === "all" && isObject(value)) return Object.values(value);
	return Array.isArray(value) ? itemsOf(step, value) : [];
}

function itemsOf(step: Exclude<Step, { kind: "field" }>, list: readonly unknown[]): readonly unknown[] {
	switch (step.kind) {
		case "index":
			return present(list.at(step.index));
		case "slice":
			return list.slice(step.from, step.to);
		case "all":
			return list;
		case "filter":
			return list.filter((item) => passes(step, item));
	}
}

function present(value: unknown): readonly unknown[] {
	return value === undefined ? [] : [value];
}

function passes({ path, operator, value }: Step & { kind: "filter" }, item: unknown): boolean {
	const [found] = findAll({ steps: path }, item);
	if (found === undefined) return false;
	switch (operator) {
		case "exists":
			return true;
		case "==":
			return found === value;
		case "!=":
			return found !== value;
		default:
			return compares(operator, found, value);
	}
}

const COMPARISONS: Readonly<Record<string, (a: number | string, b: number | string) => boolean>> = {
	"<": (a, b) => a < b,
	">": (a, b) => a > b,
	"<=": (a, b) => a <= b,
	">=": (a, b) => a >= b,
};

function compares(operator: string, found: unknown, value: unknown): boolean {
	const compare = COMPARISONS[operator];
	if (typeof found === "number" && typeof value === "number") return compare?.(found, value) === true;
	return typeof found === "string" && typeof value === "string" && compare?.(found, value) === true;
}

/** The names of a path of fields alone; undefined for any other path. */
export function fieldNames({ steps }: JsonPath): readonly string[] | undefined {
	const names = steps.flatMap((step) => (step.kind === "field" ? [step.name] : []));
	return names.length === steps.length ? names : undefined;
}
