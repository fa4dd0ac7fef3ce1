/**
 * Rules that a schema adds to its keywords (`x-kubernetes-validations`), written in CEL: where they hold, in which words
 * they fail. What evaluates them comes from outside, as {@link RuleCompiler}.
 */
import { isObject, ownValue } from "../../kernel/json.ts";
import {
	duplicate,
	type FieldError,
	type FieldErrorType,
	forbidden,
	invalid,
	notSupported,
	required,
} from "../field-error.ts";
import { withManySchemaDefaults } from "./defaults.ts";
import { fieldNames, parseJsonPath } from "./json-path.ts";
import { schemaOf } from "./prune.ts";
import { counterpart } from "./ratchet.ts";
import { additionalOf, itemsOf, type RuleProps, type SchemaProps } from "./schema-props.ts";
import { jsonTypeOf, type PathStep, type Problem, pathText } from "./validate.ts";

export type RuleResult =
	| { readonly kind: "holds" }
	/** `message` is what the rule's messageExpression gave. */
	| { readonly kind: "broken"; readonly message?: string }
	| { readonly kind: "failed"; readonly why: string };

export interface CompiledRule {
	/** A rule about a change: it is not asked where there is no older value. */
	readonly usesOldSelf: boolean;
	check(self: unknown, oldSelf: unknown): RuleResult;
}

export type RuleCompilation =
	| { readonly kind: "rule"; readonly rule: CompiledRule }
	| { readonly kind: "wrong"; readonly field: "rule" | "messageExpression" | "optionalOldSelf"; readonly why: string };

/** The port to what can evaluate CEL. */
export interface RuleCompiler {
	/** Compiling the same rule for the same schema again is cheap. */
	compile(rule: RuleProps, schema: SchemaProps): RuleCompilation;
}

const KEYWORD = "x-kubernetes-validations";
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** What is wrong with the rules of a schema; without a compiler every rule is. */
export function ruleErrors(
	schema: SchemaProps,
	path: string,
	compiler: RuleCompiler | undefined,
): readonly FieldError[] {
	const errors = errorsBelow(schema, path, undefined, compiler);
	return errors.length > 0 ? errors : defaultsBelow(schema, path, compiler);
}

/** A default must keep the rules that it will be held to. */
function defaultsBelow(schema: SchemaProps, path: string, compiler: RuleCompiler | undefined): readonly FieldError[] {
	if (!hasRules(schema)) return [];
	const additional = additionalOf(schema);
	const items = itemsOf(schema);
	const broken =
		schema.default === undefined
			? []
			: ruleProblems(withManySchemaDefaults(schema.default, schema), undefined, schema, compiler, []);
	return [
		...broken.map(({ error }) => ({ ...error, field: `${path}.default.${error.field}`.replace(/\.(?:<nil>)?$/, "") })),
		...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
			defaultsBelow(property, `${path}.properties[${name}]`, compiler),
		),
		...(additional === undefined ? [] : defaultsBelow(additional, `${path}.additionalProperties`, compiler)),
		...(items === undefined ? [] : defaultsBelow(items, `${path}.items`, compiler)),
	];
}

/** @param uncorrelated The part of the schema within which old values cannot be told from others. */
function errorsBelow(
	schema: SchemaProps,
	path: string,
	uncorrelated: string | undefined,
	compiler: RuleCompiler | undefined,
): readonly FieldError[] {
	const isAtomic = schema["x-kubernetes-map-type"] === "atomic";
	const isMap = schema["x-kubernetes-list-type"] === "map";
	const inFields = isAtomic ? (uncorrelated ?? path) : uncorrelated;
	const inItems = isMap ? uncorrelated : (uncorrelated ?? path);
	const additional = additionalOf(schema);
	const items = itemsOf(schema);
	return [
		...(schema[KEYWORD] ?? []).flatMap((rule, index) => {
			const place = `${path}.${KEYWORD}[${index}]`;
			const written = writingErrors(rule, schema, place);
			return written.length > 0 ? written : compileErrors(rule, schema, place, uncorrelated, compiler);
		}),
		...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
			errorsBelow(property, `${path}.properties[${name}]`, inFields, compiler),
		),
		...(additional === undefined
			? []
			: errorsBelow(additional, `${path}.additionalProperties`, uncorrelated, compiler)),
		...(items === undefined ? [] : errorsBelow(items, `${path}.items`, inItems, compiler)),
	];
}

function writingErrors(rule: RuleProps, schema: SchemaProps, place: string): readonly FieldError[] {
	const { message = "", messageExpression = "", reason, fieldPath } = rule;
	const errors: FieldError[] = [];
	if (rule.rule.trim() === "") errors.push(required(`${place}.rule`, "rule is not specified"));
	else if (message !== "" && message.trim() === "") {
		errors.push(invalid(`${place}.message`, message, "must be non-empty if specified"));
	} else if (/[\n\r]/.test(message.trim())) {
		errors.push(invalid(`${place}.message`, message, "must not contain line breaks"));
	} else if (/[\n\r]/.test(rule.rule.trim()) && message.trim() === "") {
		errors.push(required(`${place}.message`, "message must be specified if rule contains line breaks"));
	}
	if (messageExpression !== "" && messageExpression.trim() === "") {
		const why = "messageExpression must be non-empty if specified";
		errors.push(required(`${place}.messageExpression`, why));
	}
	if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${place}.reason`, reason, REASONS));
	if (fieldPath !== undefined && !isFieldOf(schema, fieldPath)) {
		errors.push(invalid(`${place}.fieldPath`, fieldPath, "must be a valid path"));
	}
	return errors;
}

function isFieldOf(schema: SchemaProps, text: string): boolean {
	const parsed = parseJsonPath(text);
	const names = parsed.kind === "path" ? fieldNames(parsed.path) : undefined;
	let inner: SchemaProps | undefined = schema;
	for (const name of names ?? [])
		inner = inner === undefined ? undefined : (schemaOf(inner, name) ?? additionalOf(inner));
	return names !== undefined && names.length > 0 && inner !== undefined;
}

function compileErrors(
	rule: RuleProps,
	schema: SchemaProps,
	place: string,
	uncorrelated: string | undefined,
	compiler: RuleCompiler | undefined,
): readonly FieldError[] {
	if (compiler === undefined) {
		return [forbidden(`${place}.rule`, "rules are not evaluated by this server: leave x-kubernetes-validations out")];
	}
	const compiled = compiler.compile(rule, schema);
	if (compiled.kind === "wrong") {
		return [invalid(`${place}.${compiled.field}`, rule[compiled.field], `compilation failed: ${compiled.why}`)];
	}
	if (!compiled.rule.usesOldSelf || uncorrelated === undefined) return [];
	const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
	return [invalid(`${place}.rule`, rule.rule, why)];
}

/** Whether the schema, or one within it, has rules. */
export function hasRules(schema: SchemaProps): boolean {
	const known = schemasWithRules.get(schema);
	if (known !== undefined) return known;
	const inner = [itemsOf(schema), additionalOf(schema), ...Object.values(schema.properties ?? {})];
	const found = (schema[KEYWORD] ?? []).length > 0 || inner.some((each) => each !== undefined && hasRules(each));
	schemasWithRules.set(schema, found);
	return found;
}

const schemasWithRules = new WeakMap<SchemaProps, boolean>();

/** Errors after which a rule would find values that its schema does not allow. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
	"Required",
	"TooLong",
	"TooMany",
	"TypeInvalid",
	"NotSupported",
]);

/** Errors of the rules, or the sentence that they were not asked. @param found Errors of the schema's keywords. */
export function ruleProblems(
	value: unknown,
	stored: unknown,
	schema: SchemaProps,
	compiler: RuleCompiler | undefined,
	found: readonly Problem[],
): readonly Problem[] {
	if (compiler === undefined || !hasRules(schema)) return [];
	if (found.some(({ error }) => BLOCKING.has(error.type))) {
		const why =
			"some validation rules were not checked because the object was invalid; " +
			"correct the existing errors to complete validation";
		return [{ error: invalid("<nil>", null, why) }];
	}
	const problems: Problem[] = [];
	const visit = (self: unknown, before: unknown, inner: SchemaProps, path: readonly PathStep[]): void => {
		if (!hasRules(inner) || self === null) return;
		for (const rule of inner[KEYWORD] ?? []) {
			const error = brokenRule(rule, inner, compiler, self, before, path);
			if (error !== undefined) problems.push({ error, subject: path });
		}
		visitChildren(self, before, inner, path, visit);
	};
	visit(value, stored, schema, []);
	return problems;
}

type Visit = (self: unknown, before: unknown, schema: SchemaProps, path: readonly PathStep[]) => void;

function visitChildren(
	self: unknown,
	before: unknown,
	schema: SchemaProps,
	path: readonly PathStep[],
	visit: Visit,
): void {
	const items = itemsOf(schema);
	if (Array.isArray(self) && items !== undefined) {
		for (const [index, item] of self.entries()) {
			visit(item, counterpart(self, before, index, schema), items, [...path, index]);
		}
	}
	if (!isObject(self)) return;
	const additional = additionalOf(schema);
	for (const key of Object.keys(self)) {
		const inner = schemaOf(schema, key) ?? additional;
		if (inner !== undefined)
			visit(self[key], isObject(before) ? ownValue(before, key) : undefined, inner, [...path, key]);
	}
}

function brokenRule(
	rule: RuleProps,
	schema: SchemaProps,
	compiler: RuleCompiler,
	self: unknown,
	before: unknown,
	path: readonly PathStep[],
): FieldError | undefined {
	const compiled = compiler.compile(rule, schema);
	if (compiled.kind === "wrong") return invalid(pathText(path), shownType(self), `rule compile error: ${compiled.why}`);
	if (compiled.rule.usesOldSelf && before === undefined) return undefined;
	const result = compiled.rule.check(self, before);
	if (result.kind === "holds") return undefined;
	const message = rule.message?.trim() ?? "";
	if (result.kind === "failed") {
		const what = message === "" ? `rule: ${rule.rule.trim()}` : `rule: ${message}`;
		return invalid(placeOf(path), shownType(self), `${result.why} evaluating ${what}`);
	}
	const text = result.message ?? (message === "" ? `failed rule: ${rule.rule.trim()}` : message);
	return errorOf(rule, `${placeOf(path)}${rule.fieldPath ?? ""}`.replace(/^\./, ""), self, text);
}

function placeOf(path: readonly PathStep[]): string {
	return path.length === 0 ? "<nil>" : pathText(path);
}

function errorOf(rule: RuleProps, field: string, self: unknown, text: string): FieldError {
	const place = rule.fieldPath === undefined ? field : field.replace(/^<nil>\.?/, "");
	switch (rule.reason) {
		case "FieldValueForbidden":
			return forbidden(place, text);
		case "FieldValueRequired":
			return required(place, text);
		case "FieldValueDuplicate":
			return duplicate(place, shownType(self));
		default:
			return invalid(place, shownType(self), text);
	}
}

/** The value itself may be large: a real server shows its type alone. */
function shownType(self: unknown): string {
	return jsonTypeOf(self);
}
