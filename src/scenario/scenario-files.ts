/** Files of scenarios, one after the other: each in a plane of its own. */
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { type RunOptions, runScenario, type ScenarioResult } from "./run-scenario.ts";

export interface FileResult {
	/** As it was named, or as it was found in the folder that was named. */
	readonly file: string;
	readonly result: ScenarioResult;
}

export interface Totals {
	readonly passed: number;
	/** Also those that cannot be read. */
	readonly failed: number;
	readonly pending: number;
}

/** Folders stand for the `.yaml` and `.yml` files in them, in order of names. @throws {Error} For what is not there. */
export async function scenarioFiles(places: readonly string[]): Promise<readonly string[]> {
	const found = await Promise.all(
		places.map(async (place) => {
			if (!(await stat(place)).isDirectory()) return [place];
			const names = (await readdir(place)).filter((name) => /\.ya?ml$/.test(name)).sort();
			if (names.length === 0) throw new Error(`${place}: want a folder with files *.yaml, found none in it`);
			return names.map((name) => path.join(place, name));
		}),
	);
	return found.flat();
}

export async function runFile(file: string, options: RunOptions): Promise<FileResult> {
	return { file, result: await runScenario(await readFile(file, "utf8"), options) };
}

export function totalsOf(results: readonly FileResult[]): Totals {
	const passed = results.filter(({ result }) => result.kind === "passed").length;
	const pending = results.filter(({ result }) => result.kind === "pending").length;
	return { passed, pending, failed: results.length - passed - pending };
}
