/** One thing that was found, with what shows it and what to do. */
import { type CodeName, codeOf, type Severity } from "./codes.ts";

/** Where it can be seen: `Service/web`, a field path, and the value there. */
export interface Evidence {
	readonly object: string;
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
	/** A command, or what to change. */
	readonly fix?: string;
}

export function finding(name: CodeName, text: string, evidence: readonly Evidence[], fix?: string): Finding {
	const { code, severity } = codeOf(name);
	return { code, name, severity, text, evidence, ...(fix === undefined ? {} : { fix }) };
}

/** Names of a list, of which only the first few are told. */
export function few(names: readonly string[], most = 3): string {
	const shown = names.slice(0, most).join(", ");
	return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
