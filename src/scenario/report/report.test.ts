import { beforeAll, describe, expect, test } from "vitest";
import { runScenario } from "../run-scenario.ts";
import type { FileResult } from "../scenario-files.ts";
import { jsonReport } from "./json.ts";
import { junitReport } from "./junit.ts";
import { resultText, scenarioText, totalsText } from "./text.ts";

const GIVEN = `given: {services: [{name: web, selector: {app: web}, ports: [{port: 80}]}]}
steps: [{settle: true}, {pod: {name: a, create: {labels: {app: web}, ip: 10.1.0.1, node: n1, ready: true}}}, {settle: true}]
`;
const PENDING = "kubectl: [{args: get pods, exit: 0}]";

const FILES: Readonly<Record<string, string>> = {
	"good.yaml": `title: it holds\nid: "007"\n${GIVEN}expect: {slices: [{service: web, endpoint_total: 1}]}\n`,
	"later.yaml": `title: it waits\n${GIVEN}expect: {${PENDING}}\n`,
	"bad & <odd>.yaml": `title: 'quotes " and \u0001'\n${GIVEN}expect: {slices: [{service: web, exact: [{endpoints: ["10.1.0.1 rst"]}]}], retrying: {web: true}, ${PENDING}}\n`,
	"none.yaml": "title: x\ngiven: []\n",
};

let results: readonly FileResult[];
beforeAll(async () => {
	const all = Object.entries(FILES).map(async ([file, text]) => ({ file, result: await runScenario(text) }));
	results = await Promise.all(all);
});

function only(file: string): FileResult {
	const [found] = results.filter((each) => each.file === file);
	if (found === undefined) throw new Error(file);
	return found;
}

describe("text", () => {
	const plain = (_: string, text: string): string => text;

	test("has one line for what passed, with the virtual time that it took", () => {
		expect(resultText(only("good.yaml"), plain)).toBe("passed good.yaml: it holds (2.0 s of virtual time)\n");
	});

	test("says what is pending", () => {
		expect(resultText(only("later.yaml"), plain)).toBe(
			"pending later.yaml: it waits (2.0 s of virtual time)\n" +
				"  pending: no kubectl was found: give its path with --kubectl\n",
		);
	});

	test("tells each problem, in what it differs, and the history once, after the last of its assertion", () => {
		const text = resultText(only("bad & <odd>.yaml"), plain);
		const [head = "", ...lines] = text.split("\n");
		expect(head).toContain('failed bad & <odd>.yaml: quotes " and ');
		expect(lines.slice(0, 9).map((line) => line.replace(/web-[a-z0-9]+/, "web-x"))).toEqual([
			"  expect.slices[0].exact",
			'    expected {"endpoints":["10.1.0.1 rst"]}',
			'    found    {"name":"web-x","endpoints":["10.1.0.1 RSt pod=a node=n1"]}',
			"      web-x",
			"    - endpoint 10.1.0.1 rst",
			"    + endpoint 10.1.0.1 RSt pod=a node=n1",
			"  expect.retrying.web",
			"    expected true",
			"    found    false",
		]);
		expect(lines.filter((line) => line === "    history")).toHaveLength(1);
		expect(text).toMatch(/\+1\.000s runner post \/api\/v1\/namespaces\/demo\/pods: 201\n/);
		expect(text.trimEnd().split("\n").at(-1)).toBe("  pending: no kubectl was found: give its path with --kubectl");
	});

	test("gives the place of each fault of a file that cannot be read", () => {
		expect(scenarioText("none.yaml", only("none.yaml").result).split("\n").slice(0, 2)).toEqual([
			"failed none.yaml (0.0 s of virtual time)",
			"  none.yaml:2:8: given: want a map, found a list",
		]);
	});

	test("paints by the word of the result", () => {
		const painted = resultText(only("later.yaml"), (colour, text) => `<${colour}>${text}</>`);
		expect(painted).toMatch(/^<yellow>pending<\/> later\.yaml: it waits <dim>\(2\.0 s of virtual time\)<\/>\n/);
	});

	test("ends with the totals", () => {
		expect(totalsText({ passed: 1, failed: 2, pending: 3 })).toBe("1 passed, 2 failed, 3 pending\n");
	});
});

describe("JUnit", () => {
	/** The elements in order, each closed by its own end, with nothing between that XML forbids. */
	function elementsOf(xml: string): readonly string[] {
		const open: string[] = [];
		const seen: string[] = [];
		const rest = xml.replaceAll(
			/<\?xml[^>]*\?>|<(\/?)([a-z]+)((?: [a-z]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)(\/?)>/g,
			(...match) => {
				const [, end, name = "", , alone] = match as unknown as string[];
				if (end === "/") expect(open.pop()).toBe(name);
				else if (name !== "") seen.push(name);
				if (end === "" && alone === "" && name !== "") open.push(name);
				return "";
			},
		);
		expect(open).toEqual([]);
		expect(rest.replaceAll(/&(amp|lt|gt|quot);/g, "")).not.toMatch(/[<&]|[^\t\n\r\u0020-\uFFFD]/);
		return seen;
	}

	test("is well-formed whatever is in names and texts, and counts what failed and what is skipped", () => {
		const xml = junitReport(results);
		expect(elementsOf(xml)).toEqual([
			"testsuites",
			"testsuite",
			"testcase",
			"testcase",
			"skipped",
			"testcase",
			"failure",
			"testcase",
			"failure",
		]);
		expect(xml).toContain('<testsuites tests="4" failures="2" skipped="1">');
		expect(xml).toContain('classname="bad &amp; &lt;odd&gt;.yaml" name="quotes &quot; and " time="');
		expect(xml).toContain('<failure message="expect.slices[0].exact">');
		expect(xml).toContain('<failure message="the file cannot be read">');
	});
});

describe("JSON", () => {
	test("is one document with the totals and every result", () => {
		const report = JSON.parse(jsonReport(results, { trace: false }));
		expect(report).toMatchObject({
			passed: 1,
			failed: 2,
			pending: 1,
			scenarios: [
				{ file: "good.yaml", kind: "passed", id: "007", title: "it holds", virtualMs: 2000 },
				{ file: "later.yaml", kind: "pending", pending: ["kubectl"] },
				{ kind: "failed", problems: [{ path: "expect.slices[0].exact" }, { path: "expect.retrying.web" }] },
				{ file: "none.yaml", kind: "unreadable", faults: [{ line: 2, column: 8 }, {}, {}] },
			],
		});
		expect(Object.keys(report.scenarios[0])).not.toContain("trace");
	});

	test("has the trace when it is asked for, with whole objects", () => {
		const [first, , , last] = JSON.parse(jsonReport(results, { trace: true })).scenarios;
		expect(first.trace.join("\n")).toMatch(/\+1\.000s controllers saw ADDED pods demo\/a @\d+ \{"apiVersion":"v1"/);
		expect(last.trace).toBeUndefined();
	});
});
