/** An explanation as text for people; lines are at most `width` characters, but for commands, which are to be pasted. */
import type { ChainStep } from "./chain.ts";
import type { Explanation } from "./explain.ts";
import { type Evidence, type Finding, VERDICTS } from "./finding.ts";
import type { Fix } from "./fix.ts";

export interface TextOptions {
	readonly width: number;
	/** Whether severities are coloured. */
	readonly isColoured: boolean;
}

const COLOURS = {
	error: "\u001b[31m",
	warning: "\u001b[33m",
	info: "\u001b[36m",
	unknown: "\u001b[35m",
	ok: "\u001b[32m",
} as const;
const RESET = "\u001b[0m";

export function explanationText(explanation: Explanation, options: TextOptions): string {
	const { service, findings, chain, missing } = explanation;
	return [
		`${printable(service)}: ${verdictText(explanation, options)}`,
		...findings.flatMap((each) => findingLines(each, options)),
		...(chain.length === 0 ? [] : ["", ...chain.flatMap((step) => chainLines(step, options))]),
		...missingLines(missing, options),
		"",
	].join("\n");
}

/** A line of a list of many. */
export function listLine(explanation: Explanation, options: TextOptions): string {
	return `${printable(explanation.service)}: ${verdictText(explanation, options)}`;
}

/** After an empty line; none when everything was looked at. */
export function missingLines(missing: readonly string[], { width }: TextOptions): readonly string[] {
	return missing.length === 0 ? [] : ["", ...wrapped(`Not looked at: ${missing.join(", ")}.`, "", width)];
}

/** One line. */
export function verdictText(explanation: Explanation, options: TextOptions): string {
	const { verdict: word, unknown, cause, findings } = explanation;
	const shown = coloured(word, word, options);
	const first = cause ?? findings[0];
	if (word === "unknown") return `${shown} (${unknown ?? ""})`;
	if (word === "ok") return cause === undefined ? shown : `${shown} (${cause.name})`;
	return `${shown} ${first?.code} ${first?.name}`;
}

/** The last line of a list of many. */
export function totalsText(all: readonly Explanation[], options: TextOptions): string {
	const counts = VERDICTS.map((word) => {
		const count = all.filter(({ verdict }) => verdict === word).length;
		return count === 0 ? `0 ${word}` : coloured(word, `${count} ${word}`, options);
	});
	return `${all.length} ${all.length === 1 ? "Service" : "Services"}: ${counts.join(", ")}`;
}

function coloured(severity: keyof typeof COLOURS, text: string, { isColoured }: TextOptions): string {
	return isColoured ? `${COLOURS[severity]}${text}${RESET}` : text;
}

/** Files and Events may hold anything, and a terminal obeys control characters. */
function printable(text: string): string {
	return text.replaceAll(/\p{Cc}+/gu, " ");
}

function findingLines({ severity, code, name, text, evidence, fix }: Finding, options: TextOptions): readonly string[] {
	return [
		"",
		`${coloured(severity, severity, options)} ${code} ${name}`,
		...wrapped(text, "  ", options.width),
		...evidence.flatMap((each) => wrapped(`- ${evidenceText(each)}`, "  ", options.width)),
		...(fix === undefined ? [] : fixLines(fix, options)),
	];
}

export function evidenceText({ object, namespace, field, value }: Evidence): string {
	const where = namespace === undefined ? object : `${object} (${namespace})`;
	return [where, field, value === undefined || value === "" ? undefined : `= ${value}`]
		.filter((part) => part !== undefined)
		.join(" ");
}

function fixLines({ command, advice }: Fix, { width }: TextOptions): readonly string[] {
	if (command === undefined) return wrapped(`fix: ${advice}`, "  ", width);
	return [`  fix: ${printable(command)}`, ...(advice === undefined ? [] : wrapped(`(${advice})`, "       ", width))];
}

const LINK_WIDTH = 16;
/** Narrower terminals have each link above what it says. */
const COLUMNS_WIDTH = 60;

function chainLines({ link, lines }: ChainStep, { width }: TextOptions): readonly string[] {
	if (width < COLUMNS_WIDTH) return [link, ...lines.flatMap((line) => wrapped(line, "  ", width))];
	const indent = " ".repeat(LINK_WIDTH);
	const [first = "", ...more] = lines.flatMap((line) => wrapped(line, indent, width));
	return [`${link.padEnd(LINK_WIDTH)}${first.trimStart()}`, ...more];
}

/** Words are kept whole, also those that are longer than a line. */
function wrapped(text: string, indent: string, width: number): readonly string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of printable(text).split(" ")) {
		if (line !== "" && indent.length + line.length + 1 + word.length > width) {
			lines.push(indent + line);
			line = word;
		} else line = line === "" ? word : `${line} ${word}`;
	}
	return [...lines, indent + line];
}
