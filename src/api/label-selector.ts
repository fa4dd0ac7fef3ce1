/**
 * Label selectors as a list of requirements, all of which must hold. Both forms of a selector end
 * here: the text of a query (`label-selector-grammar.ts`) and the object of a spec.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
import { ownValue } from "../kernel/json.ts";
import { compareStrings, sortedBy } from "../kernel/order.ts";
import { type FieldError, forbidden, invalid, required } from "./field-error.ts";
import { invalids, validateLabels } from "./metadata-validation.ts";
import { labelValueProblems, qualifiedNameProblems } from "./names.ts";
import type { LabelSelector, LabelSelectorRequirement, StringMap } from "./types/meta.ts";

export type SelectorOperator = "in" | "notin" | "=" | "==" | "!=" | "exists" | "!" | "gt" | "lt";

export interface Requirement {
	readonly key: string;
	readonly operator: SelectorOperator;
	/** One for `=`, `==`, `!=`, `gt` and `lt`; none for `exists` and `!`. */
	readonly values: readonly string[];
}

export type Requirements = readonly Requirement[];

/** No requirement at all matches everything. */
export function matchesLabels(requirements: Requirements, labels: StringMap | undefined): boolean {
	return requirements.every((requirement) => holds(requirement, labels ?? {}));
}

/** `!=` and `notin` hold for objects without the key. */
function holds(requirement: Requirement, labels: StringMap): boolean {
	const value = ownValue(labels, requirement.key);
	const isListed = typeof value === "string" && requirement.values.includes(value);
	switch (requirement.operator) {
		case "in":
		case "=":
		case "==":
			return isListed;
		case "notin":
		case "!=":
			return !isListed;
		case "exists":
			return value !== undefined;
		case "!":
			return value === undefined;
		case "gt":
			return typeof value === "string" && compareIntegers(value, requirement.values[0] ?? "") > 0;
		case "lt":
			return typeof value === "string" && compareIntegers(value, requirement.values[0] ?? "") < 0;
	}
}

/** A 64-bit integer as the selector grammar takes it. */
export function isInteger(text: string): boolean {
	return /^[-+]?[0-9]{1,19}$/.test(text) && BigInt.asIntN(64, integerOf(text)) === integerOf(text);
}

/** `BigInt` refuses a plus sign before the digits. */
function integerOf(text: string): bigint {
	return BigInt(text.replace(/^\+/, ""));
}

/** 0 when one of them is no integer: then neither is greater. */
function compareIntegers(a: string, b: string): number {
	if (!isInteger(a) || !isInteger(b)) return 0;
	const difference = integerOf(a) - integerOf(b);
	return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

/** The requirements of a plain map, such as a Service's selector. */
export function requirementsOfLabels(labels: StringMap | undefined): Requirements {
	return Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: "=", values: [value] }));
}

const OPERATORS: Readonly<Record<LabelSelectorRequirement["operator"], SelectorOperator>> = {
	In: "in",
	NotIn: "notin",
	Exists: "exists",
	DoesNotExist: "!",
};

/** The requirements of a valid LabelSelector. An empty one matches everything. */
export function requirementsOf(selector: LabelSelector): Requirements {
	const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values }) => ({
		key,
		operator: OPERATORS[operator],
		values: values ?? [],
	}));
	return [...requirementsOfLabels(selector.matchLabels), ...expressions];
}

/** Sorted by key: `app=web,tier in (a,b),!legacy`. The grammar reads it back. */
export function formatRequirements(requirements: Requirements): string {
	return sortedBy(requirements, ({ key }) => key)
		.map(formatRequirement)
		.join(",");
}

function formatRequirement({ key, operator, values }: Requirement): string {
	switch (operator) {
		case "exists":
			return key;
		case "!":
			return `!${key}`;
		case "in":
		case "notin":
			return `${key} ${operator} (${[...values].sort(compareStrings).join(",")})`;
		case "gt":
			return `${key}>${values[0]}`;
		case "lt":
			return `${key}<${values[0]}`;
		default:
			return `${key}${operator}${values[0]}`;
	}
}

export function isEmptySelector(selector: LabelSelector): boolean {
	return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
}

export function validateLabelSelector(field: string, selector: LabelSelector): readonly FieldError[] {
	return [
		...validateLabels(`${field}.matchLabels`, selector.matchLabels),
		...(selector.matchExpressions ?? []).flatMap((expression, index) =>
			validateExpression(`${field}.matchExpressions[${index}]`, expression),
		),
	];
}

function validateExpression(field: string, expression: LabelSelectorRequirement): readonly FieldError[] {
	const { key, operator, values = [] } = expression;
	return [
		...validateValueCount(field, operator, values),
		...invalids(`${field}.key`, key, qualifiedNameProblems(key)),
		...values.flatMap((value, index) => invalids(`${field}.values[${index}]`, value, labelValueProblems(value))),
	];
}

function validateValueCount(field: string, operator: string, values: readonly string[]): readonly FieldError[] {
	switch (operator) {
		case "In":
		case "NotIn":
			if (values.length > 0) return [];
			return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
		case "Exists":
		case "DoesNotExist":
			if (values.length === 0) return [];
			return [forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
		default:
			return [invalid(`${field}.operator`, operator, "not a valid selector operator")];
	}
}
