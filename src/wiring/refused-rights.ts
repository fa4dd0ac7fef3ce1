/** What a part is not allowed to do, in words that say which manifest gives the right: a missing role is no silence. */
import type { ApiError } from "../api/status.ts";

/** Each has a manifest in deploy/. */
export type Part = "controllers" | "kubelet" | "proxy" | "dns" | "explain" | "watch-cost";

function onStderr(line: string): void {
	process.stderr.write(`${line}\n`);
}

/** More different rights than any part needs. */
const TOLD_MAX = 200;

/** Tells each right once, however often it is asked for. */
export function refusalTeller(part: Part, tell: (line: string) => void = onStderr): (error: ApiError) => void {
	const told = new Set<string>();
	return (error) => {
		const right = missingRight(error.message);
		if (right === undefined || told.has(right.key) || told.size >= TOLD_MAX) return;
		told.add(right.key);
		tell(`not allowed: ${right.text}; what ${part} needs is in deploy/${part}.yaml`);
	};
}

/**
 * Undefined for what is forbidden by something else than roles, such as a namespace that is being deleted.
 *
 * A role is for any name, and mostly for any namespace: the key leaves these out.
 */
function missingRight(message: string): { readonly key: string; readonly text: string } | undefined {
	const [text, key = ""] = /User "[^"]*" cannot (\S+ resource "[^"]*" in API group "[^"]*").*/s.exec(message) ?? [];
	return text === undefined ? undefined : { key, text };
}
