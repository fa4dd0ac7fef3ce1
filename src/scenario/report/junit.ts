/** Results as JUnit's XML, which CI systems read. */
import { xmlText } from "../../kernel/xml.ts";
import type { ScenarioResult } from "../run-scenario.ts";
import { type FileResult, totalsOf } from "../scenario-files.ts";
import { pendingText, scenarioText } from "./text.ts";

export function junitReport(results: readonly FileResult[]): string {
	const { failed, pending } = totalsOf(results);
	const counts = `tests="${results.length}" failures="${failed}" skipped="${pending}"`;
	return [
		'<?xml version="1.0" encoding="UTF-8"?>',
		`<testsuites ${counts}>`,
		`<testsuite name="scenarios" ${counts}>`,
		...results.map(testCase),
		"</testsuite>",
		"</testsuites>",
		"",
	].join("\n");
}

function testCase(each: FileResult): string {
	const { file, result } = each;
	const name = result.title ?? file;
	const time = (result.virtualMs / 1000).toFixed(3);
	return `<testcase classname="${xmlText(file)}" name="${xmlText(name)}" time="${time}">${outcome(each, result)}</testcase>`;
}

function outcome(each: FileResult, result: ScenarioResult): string {
	if (result.kind === "passed") return "";
	if (result.kind === "pending") return `<skipped message="${xmlText(result.pending.map(pendingText).join("; "))}"/>`;
	const message = result.kind === "failed" ? (result.problems[0]?.path ?? "") : "the file cannot be read";
	const text = scenarioText(each.file, each.result);
	return `<failure message="${xmlText(message)}">${xmlText(text)}</failure>`;
}
