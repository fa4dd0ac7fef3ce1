/**
 * Field selectors: `metadata.name=web,status.phase!=Running`. Each kind says which fields it has;
 * a comma means "and", a backslash takes the meaning from `,`, `=` and `\` in values.
 */
import { ownValue } from "../kernel/json.ts";
import type { ResourceType } from "./resource.ts";
import { badRequest } from "./status.ts";
import type { KubeObject } from "./types/meta.ts";

export interface FieldRequirement {
	readonly field: string;
	readonly operator: "=" | "!=";
	readonly value: string;
}

type SelectableType = Pick<ResourceType, "fieldLabels" | "namespaced" | "fields">;

/** @throws {ApiError} `BadRequest` for bad syntax, and for a field that the kind cannot select by. */
export function parseFieldSelector(text: string, type: SelectableType): readonly FieldRequirement[] {
	return termsOf(text)
		.filter((term) => term !== "")
		.map((term) => parseTerm(text, term, type));
}

/**
 * The one name that a selector leaves, "" when it leaves more: a list or watch of it is one of that object alone, so
 * whoever may read only this object may ask for it. @see apiserver's RequestInfo
 */
export function selectedName(text: string): string {
	const value = termsOf(text).flatMap((term) => /^metadata\.name==?([\s\S]*)$/.exec(term)?.[1] ?? [])[0] ?? "";
	return /^[^=%/\\]+$/.test(value) && value !== "." && value !== ".." ? value : "";
}

/** Splits at commas that no backslash precedes. */
function termsOf(text: string): readonly string[] {
	return text.match(/(?:\\[\s\S]?|[^,\\])+/g) ?? [];
}

function parseTerm(text: string, term: string, type: SelectableType): FieldRequirement {
	const match = /^(.*?)(!=|==|=)([\s\S]*)$/.exec(term);
	if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
	const [, field = "", operator, value = ""] = match;
	checkField(field, type);
	return { field, operator: operator === "!=" ? "!=" : "=", value: unescaped(value) };
}

function unescaped(value: string): string {
	const bad = /\\(?![\\,=])[\s\S]?/.exec(value.replace(/\\[\\,=]/g, ""));
	if (bad !== null) throw badRequest(`invalid field selector: invalid escape sequence: ${bad[0]}`);
	if (/=/.test(value.replace(/\\[\\,=]/g, ""))) {
		throw badRequest("invalid field selector: unescaped character in value: =");
	}
	return value.replace(/\\([\\,=])/g, "$1");
}

/** Kinds with fields of their own refuse in other words than those without. */
function checkField(field: string, type: SelectableType): void {
	if (type.fieldLabels.includes(field) || field === "metadata.name") return;
	const hasOwn = type.fieldLabels.length > 0;
	if (field === "metadata.namespace" && (type.namespaced || !hasOwn)) return;
	throw badRequest(
		hasOwn
			? `field label not supported: ${field}`
			: `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
	);
}

/** A field without a value compares as the empty string. */
export function matchesFields(
	requirements: readonly FieldRequirement[],
	type: SelectableType,
	object: KubeObject,
): boolean {
	if (requirements.length === 0) return true;
	const values: Readonly<Record<string, string | undefined>> = {
		...type.fields(object),
		"metadata.name": object.metadata.name,
		"metadata.namespace": object.metadata.namespace,
	};
	return requirements.every(({ field, operator, value }) => {
		return ((ownValue(values, field) ?? "") === value) === (operator === "=");
	});
}
