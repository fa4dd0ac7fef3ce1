/** An explanation as text for people; lines are at most `width` characters. */
import type { ChainStep, Explanation } from "./explain.ts";
import type { Finding } from "./finding.ts";

export interface TextOptions {
	readonly width: number;
	/** Whether severities are coloured. */
	readonly isColoured: boolean;
}

const COLOURS = { error: "\u001b[31m", warning: "\u001b[33m", info: "\u001b[36m", ok: "\u001b[32m" } as const;
const RESET = "\u001b[0m";

export function explanationText(explanation: Explanation, options: TextOptions): string {
	const { service, findings, chain, missing } = explanation;
	return [
		`${service}: ${verdictText(explanation, options)}`,
		...findings.flatMap((each) => findingLines(each, options)),
		...(chain.length === 0 ? [] : ["", ...chain.flatMap((step) => chainLines(step, options))]),
		...(missing.length === 0 ? [] : ["", `Not looked at: ${missing.join(", ")}.`]),
		"",
	].join("\n");
}

/** One line: for lists of many. */
export function verdictText({ cause, findings }: Explanation, { isColoured }: TextOptions): string {
	const severity = cause?.severity ?? (findings.some(({ severity: own }) => own === "warning") ? "warning" : undefined);
	const word = severity === undefined || severity === "info" ? "ok" : severity;
	const colour = isColoured ? COLOURS[word === "ok" ? "ok" : word] : "";
	const shown = `${colour}${word}${isColoured ? RESET : ""}`;
	const [first] = findings;
	if (word === "ok") return cause === undefined ? shown : `${shown} (${cause.name})`;
	return `${shown} ${(cause ?? first)?.code} ${(cause ?? first)?.name}`;
}

function findingLines({ severity, code, name, text, evidence, fix }: Finding, options: TextOptions): readonly string[] {
	const head = options.isColoured ? `${COLOURS[severity]}${severity}${RESET}` : severity;
	const seen = evidence.map(({ object, field, value }) =>
		[object, field, value === undefined || value === "" ? undefined : `= ${value}`]
			.filter((part) => part !== undefined)
			.join(" "),
	);
	return [
		"",
		`${head} ${code} ${name}`,
		...wrapped(text, "  ", options.width),
		...seen.flatMap((line) => wrapped(`- ${line}`, "  ", options.width)),
		...(fix === undefined ? [] : wrapped(`fix: ${fix}`, "  ", options.width)),
	];
}

const LINK_WIDTH = 16;

function chainLines({ link, text }: ChainStep, { width }: TextOptions): readonly string[] {
	const [first = "", ...more] = wrapped(text, " ".repeat(LINK_WIDTH), width);
	return [`${link.padEnd(LINK_WIDTH)}${first.trimStart()}`, ...more];
}

/** Words are kept whole, also those that are longer than a line. */
function wrapped(text: string, indent: string, width: number): readonly string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of text.split(" ")) {
		if (line !== "" && indent.length + line.length + 1 + word.length > width) {
			lines.push(indent + line);
			line = word;
		} else line = line === "" ? word : `${line} ${word}`;
	}
	return [...lines, indent + line];
}
