/** Checks a custom object against its schema, in the words of a real API server. */
import { deepEqual, isObject, ownValue } from "../../kernel/json.ts";
import { duplicate, type FieldError, invalid, notSupported, required, tooLong, tooMany } from "../field-error.ts";
import { fitsFormat } from "./formats.ts";
import { compilePattern, StepBudget } from "./pattern.ts";
import { schemaOf } from "./prune.ts";
import { additionalOf, itemsOf, type SchemaProps } from "./schema-props.ts";

export type PathStep = string | number;

/** An error, and the value that it is about: what did not change since the stored object may stay wrong. */
export interface Problem {
	readonly error: FieldError;
	/** Absent: about several values at once. */
	readonly subject?: readonly PathStep[];
}

/** Where a real server has no path to tell. */
const NO_PATH = "<nil>";
/** Schemas applied to values: about a second. */
const CHECKS_MAX = 5_000_000;
/** Nobody reads more. */
const PROBLEMS_MAX = 200;

export function schemaProblems(value: unknown, schema: SchemaProps): readonly Problem[] {
	const validator = new SchemaValidator();
	validator.check(value, schema, [], true);
	return validator.problems;
}

class SchemaValidator {
	problems: Problem[] = [];
	#checks = 0;
	readonly #steps: StepBudget;

	constructor(steps: StepBudget = new StepBudget()) {
		this.#steps = steps;
	}

	check(value: unknown, schema: SchemaProps, path: readonly PathStep[], isRoot = false): void {
		this.#checks++;
		if (this.#checks > CHECKS_MAX || this.problems.length >= PROBLEMS_MAX) {
			if (this.#checks === CHECKS_MAX + 1)
				this.#add(path, invalid(NO_PATH, "", "the object is too large for its schema to be checked"));
			return;
		}
		if (value === null && schema.nullable === true) return;
		if (!this.#fitsType(value, schema, path)) return;
		this.#junctors(value, schema, path);
		if (typeof value === "string") this.#text(value, schema, path);
		if (typeof value === "number") this.#number(value, schema, path);
		if (Array.isArray(value)) this.#list(value, schema, path);
		this.#enum(value, schema, path);
		if (isObject(value)) this.#object(value, schema, path, isRoot);
	}

	#add(subject: readonly PathStep[], error: FieldError): void {
		this.problems.push({ error, subject });
	}

	#invalid(value: unknown, path: readonly PathStep[], why: string): void {
		const field = pathText(path);
		this.#add(path, invalid(field, value, `${field} in body ${why}`));
	}

	#fitsType(value: unknown, schema: SchemaProps, path: readonly PathStep[]): boolean {
		const types = typesOf(schema);
		if (types.length === 0) return true;
		const found = jsonTypeOf(value);
		if (types.some((type) => type === found || (type === "number" && found === "integer"))) return true;
		const field = pathText(path);
		const detail = `${field} in body must be of type ${types.join(",")}: ${JSON.stringify(found)}`;
		this.#add(path, { ...invalid(field, found, detail), type: "TypeInvalid" });
		return false;
	}

	#text(value: string, schema: SchemaProps, path: readonly PathStep[]): void {
		const { maxLength, minLength, pattern, format } = schema;
		const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
		if (maxLength !== undefined && length > maxLength) this.#add(path, tooLong(pathText(path), maxLength));
		if (minLength !== undefined && length < minLength) {
			this.#invalid(value, path, `should be at least ${minLength} chars long`);
		}
		if (pattern !== undefined) this.#pattern(value, pattern, path);
		if (format !== undefined && !fitsFormat(format, value)) {
			const field = pathText(path);
			const why = `${field} in body must be of type ${format}: ${JSON.stringify(value)}`;
			this.#add(path, { ...invalid(field, value, why), type: "TypeInvalid" });
		}
	}

	#pattern(value: string, pattern: string, path: readonly PathStep[]): void {
		const compiled = compilePattern(pattern);
		const fits = compiled.kind === "pattern" ? compiled.pattern.matches(value, this.#steps) : false;
		if (fits === false) this.#invalid(value, path, `should match '${pattern}'`);
		if (fits === undefined) this.#invalid(value, path, "is too long for its pattern to be checked");
	}

	#number(value: number, schema: SchemaProps, path: readonly PathStep[]): void {
		const { maximum, minimum, multipleOf, format } = schema;
		if (Number.isInteger(value) && !Number.isSafeInteger(value) && typesOf(schema).includes("integer")) {
			this.#invalid(
				value,
				path,
				`must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} on this server`,
			);
			return;
		}
		if (format !== undefined && !fitsNumberFormat(format, value)) {
			const where = pathText(path);
			const type = schema.type ?? "number";
			this.#add(path, invalid(NO_PATH, "", `Checked value must be of type ${type} with format ${format} in ${where}`));
		}
		if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
			this.#invalid(value, path, `should be a multiple of ${multipleOf}`);
		}
		if (maximum !== undefined && isBeyond(value, maximum, schema.exclusiveMaximum)) {
			this.#invalid(value, path, `should be less than ${orEqual(schema.exclusiveMaximum)}${maximum}`);
		}
		if (minimum !== undefined && isBeyond(-value, -minimum, schema.exclusiveMinimum)) {
			this.#invalid(value, path, `should be greater than ${orEqual(schema.exclusiveMinimum)}${minimum}`);
		}
	}

	#list(value: readonly unknown[], schema: SchemaProps, path: readonly PathStep[]): void {
		const { minItems, maxItems } = schema;
		if (minItems !== undefined && value.length < minItems) {
			this.#invalid(value.length, path, `should have at least ${minItems} items`);
		}
		if (maxItems !== undefined && value.length > maxItems) {
			this.#add(path, tooMany(pathText(path), value.length, maxItems));
		}
		const inner = itemsOf(schema);
		if (inner !== undefined) for (const [index, item] of value.entries()) this.check(item, inner, [...path, index]);
	}

	#enum(value: unknown, schema: SchemaProps, path: readonly PathStep[]): void {
		const { enum: allowed } = schema;
		if (allowed === undefined || allowed.some((each) => deepEqual(each, value))) return;
		this.#add(path, notSupported(pathText(path), value, enumTexts(allowed)));
	}

	#object(value: Record<string, unknown>, schema: SchemaProps, path: readonly PathStep[], isRoot: boolean): void {
		const { minProperties, maxProperties } = schema;
		const keys = Object.keys(value);
		if (minProperties !== undefined && keys.length < minProperties) {
			this.#invalid(keys.length, path, `should have at least ${minProperties} properties`);
		}
		if (maxProperties !== undefined && keys.length > maxProperties) {
			this.#add(path, tooMany(pathText(path), keys.length, maxProperties));
		}
		for (const name of schema.required ?? []) {
			if (!Object.hasOwn(value, name)) this.#add(path, required(pathText([...path, name]), ""));
		}
		if (schema["x-kubernetes-embedded-resource"] === true) this.#embedded(value, path);
		const additional = additionalOf(schema);
		for (const key of keys) {
			const inner = schemaOf(schema, key) ?? additional;
			// The metadata of the object itself has rules of its own.
			if (inner !== undefined && !(isRoot && key === "metadata")) this.check(value[key], inner, [...path, key]);
		}
	}

	#embedded(value: Record<string, unknown>, path: readonly PathStep[]): void {
		for (const name of ["apiVersion", "kind"]) {
			const given = ownValue(value, name);
			if (given === undefined || given === "")
				this.#add(path, required(pathText([...path, name]), "must not be empty"));
		}
	}

	#junctors(value: unknown, schema: SchemaProps, path: readonly PathStep[]): void {
		const { anyOf, oneOf, allOf, not } = schema;
		const where = JSON.stringify(pathText(path));
		if (anyOf !== undefined && schema["x-kubernetes-int-or-string"] !== true) {
			const results = anyOf.map((option) => this.#tried(value, option, path));
			if (results.every((result) => result.length > 0)) {
				this.#junctor(`${where} must validate at least one schema (anyOf)`, results[0] ?? []);
			}
		}
		if (oneOf !== undefined) this.#oneOf(value, oneOf, path, where);
		if (allOf !== undefined) this.#allOf(value, allOf, path, where);
		if (not !== undefined && this.#tried(value, not, path).length === 0) {
			this.#junctor(`${where} must not validate the schema (not)`, []);
		}
	}

	#oneOf(value: unknown, options: readonly SchemaProps[], path: readonly PathStep[], where: string): void {
		const results = options.map((option) => this.#tried(value, option, path));
		const fits = results.filter((result) => result.length === 0).length;
		if (fits === 1) return;
		const found = fits === 0 ? "Found none valid" : `Found ${fits} valid alternatives`;
		this.#junctor(
			`${where} must validate one and only one schema (oneOf). ${found}`,
			fits === 0 ? (results[0] ?? []) : [],
		);
	}

	#allOf(value: unknown, parts: readonly SchemaProps[], path: readonly PathStep[], where: string): void {
		const results = parts.map((part) => this.#tried(value, part, path));
		const fits = results.filter((result) => result.length === 0).length;
		if (fits === parts.length) return;
		const none = fits === 0 ? ". None validated" : "";
		this.#junctor(`${where} must validate all the schemas (allOf)${none}`, results.flat());
	}

	/** About several values at once: none of it may stay because it was so before. */
	#junctor(why: string, causes: readonly Problem[]): void {
		this.problems.push({ error: invalid(NO_PATH, "", why) }, ...causes.map(({ error }) => ({ error })));
	}

	#tried(value: unknown, schema: SchemaProps, path: readonly PathStep[]): readonly Problem[] {
		const before = this.problems;
		this.problems = [];
		this.check(value, schema, path);
		const found = this.problems;
		this.problems = before;
		return found;
	}
}

function typesOf(schema: SchemaProps): readonly string[] {
	if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
	return schema.type === undefined ? [] : [schema.type];
}

export function jsonTypeOf(value: unknown): string {
	if (value === null || value === undefined) return "null";
	if (Array.isArray(value)) return "array";
	if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
	return typeof value === "string" || typeof value === "boolean" ? typeof value : "object";
}

function isBeyond(value: number, limit: number, isExclusive: boolean | undefined): boolean {
	return isExclusive === true ? value >= limit : value > limit;
}

function orEqual(isExclusive: boolean | undefined): string {
	return isExclusive === true ? "" : "or equal to ";
}

function fitsNumberFormat(format: string, value: number): boolean {
	switch (format) {
		case "int32":
			return value >= -(2 ** 31) && value < 2 ** 31;
		case "uint32":
			return value >= 0 && value < 2 ** 32;
		case "int64":
			return value >= -(2 ** 63) && value < 2 ** 63;
		case "uint64":
			return value >= 0 && value < 2 ** 64;
		default:
			return true;
	}
}

function isMultiple(value: number, factor: number): boolean {
	const quotient = value / factor;
	// 0.3 is a multiple of 0.1 for everyone but binary numbers.
	return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

/** `spec.ports[0].name`; "" for the object itself. */
export function pathText(path: readonly PathStep[]): string {
	return path.reduce<string>((text, step) => {
		if (typeof step === "number") return `${text}[${step}]`;
		return text === "" ? step : `${text}.${step}`;
	}, "");
}

/** Lists that are sets have no value twice, those that are maps no key. */
export function listTypeProblems(value: unknown, schema: SchemaProps, path: readonly PathStep[] = []): Problem[] {
	if (Array.isArray(value)) {
		const inner = itemsOf(schema);
		const below =
			inner === undefined ? [] : value.flatMap((item, index) => listTypeProblems(item, inner, [...path, index]));
		return [...repeated(value, schema, path), ...below];
	}
	if (!isObject(value)) return [];
	const additional = additionalOf(schema);
	return Object.keys(value).flatMap((key) => {
		const inner = schemaOf(schema, key) ?? additional;
		return inner === undefined ? [] : listTypeProblems(value[key], inner, [...path, key]);
	});
}

const enumTextsOf = new WeakMap<object, readonly string[]>();

/** Once for all items of a list that are none of them. */
function enumTexts(allowed: readonly unknown[]): readonly string[] {
	const texts =
		enumTextsOf.get(allowed) ?? allowed.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
	enumTextsOf.set(allowed, texts);
	return texts;
}

function repeated(value: readonly unknown[], schema: SchemaProps, path: readonly PathStep[]): Problem[] {
	const type = schema["x-kubernetes-list-type"];
	if (type !== "set" && type !== "map") return [];
	const keys = schema["x-kubernetes-list-map-keys"] ?? [];
	const seen = new Set<string>();
	return value.flatMap((item, index) => {
		const identity = type === "set" ? item : keyOfItem(item, keys);
		const text = canonicalText(identity);
		if (!seen.has(text)) {
			seen.add(text);
			return [];
		}
		return [{ error: duplicate(pathText([...path, index]), identity), subject: path }];
	});
}

/** The keys by which an item of a list-map is told from others; those that are absent are left out. */
export function keyOfItem(item: unknown, keys: readonly string[]): unknown {
	if (!isObject(item)) return item;
	return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

/** The same text for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
	return JSON.stringify(value, (_, inner: unknown) =>
		isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
	);
}
