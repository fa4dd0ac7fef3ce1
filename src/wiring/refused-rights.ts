/** What a part is not allowed to do, in words that say which manifest gives the right: a missing role is no silence. */
import type { ApiError } from "../api/status.ts";

/** Each has a manifest in deploy/. */
export type Part = "controllers" | "kubelet" | "proxy" | "dns" | "explain" | "watch-cost";

export function onStderr(line: string): void {
	process.stderr.write(`${line}\n`);
}

/** More different rights than any part needs. */
const TOLD_MAX = 200;

export interface MissingRight {
	readonly user: string;
	readonly verb: string;
	/** `pods`, `deployments.apps` */
	readonly resource: string;
	readonly key: string;
	/** As the server says it. */
	readonly text: string;
}

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
export function missingRight(message: string): MissingRight | undefined {
	const [text, user = "", verb = "", plural = "", group = ""] =
		/User "([^"]*)" cannot (\S+) resource "([^"]*)" in API group "([^"]*)".*/s.exec(message) ?? [];
	if (text === undefined) return undefined;
	const resource = group === "" ? plural : `${plural}.${group}`;
	return { user, verb, resource, key: `${verb} ${resource}`, text };
}
