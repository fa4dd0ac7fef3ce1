/** Where the next page of a list starts: opaque to clients, in the form that a real server uses. */

import { badRequest } from "../api/status.ts";
import { isObject } from "../kernel/json.ts";
import type { Revision } from "../store/entry.ts";

export interface ContinueToken {
	readonly revision: Revision;
	readonly start: string;
}

export function continueToken(revision: Revision, start: string): string {
	const json = JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start });
	const bytes = new TextEncoder().encode(json);
	return btoa(String.fromCharCode(...bytes))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/**
 * @param newest The newest revision there is: no page was cut from a later one.
 * @throws {ApiError} `BadRequest` for anything that `continueToken` did not make.
 */
export function parseContinueToken(text: string, newest: Revision): ContinueToken {
	const value = decoded(text);
	const isToken = isObject(value) && typeof value["start"] === "string" && Number.isSafeInteger(value["rv"]);
	if (!isToken || Number(value["rv"]) > newest) {
		throw badRequest(
			`invalid continue token: ${JSON.stringify(text)}: take it from metadata.continue of the page before`,
		);
	}
	return { revision: Number(value["rv"]), start: String(value["start"]) };
}

function decoded(text: string): unknown {
	try {
		const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
		const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
		return JSON.parse(new TextDecoder().decode(bytes));
	} catch {
		return undefined;
	}
}
