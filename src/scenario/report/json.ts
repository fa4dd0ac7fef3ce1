/** Results for programs: one JSON document. */
import { type FileResult, type Totals, totalsOf } from "../scenario-files.ts";

export function jsonReport(results: readonly FileResult[], options: { readonly trace: boolean }): string {
	const totals: Totals = totalsOf(results);
	const scenarios = results.map(({ file, result: { trace, ...result } }) => ({
		file,
		...result,
		...(options.trace && trace !== undefined ? { trace: trace.lines() } : {}),
	}));
	return `${JSON.stringify({ ...totals, scenarios }, undefined, 2)}\n`;
}
