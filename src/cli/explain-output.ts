/** Prints explanations, in the form that was asked for. */
import type { Explanation } from "../explain/explain.ts";
import { VERSION } from "../wiring/version.ts";
import type { ExplainInput } from "./explain-input.ts";

export const EXPLAIN_FORMS = ["text", "json", "yaml", "sarif", "junit"] as const;
export type ExplainForm = (typeof EXPLAIN_FORMS)[number];

const WIDTH_DEFAULT = 100;
const WIDTH_MIN = 20;

export async function printExplanation(one: Explanation, form: ExplainForm, input: ExplainInput): Promise<void> {
	if (form === "text") {
		const { explanationText } = await import("../explain/render.ts");
		process.stdout.write(explanationText(one, textOptions()));
	} else if (form === "json") process.stdout.write(`${JSON.stringify(one)}\n`);
	else if (form === "yaml") process.stdout.write(await yamlText(one));
	else process.stdout.write(await reportText([one], form, { input, isComplete: true }));
}

interface Many {
	readonly input: ExplainInput;
	/** Whether all Services that were asked for were looked at. */
	readonly isComplete: boolean;
}

/** JSON has a Service a line: readable by whoever reads lines, and an array for the others. */
export async function printExplanations(all: readonly Explanation[], form: ExplainForm, many: Many): Promise<void> {
	if (form === "text") {
		const { listLine, missingLines, totalsText } = await import("../explain/render.ts");
		const options = textOptions();
		for (const each of all) process.stdout.write(`${listLine(each, options)}\n`);
		const { missing } = many.input.snapshot;
		process.stdout.write(`${[totalsText(all, options), ...missingLines(missing, options)].join("\n")}\n`);
	} else if (form === "json") {
		process.stdout.write("[");
		for (const [index, each] of all.entries()) {
			process.stdout.write(`${index === 0 ? "" : ","}\n${JSON.stringify(each)}`);
		}
		process.stdout.write("\n]\n");
	} else if (form === "yaml") process.stdout.write(await yamlText(all));
	else process.stdout.write(await reportText(all, form, many));
}

async function yamlText(value: unknown): Promise<string> {
	const { stringifyYaml } = await import("../edge/codec/yaml.ts");
	// Through JSON: what is undefined is left out.
	return stringifyYaml(JSON.parse(JSON.stringify(value)));
}

async function reportText(
	all: readonly Explanation[],
	form: "sarif" | "junit",
	{ input: { origins, snapshot }, isComplete }: Many,
): Promise<string> {
	if (form === "junit") return (await import("../explain/report/junit.ts")).explainJunit(all);
	const { explainSarif } = await import("../explain/report/sarif.ts");
	const originOf = (key: string) => {
		const origin = origins.get(key);
		return origin?.file === "stdin" ? undefined : origin;
	};
	const options = { version: VERSION.sliceplane, missing: snapshot.missing, isComplete, originOf };
	return `${JSON.stringify(explainSarif(all, options), undefined, 2)}\n`;
}

function textOptions() {
	const { columns, isTTY } = process.stdout;
	return {
		width: Math.max(WIDTH_MIN, columns ?? WIDTH_DEFAULT),
		isColoured: isTTY === true && !process.env["NO_COLOR"],
	};
}
