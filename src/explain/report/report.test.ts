import { describe, expect, test } from "vitest";
import { good, pod, web } from "../../testing/explained-objects.ts";
import { worldOf } from "../../testing/explained-worlds.ts";
import { CODES } from "../codes.ts";
import { Explainer, type Explanation, explainService } from "../explain.ts";
import { explanationText, listLine, missingLines, totalsText } from "../render.ts";
import { explainJunit } from "./junit.ts";
import { explainSarif } from "./sarif.ts";

const typo = worldOf({ ...good, pods: [pod({ labels: { app: "wbe" } })], slices: [] });
const all = (): readonly Explanation[] => [
	...new Explainer(typo).explainAll(),
	...new Explainer(
		worldOf({ ...good, services: [web({ publishNotReadyAddresses: true })], pods: [pod({ ready: false })] }),
	).explainAll(),
];
const origins = new Map([["Service/default/web", { file: "a b/web.yaml", line: 7 }]]);
const sarif = (explanations: readonly Explanation[] = all()) =>
	JSON.parse(JSON.stringify(explainSarif(explanations, { version: "1.2.3", originOf: (key) => origins.get(key) })));

const unseen = (): Explanation =>
	explainService(worldOf({ ...good, slices: [], missing: ["EndpointSlice"] }), { namespace: "default", name: "web" });

describe("SARIF", () => {
	test("says its version and schema, and has one run with every code as a rule", () => {
		const { $schema, version, runs } = sarif();
		expect([$schema, version, runs.length]).toEqual([expect.stringMatching(/sarif-schema-2\.1\.0\.json$/), "2.1.0", 1]);
		const { driver } = runs[0].tool;
		expect(driver).toMatchObject({ name: "sliceplane", semanticVersion: "1.2.3" });
		expect(driver.rules.map(({ id }: { id: string }) => id)).toEqual(CODES.map(({ code }) => code));
		for (const rule of driver.rules) {
			expect(rule).toMatchObject({
				name: expect.any(String),
				shortDescription: { text: expect.any(String) },
				help: { text: expect.stringContaining(rule.id) },
				defaultConfiguration: { level: expect.stringMatching(/^(error|warning|note)$/) },
			});
		}
	});

	test("has a result for each finding: its rule, level, text, and where it is seen", () => {
		const { results, tool } = sarif().runs[0];
		expect(results.map(({ ruleId, level }: { ruleId: string; level: string }) => `${ruleId} ${level}`)).toEqual([
			"SP1101 error",
			"SP1207 note",
		]);
		for (const { ruleId, ruleIndex, message, locations } of results) {
			expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
			expect(message.text).not.toBe("");
			expect(locations.length).toBeGreaterThan(0);
		}
		expect(results[0].locations).toEqual([
			{
				logicalLocations: [{ name: "web", fullyQualifiedName: "default/Service/web/spec.selector", kind: "resource" }],
				physicalLocation: { artifactLocation: { uri: "a%20b/web.yaml" }, region: { startLine: 7 } },
			},
			{
				logicalLocations: [
					{ name: "web-1", fullyQualifiedName: "default/Pod/web-1/metadata.labels", kind: "resource" },
				],
			},
		]);
		expect(results[0].properties.fix.target).toEqual({ kind: "Service", namespace: "default", name: "web" });
	});

	test("has a run without results when all is well", () => {
		const [run] = sarif([]).runs;
		expect(run.results).toEqual([]);
		expect(run.invocations).toEqual([{ executionSuccessful: true, toolExecutionNotifications: [] }]);
	});

	test("tells of what was not looked at beside the results, not as one", () => {
		const options = { version: "1.2.3", missing: ["EndpointSlice"], originOf: () => undefined };
		const { runs } = JSON.parse(JSON.stringify(explainSarif([unseen()], options)));
		expect(runs[0].results).toEqual([]);
		const [{ executionSuccessful, toolExecutionNotifications: told }] = runs[0].invocations;
		expect(executionSuccessful).toBe(false);
		expect(told.map(({ level, message }: { level: string; message: object }) => ({ level, ...message }))).toEqual([
			{ level: "warning", text: "default/web: unknown: EndpointSlices were not looked at" },
			{ level: "note", text: "Not looked at: EndpointSlice." },
		]);
		const blind = explainSarif([], { ...options, isComplete: false });
		expect(JSON.stringify(blind)).toContain('"executionSuccessful":false');
	});
});

/** What an XML parser would refuse: tags that do not close, and characters that must not be there. */
function problemsOf(xml: string): readonly string[] {
	const open: string[] = [];
	const problems: string[] = [];
	const rest = xml.replaceAll(
		/<(\/?)([\w-]+)((?:\s[\w:]+="[^"<]*")*)\s*(\/?)>/g,
		(_all, close, name, _attributes, empty) => {
			if (close === "/" && open.pop() !== name) problems.push(`</${name}>`);
			else if (close === "" && empty === "") open.push(name);
			return "";
		},
	);
	const text = rest.replace(/^<\?xml [^?]*\?>/, "").replaceAll(/&(?:amp|lt|gt|quot);/g, "");
	if (/[<>&]/.test(text)) problems.push(text);
	if (/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(xml)) problems.push("characters");
	return [...problems, ...open];
}

describe("JUnit", () => {
	test("has a test case for each Service; errors fail, the rest is output", () => {
		const xml = explainJunit(all());
		expect(problemsOf(xml)).toEqual([]);
		expect(xml).toContain('<testsuite name="explain" tests="2" failures="1" errors="0" skipped="0">');
		expect(xml.match(/<testcase classname="default" name="web" time="0">/g)).toHaveLength(2);
		expect(xml).toContain('<failure type="SP1101" message="SP1101 selector-matches-no-pods: No Pod');
		expect(xml).toMatch(/<system-out>info SP1207 publishes-not-ready\n/);
	});

	test("skips a Service of which it is not known", () => {
		const xml = explainJunit([unseen()]);
		expect(problemsOf(xml)).toEqual([]);
		expect(xml).toContain('<testsuite name="explain" tests="1" failures="0" errors="0" skipped="1">');
		expect(xml).toContain('<skipped message="EndpointSlices were not looked at"/>');
	});

	test("holds any text", () => {
		const wild = `"<&>'\u0000\u001b[31m\uD800 \uFFFE \u{1F600}]]>`;
		const found = explainService(typo, { namespace: "default", name: wild });
		const xml = explainJunit([{ ...found, service: `default/${wild}` }]);
		expect(problemsOf(xml)).toEqual([]);
		expect(xml).toContain("\u{1F600}");
	});
});

describe("text", () => {
	const target = { namespace: "default", name: "web" };

	test("has the verdict first, then findings, then the whole chain", () => {
		const [first, ...lines] = explanationText(explainService(typo, target), { width: 100, isColoured: false }).split(
			"\n",
		);
		expect(first).toBe("default/web: error SP1101 selector-matches-no-pods");
		const links = lines.flatMap((line) => /^([A-Z]?[A-Za-z]+) {2,}/.exec(line)?.[1] ?? []);
		expect(links).toEqual(["Service", "selector", "Pods", "families", "EndpointSlices", "DNS", "reached"]);
	});

	test.each([20, 40, 59, 60, 100])("keeps to a width of %i, but for words that are longer, and commands", (width) => {
		const text = explanationText(explainService(typo, target), { width, isColoured: false });
		const long = text.split("\n").filter((line) => line.length > width && !/kubectl|SP\d{4}/.test(line));
		// Below the first word of a line there is nothing to break.
		expect(long.filter((line) => line.trim().split(" ").length > 2)).toEqual([]);
	});

	test("of many has a line for each, and counts what is not known for itself", () => {
		const options = { width: 100, isColoured: false };
		const many = [...all(), { ...unseen(), service: "n\u001b[31mred/web" }];
		expect(many.map((each) => listLine(each, options))).toEqual([
			"default/web: error SP1101 selector-matches-no-pods",
			"default/web: ok",
			"n [31mred/web: unknown (EndpointSlices were not looked at)",
		]);
		expect(totalsText(many, options)).toBe("3 Services: 1 error, 0 warning, 1 unknown, 1 ok");
		expect(missingLines(["Pod", "Node"], options)).toEqual(["", "Not looked at: Pod, Node."]);
	});

	test("obeys no control characters of what it shows", () => {
		const hostile = worldOf({ ...good, pods: [pod({ name: "web-\u001b[2J", ready: false })] });
		const text = explanationText(explainService(hostile, target), { width: 100, isColoured: false });
		expect(text).toContain("web- [2J");
		expect(text).not.toContain("\u001b");
	});
});
