/** Query parameters of reads and writes. */
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from "../../api/field-error.ts";
import { badRequest, invalidObject } from "../../api/status.ts";
import { utf8 } from "../../kernel/bytes.ts";
import { isObject, ownValue } from "../../kernel/json.ts";
import type { FieldValidation, WriteFlags } from "../ports.ts";
import type { DeleteFlags } from "../verbs/delete.ts";
import type { ListQuery } from "../verbs/list.ts";
import type { WatchQuery } from "../watch/watch-query.ts";

/** Absent is false, `0` and `false` are false, and anything else, the empty string included, is true. */
export function booleanOf(query: URLSearchParams, name: string): boolean {
	const value = query.get(name);
	return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

function textOf(query: URLSearchParams, name: string): string | undefined {
	const value = query.get(name);
	return value === null || value === "" ? undefined : value;
}

/** @throws {ApiError} `BadRequest` */
function wholeNumberOf(query: URLSearchParams, name: string): number | undefined {
	const value = textOf(query, name);
	if (value === undefined) return undefined;
	if (!/^-?\d{1,15}$/.test(value)) {
		throw badRequest(
			`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax: ${name} must be a whole number`,
		);
	}
	return Number(value);
}

function defined<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
	return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
		[K in keyof T]: Exclude<T[K], undefined>;
	};
}

export function listQueryOf(query: URLSearchParams): ListQuery {
	return defined({
		labelSelector: textOf(query, "labelSelector"),
		fieldSelector: textOf(query, "fieldSelector"),
		resourceVersion: textOf(query, "resourceVersion"),
		resourceVersionMatch: textOf(query, "resourceVersionMatch"),
		limit: wholeNumberOf(query, "limit"),
		continueToken: textOf(query, "continue"),
		sendInitialEvents: query.has("sendInitialEvents") ? booleanOf(query, "sendInitialEvents") : undefined,
	} as const) as ListQuery;
}

export function watchQueryOf(query: URLSearchParams): WatchQuery {
	return {
		...(defined({
			labelSelector: textOf(query, "labelSelector"),
			fieldSelector: textOf(query, "fieldSelector"),
			resourceVersion: textOf(query, "resourceVersion"),
			resourceVersionMatch: textOf(query, "resourceVersionMatch"),
			timeoutSeconds: wholeNumberOf(query, "timeoutSeconds"),
			sendInitialEvents: query.has("sendInitialEvents") ? booleanOf(query, "sendInitialEvents") : undefined,
		}) as Omit<WatchQuery, "allowWatchBookmarks">),
		allowWatchBookmarks: booleanOf(query, "allowWatchBookmarks"),
	};
}

const FIELD_VALIDATIONS = ["Ignore", "Strict", "Warn"] as const;

/** Bytes. */
const FIELD_MANAGER_MAX = 128;

function fieldManagerErrors(name: string): readonly FieldError[] {
	return [
		...(utf8(name).length > FIELD_MANAGER_MAX ? [tooLong("fieldManager", FIELD_MANAGER_MAX)] : []),
		...(/[\p{C}\p{Zl}\p{Zp}]/u.test(name)
			? [invalid("fieldManager", name, "should only contain printable characters")]
			: []),
	];
}

/**
 * @param optionsKind An apply has the PatchOptions with rules of its own.
 * @throws {ApiError} `Invalid` on CreateOptions, UpdateOptions or PatchOptions.
 */
export function writeFlagsOf(
	query: URLSearchParams,
	optionsKind: "CreateOptions" | "UpdateOptions" | "PatchOptions" | "ApplyOptions",
): WriteFlags {
	const isApply = optionsKind === "ApplyOptions";
	const errors: FieldError[] = [];
	const dryRuns = query.getAll("dryRun").filter((value) => value !== "");
	if (dryRuns.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRuns, ["All"]));
	const asked = textOf(query, "fieldValidation") ?? "Warn";
	const fieldValidation: FieldValidation | undefined = FIELD_VALIDATIONS.find((value) => value === asked);
	if (fieldValidation === undefined) {
		errors.push(notSupported("fieldValidation", asked, ["", ...FIELD_VALIDATIONS]));
	}
	if (optionsKind === "PatchOptions" && query.has("force")) {
		errors.push(forbidden("force", "may not be specified for non-apply patch"));
	}
	const fieldManager = textOf(query, "fieldManager") ?? "";
	if (isApply && fieldManager === "") errors.push(required("fieldManager", "is required for apply patch"));
	errors.push(...fieldManagerErrors(fieldManager));
	const kind = isApply ? "PatchOptions" : optionsKind;
	if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", kind }, "", errors);
	return {
		dryRun: dryRuns.length > 0,
		fieldValidation: fieldValidation ?? "Warn",
		...(fieldManager === "" ? {} : { fieldManager }),
		...(isApply ? { force: booleanOf(query, "force") } : {}),
	};
}

/** Options come from the body, or, when that is empty, from the query. @throws {ApiError} */
export function deleteFlagsOf(body: unknown, query: URLSearchParams): DeleteFlags {
	const options = body === undefined ? optionsFromQuery(query) : body;
	if (!isObject(options)) throw badRequest("the body of a delete must be DeleteOptions, an object");
	const preconditions = ownValue(options, "preconditions");
	return {
		...defined({
			gracePeriodSeconds: numberIn(options, "gracePeriodSeconds"),
			propagationPolicy: stringIn(options, "propagationPolicy"),
			orphanDependents: booleanIn(options, "orphanDependents"),
			preconditions: isObject(preconditions)
				? defined({ uid: stringIn(preconditions, "uid"), resourceVersion: stringIn(preconditions, "resourceVersion") })
				: undefined,
		}),
		dryRun: isDryRun(ownValue(options, "dryRun"), query),
	} as DeleteFlags;
}

function optionsFromQuery(query: URLSearchParams): Record<string, unknown> {
	return {
		gracePeriodSeconds: wholeNumberOf(query, "gracePeriodSeconds"),
		propagationPolicy: textOf(query, "propagationPolicy"),
		orphanDependents: query.has("orphanDependents") ? booleanOf(query, "orphanDependents") : undefined,
	};
}

function isDryRun(asked: unknown, query: URLSearchParams): boolean {
	const values = [...(Array.isArray(asked) ? asked : []), ...query.getAll("dryRun").filter((value) => value !== "")];
	if (values.some((value) => value !== "All")) {
		const error = notSupported("dryRun", values, ["All"]);
		throw invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [error]);
	}
	return values.length > 0;
}

function numberIn(options: object, name: string): number | undefined {
	const value = ownValue(options, name) ?? undefined;
	if (value === undefined || Number.isSafeInteger(value)) return value as number | undefined;
	throw wrongOption(name, value, "int64");
}

function stringIn(options: object, name: string): string | undefined {
	const value = ownValue(options, name) ?? undefined;
	if (value === undefined || typeof value === "string") return value;
	throw wrongOption(name, value, "string");
}

function booleanIn(options: object, name: string): boolean | undefined {
	const value = ownValue(options, name) ?? undefined;
	if (value === undefined || typeof value === "boolean") return value;
	throw wrongOption(name, value, "bool");
}

function wrongOption(name: string, value: unknown, type: string): Error {
	const found = Array.isArray(value) ? "array" : typeof value;
	return badRequest(
		'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: json: cannot unmarshal ' +
			`${found} into Go struct field DeleteOptions.${name} of type ${type}`,
	);
}
