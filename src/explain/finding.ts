/** One thing that was found, with what shows it and what to do. */
import { type CodeName, codeOf, type Severity } from "./codes.ts";
import { advice, type Fix } from "./fix.ts";

/** Where it can be seen: `Service/web`, a field path, and the value there. */
export interface Evidence {
	readonly object: string;
	/** When it is not the Service's. */
	readonly namespace?: string;
	readonly field?: string;
	readonly value?: string;
}

export interface Finding {
	readonly code: string;
	readonly name: CodeName;
	readonly severity: Severity;
	/** A sentence about this very Service. */
	readonly text: string;
	readonly evidence: readonly Evidence[];
	readonly fix?: Fix;
}

/** A message of somebody else that ends in a dot, at the end of a sentence. */
const TWO_DOTS = /(?<!\.)\.\.(?=\s|$)/g;

/** @param fix Words alone are advice. */
export function finding(name: CodeName, text: string, evidence: readonly Evidence[], fix?: Fix | string): Finding {
	const { code, severity } = codeOf(name);
	return {
		code,
		name,
		severity,
		text: text.replaceAll(TWO_DOTS, "."),
		evidence,
		...(fix === undefined ? {} : { fix: typeof fix === "string" ? advice(fix) : fix }),
	};
}

/** Names of a list, of which only the first few are told. */
export function few(names: readonly string[], most = 3): string {
	const shown = names.slice(0, most).join(", ");
	return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** An error is in the way; `unknown`: what decides was not looked at; a warning is in the way of some, or will be. */
export type Verdict = "error" | "unknown" | "warning" | "ok";

export const VERDICTS: readonly Verdict[] = ["error", "warning", "unknown", "ok"];

/** @param isUnknown What decides was not looked at. */
export function verdictOf(cause: Finding | undefined, findings: readonly Finding[], isUnknown: boolean): Verdict {
	if (cause?.severity === "error") return "error";
	if (isUnknown) return "unknown";
	return cause === undefined && findings.some(({ severity }) => severity === "warning") ? "warning" : "ok";
}
