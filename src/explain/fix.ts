/** What to do about a finding: a command or patch that can be pasted where the right value is known, else words. */

export interface FixTarget {
	readonly kind: string;
	/** Undefined: it is in none. */
	readonly namespace?: string;
	readonly name: string;
}

export interface Fix {
	/** What it does, or what to look at where nobody but you can know the right value. */
	readonly advice?: string;
	/** To be pasted into a shell: names and values are quoted. */
	readonly command?: string;
	/** The same as data. */
	readonly patch?: unknown;
	readonly patchType?: "merge" | "json";
	readonly target?: FixTarget;
}

export function advice(text: string): Fix {
	return { advice: text };
}

/** @param words Of `kubectl`, each quoted if need be. */
export function kubectl(words: readonly string[], text?: string): Fix {
	return { ...(text === undefined ? {} : { advice: text }), command: commandOf(words) };
}

/** One after the other, as long as they succeed. */
export function inTurn(fixes: readonly Fix[], text: string): Fix {
	return { advice: text, command: fixes.flatMap(({ command }) => command ?? []).join(" && ") };
}

/** @param patch Of objects a merge patch; a list is a JSON patch. */
export function patchFix(target: FixTarget, patch: object, text?: string): Fix {
	const patchType = Array.isArray(patch) ? "json" : "merge";
	const words = [...inNamespace(target.namespace), "patch", kindWord(target.kind), target.name];
	const command = commandOf([...words, `--type=${patchType}`, "-p", JSON.stringify(patch)]);
	return { ...(text === undefined ? {} : { advice: text }), command, patch, patchType, target };
}

/** @param value null takes the label away. */
export function labelFix(target: FixTarget, [label, value]: readonly [string, string | null], text?: string): Fix {
	const word = value === null ? `${label}-` : `${label}=${value}`;
	const words = [...inNamespace(target.namespace), "label", kindWord(target.kind), target.name, word];
	const command = commandOf(value === null ? words : [...words, "--overwrite"]);
	const patch = { metadata: { labels: { [label]: value } } };
	return { ...(text === undefined ? {} : { advice: text }), command, patch, patchType: "merge", target };
}

function inNamespace(namespace: string | undefined): readonly string[] {
	return namespace === undefined || namespace === "" ? [] : ["-n", namespace];
}

function kindWord(kind: string): string {
	return kind.toLowerCase();
}

function commandOf(words: readonly string[]): string {
	return ["kubectl", ...words].map(shellWord).join(" ");
}

/** Files may hold any name: nothing of one is left to the shell. */
function shellWord(word: string): string {
	return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
