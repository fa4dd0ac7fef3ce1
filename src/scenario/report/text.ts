/** Results for people. */
import type { ScenarioResult, StepProblem } from "../run-scenario.ts";
import type { FileResult, Totals } from "../scenario-files.ts";

export type Paint = (colour: "green" | "red" | "yellow" | "dim", text: string) => string;

const plain: Paint = (_, text) => text;

const COLOURS = { passed: "green", failed: "red", unreadable: "red", pending: "yellow" } as const;

/**
 * The result in words, as the command prints it: one line when it passed, else all that there is to say.
 *
 * @param name Of the file, or whatever tells scenarios apart.
 * @example
 *     const result = await runScenario("title: x");
 *     assert.match(scenarioText("x.yaml", result), /x.yaml:1:1: given: key "given" is missing/);
 */
export function scenarioText(name: string, result: ScenarioResult): string {
	return resultText({ file: name, result }, plain);
}

/** One line when it passed; else all that there is to say. Ends in a newline. */
export function resultText({ file, result }: FileResult, paint: Paint): string {
	const { kind, title, virtualMs } = result;
	const word = kind === "unreadable" ? "failed" : kind;
	const about = title === undefined ? "" : `: ${title}`;
	const time = paint("dim", `(${(virtualMs / 1000).toFixed(1)} s of virtual time)`);
	return [`${paint(COLOURS[kind], word)} ${file}${about} ${time}`, ...details(file, result, paint)]
		.join("\n")
		.concat("\n");
}

/** `N passed, N failed, N pending`: the last line of a run. */
export function totalsText({ passed, failed, pending }: Totals): string {
	return `${passed} passed, ${failed} failed, ${pending} pending\n`;
}

function details(file: string, result: ScenarioResult, paint: Paint): readonly string[] {
	if (result.kind === "passed") return [];
	if (result.kind === "unreadable") {
		return result.faults.map(({ line, column, message }) => `  ${file}:${line}:${column}: ${message}`);
	}
	const pending = result.pending.map((subject) => `  ${pendingText(subject)}`);
	return result.kind === "pending" ? pending : [...problems(result.problems, paint), ...pending];
}

/** Why an expectation of this part is not judged. */
export function pendingText(subject: string): string {
	if (subject === "kubectl") return "pending: no kubectl was found: give its path with --kubectl";
	return `pending: ${subject} is not built yet`;
}

/** Problems of one assertion have one history: it is told once, after the last of them. */
function problems(found: readonly StepProblem[], paint: Paint): readonly string[] {
	return found.flatMap((each, index) => [
		`  ${each.path}`,
		...block("expected", each.wanted),
		...block("found", each.found),
		...(each.difference ?? []).map((line) => `    ${paint(line.startsWith("+") ? "green" : "red", line)}`),
		...(found[index + 1]?.history === each.history ? [] : history(each.history, paint)),
	]);
}

function block(word: string, text: string): readonly string[] {
	const [first = "", ...more] = text.split("\n");
	return [`    ${word.padEnd(8)} ${first}`, ...more.map((line) => `             ${line}`)];
}

function history(lines: readonly string[], paint: Paint): readonly string[] {
	return lines.length === 0 ? [] : ["    history", ...lines.map((line) => `      ${paint("dim", line)}`)];
}
