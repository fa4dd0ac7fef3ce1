/** `sliceplane scenario FILE|DIR...`: runs scenario files on virtual time. */
import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { cacheFolder } from "../edge/cache-folder.ts";
import { findProgram } from "../edge/find-program.ts";
import type { Paint } from "../scenario/report/text.ts";
import type { FileResult } from "../scenario/scenario-files.ts";
import { whole } from "./flag-values.ts";
import { UsageError } from "./usage-error.ts";

interface ScenarioFlags {
	readonly output: "text" | "json" | "junit";
	readonly seed: number;
	readonly trace?: boolean;
	readonly kubectl?: string;
}

export function addScenarioCommand(root: Command, setStatus: (status: number) => void): void {
	root
		.command("scenario")
		.description(
			"Run scenario files on virtual time: pods, Services, faults and time in a file, and what must come of it.\n" +
				"A folder stands for the .yaml files in it. Exit status 1 when one fails.",
		)
		.argument("<file|dir...>", "scenario files")
		.addOption(
			new Option("-o, --output <format>", "form of the results").choices(["text", "json", "junit"]).default("text"),
		)
		.addOption(
			new Option("--seed <n>", "of the names that the server makes").argParser(whole(0, 4_294_967_295)).default(1),
		)
		.option("--trace", "print every write and watch event with its virtual time")
		.option("--kubectl <path>", "kubectl that `kubectl` expectations run (default: $KUBECTL, then the one in PATH)")
		.addHelpText("after", "\nExample:\n  $ sliceplane scenario examples/scenarios\n")
		.action(async (places: string[], flags: ScenarioFlags) => {
			const results = await ran(places, flags);
			setStatus(results.some(({ result }) => result.kind === "failed" || result.kind === "unreadable") ? 1 : 0);
		});
}

async function ran(places: readonly string[], flags: ScenarioFlags): Promise<readonly FileResult[]> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { runFile, scenarioFiles, totalsOf } = await import("../scenario/scenario-files.ts");
	const { Kubectl } = await import("../scenario/judge/kubectl.ts");
	const { resultText, totalsText } = await import("../scenario/report/text.ts");
	const { env } = process;
	const program = flags.kubectl ?? env["KUBECTL"] ?? findProgram("kubectl", env["PATH"] ?? "");
	const kubectl = new Kubectl({ program, cacheFolder: cacheFolder() });
	const files = await scenarioFiles(places).catch((error: Error) => {
		throw new UsageError(error.message);
	});
	const results: FileResult[] = [];
	for (const file of files) {
		const each = await runFile(file, { seed: flags.seed, kubectl });
		results.push(each);
		if (flags.output === "text") process.stdout.write(traceText(each, flags) + resultText(each, paint));
		else tellProgress(`${results.length}/${files.length} ${each.result.kind} ${file}`);
	}
	if (flags.output === "text") process.stdout.write(totalsText(totalsOf(results)));
	else process.stdout.write(await report(results, flags));
	return results;
}

async function report(results: readonly FileResult[], { output, trace = false }: ScenarioFlags): Promise<string> {
	if (output === "json") return (await import("../scenario/report/json.ts")).jsonReport(results, { trace });
	return (await import("../scenario/report/junit.ts")).junitReport(results);
}

/** The trace, if it was asked for. */
function traceText({ result }: FileResult, { trace = false }: ScenarioFlags): string {
	return trace ? (result.trace?.lines() ?? []).map((line) => `${line}\n`).join("") : "";
}

function tellProgress(line: string): void {
	if (process.stderr.isTTY) process.stderr.write(`${line}\n`);
}

const paint: Paint = (colour, text) =>
	process.stdout.isTTY && process.env["NO_COLOR"] === undefined ? styleText(colour, text) : text;
