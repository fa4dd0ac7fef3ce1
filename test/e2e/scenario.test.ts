/** `sliceplane scenario` of the built program: its exit status, its forms of output, and a real kubectl. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { type Finished, finished, PROGRAM } from "./plane.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-scenarios-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, expected: string): string {
	const given = "{services: [{name: web, selector: {app: web}, ports: [{port: 80}]}]}";
	const place = path.join(folder, name);
	writeFileSync(place, `title: of ${name}\ngiven: ${given}\nsteps: [{settle: true}]\nexpect: ${expected}\n`);
	return place;
}

const good = file("good.yaml", "{slices: [{service: web, endpoint_total: 0}]}");
const bad = file("bad.yaml", "{slices: [{service: web, endpoint_total: 1}]}");
const unread = file("unread.yaml", "{slice: []}");

/** Without a kubectl to be found. */
function scenario(...args: readonly string[]): Promise<Finished> {
	return finished(process.execPath, [PROGRAM, "scenario", ...args], { env: { HOME: folder, PATH: "" } });
}

describe("exit status", () => {
	test.each([
		["what passed", [good], 0, "1 passed, 0 failed, 0 pending"],
		["a failure beside it", [good, bad], 1, "1 passed, 1 failed, 0 pending"],
		["a file that cannot be read", [unread], 1, "0 passed, 1 failed, 0 pending"],
		["a folder", [folder], 1, "1 passed, 2 failed, 1 pending"],
	])("of %s", async (_, places, status, last) => {
		const run = await scenario(...places);
		expect({ status: run.status, stderr: run.stderr }).toEqual({ status, stderr: "" });
		expect(run.stdout.trimEnd().split("\n").at(-1)).toBe(last);
	});

	test("of wrong usage is 2, with nothing on stdout", async () => {
		for (const args of [[], [path.join(folder, "none.yaml")], ["-o", "xml", good], ["--seed", "-1", good]]) {
			const { status, stdout, stderr } = await scenario(...args);
			expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: "" });
			expect(stderr).toContain("error: ");
		}
	});
});

describe("output", () => {
	test("is one JSON document, or one of JUnit's", async () => {
		const json = JSON.parse((await scenario("-o", "json", good, bad)).stdout);
		expect(json).toMatchObject({
			passed: 1,
			failed: 1,
			scenarios: [{ file: good, kind: "passed" }, { kind: "failed" }],
		});
		const xml = (await scenario("-o", "junit", good, bad)).stdout;
		expect(xml).toMatch(/^<\?xml.*<testsuites tests="2" failures="1" skipped="0">.*<\/testsuites>\n$/s);
	});

	test("has the place of a fault in a file, as editors read it", async () => {
		expect((await scenario(unread)).stdout).toContain(
			`  ${unread}:4:10: expect.slice: unknown key "slice"; known here: slices,`,
		);
	});

	test("has the trace before each result, the same in every run of a seed", async () => {
		const [one, again, other] = await Promise.all(
			["1", "1", "2"].map((seed) => scenario("--trace", "--seed", seed, good)),
		);
		expect(one?.stdout).toMatch(/^\+0\.000s .*\+0\.000s controllers create endpointslices demo\/web-.*passed /s);
		expect(again?.stdout).toBe(one?.stdout);
		expect(other?.stdout).not.toBe(one?.stdout);
	});
});

describe("kubectl", () => {
	const asked = file(
		"kubectl.yaml",
		'{kubectl: [{args: "get endpointslices -l kubernetes.io/service-name=web", contains: [web-], counts: {IPv4: 1}, exit: 0}, {args: "get service none", stderr_counts: {NotFound: 1}, exit: 1}]}',
	);

	test("is pending where there is none", async () => {
		const { status, stdout } = await scenario(asked);
		expect(status).toBe(0);
		expect(stdout).toContain("pending: no kubectl was found: give its path with --kubectl");
	});

	test("is asked with --kubectl, in the plane of the scenario", async ({ skip }) => {
		const newest = (await kubectlVersions()).at(-1);
		if (newest === undefined || newest.missing !== undefined) return skip(newest?.missing ?? "no kubectl");
		const { status, stdout } = await scenario("--kubectl", newest.path, asked);
		expect({ status, stdout }).toMatchObject({ status: 0 });
		expect(stdout).toContain("1 passed, 0 failed, 0 pending");
	});
});
