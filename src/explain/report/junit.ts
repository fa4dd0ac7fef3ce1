/** Explanations as JUnit's XML: a test case for each Service, which fails for errors, and is skipped where nobody looked. */
import { xmlText } from "../../kernel/xml.ts";
import type { Explanation } from "../explain.ts";
import type { Finding } from "../finding.ts";
import { evidenceText } from "../render.ts";

export function explainJunit(all: readonly Explanation[]): string {
	const failures = all.filter(({ verdict }) => verdict === "error").length;
	const skipped = all.filter(({ verdict }) => verdict === "unknown").length;
	const counts = `tests="${all.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
	return [
		'<?xml version="1.0" encoding="UTF-8"?>',
		`<testsuites ${counts}>`,
		`<testsuite name="explain" ${counts}>`,
		...all.map(testCase),
		"</testsuite>",
		"</testsuites>",
		"",
	].join("\n");
}

function testCase({ service, verdict, unknown = "", findings }: Explanation): string {
	const slash = service.indexOf("/");
	const names = `classname="${xmlText(service.slice(0, slash))}" name="${xmlText(service.slice(slash + 1))}"`;
	const errors = findings.filter(({ severity }) => severity === "error");
	const others = findings.filter(({ severity }) => severity !== "error");
	const [first] = errors;
	const failure =
		first === undefined
			? ""
			: `<failure type="${first.code}" message="${xmlText(`${first.code} ${first.name}: ${first.text}`)}">${xmlText(texts(errors))}</failure>`;
	const skipped = verdict === "unknown" ? `<skipped message="${xmlText(unknown)}"/>` : "";
	const out = others.length === 0 ? "" : `<system-out>${xmlText(texts(others))}</system-out>`;
	return `<testcase ${names} time="0">${skipped}${failure}${out}</testcase>`;
}

function texts(findings: readonly Finding[]): string {
	return findings.map(findingText).join("\n\n");
}

function findingText({ severity, code, name, text, evidence, fix }: Finding): string {
	return [
		`${severity} ${code} ${name}`,
		text,
		...evidence.map((each) => `- ${evidenceText(each)}`),
		...(fix === undefined ? [] : [`fix: ${fix.command ?? fix.advice}`]),
	].join("\n");
}
