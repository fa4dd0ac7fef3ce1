/** What is expected of proxies holds and fails as the format says. */
import { expect, test } from "vitest";
import { runScenario } from "../run-scenario.ts";

const STICKY = `services: [{name: web, selector: {app: web}, sessionAffinity: ClientIP, ports: [{port: 80, targetPort: 8080}]}],
  pods: [{name: a, labels: {app: web}, ip: 10.1.0.10, node: n1, ready: true}], nodes: [{name: n1}]`;

async function ran(steps: readonly string[], expected: string, given: string = STICKY): Promise<string> {
	const lines = ["settle: true", ...steps].map((step) => `  - ${step}`).join("\n");
	const result = await runScenario(`title: t\ngiven: {${given}}\nsteps:\n${lines}\nexpect: {${expected}}\n`);
	if (result.kind === "unreadable") return JSON.stringify(result.faults);
	if (result.kind !== "failed") return result.kind;
	return result.problems.map(({ path, wanted, found }) => `${path}: ${wanted} | ${found}`).join("\n");
}

const record = (endpoint: string, exists: boolean): string =>
	`affinity_records: [{node: n1, endpoint: "${endpoint}", exists: ${exists}}]`;
const healthz = (code: number): string => `http_on_node: [{node: n1, port: 10256, code: ${code}}]`;

test("an endpoint has a set for its clients before the first one comes, and none when it is gone", async () => {
	expect(await ran([], record("10.1.0.10:8080", true))).toBe("passed");
	expect(await ran([], record("10.1.0.10:8080", false))).toBe("expect.affinity_records[0]: false | true");
	expect(await ran([], record("10.1.0.11:8080", false))).toBe("passed");
	expect(await ran(["delete: {kind: Pod, name: a, gone: true}", "settle: true"], record("10.1.0.10:8080", false))).toBe(
		"passed",
	);
});

test("a proxy says how it is, and nothing listens where none runs", async () => {
	expect(await ran([], healthz(200))).toBe("passed");
	expect(await ran(["stop: {component: proxy, node: n1}"], healthz(200))).toContain("nothing listens on the port");
});

test("rules that were saved are unchanged, also when nothing else asks for a proxy", async () => {
	const steps = ["save: {as: r, ruleset: {node: n1, family: IPv4}}", "tick: 5s"];
	expect(await ran(steps, "saved: {r: unchanged}")).toBe("passed");
	expect(
		await ran([...steps, "delete: {kind: Pod, name: a, gone: true}", "settle: true"], "saved: {r: unchanged}"),
	).toContain("saved.r: unchanged | same");
});

test("a sync without a flow to delete keeps every order", async () => {
	expect(await ran(["proxy_sync: {node: n1}"], "kernel_order: [rules, conntrack]")).toBe("passed");
});

test("says what it ignores of a slice", async () => {
	const given = `nodes: [{name: n1}], slices: [{name: x, labels: {kubernetes.io/service-name: web}, addressType: FQDN, endpoints: [{addresses: [a.example.com]}]}]`;
	expect(await ran([], "log: [{component: proxy, node: n1, contains: [FQDN, demo/x]}]", given)).toBe("passed");
});
