/** The words of a refused apply, as clients show them to people. */
import { compareStrings } from "../../kernel/order.ts";
import { ApiError, type StatusCause } from "../status.ts";
import type { Conflict } from "./apply-config.ts";
import { pathsOf } from "./field-set.ts";
import type { Ownership } from "./managed-fields.ts";
import { elementText } from "./path-element.ts";

export function conflictError(conflicts: readonly Conflict[]): ApiError {
	const found = conflicts
		.map(({ owner, fields }) => ({ owner: ownerText(owner), paths: pathsOf(fields).map(pathText) }))
		.sort((a, b) => compareStrings(a.owner, b.owner));
	const causes: readonly StatusCause[] = found.flatMap(({ owner, paths }) =>
		paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${owner}`, field })),
	);
	return new ApiError("Conflict", messageOf(found, causes), { details: { causes } });
}

function messageOf(
	found: readonly { readonly owner: string; readonly paths: readonly string[] }[],
	causes: readonly StatusCause[],
): string {
	const [only, second] = causes;
	if (only !== undefined && second === undefined) return `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
	const lines = found.flatMap(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)]);
	return `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`;
}

export function pathText(path: readonly string[]): string {
	return path.map(elementText).join("");
}

function ownerText({ manager = "", operation, apiVersion, subresource = "" }: Ownership): string {
	const name = JSON.stringify(manager) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
	return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
