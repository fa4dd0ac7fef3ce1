/** What following a Service costs, measured by a program of its own. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { finished, PROGRAM, RunningPlane } from "./plane.ts";

const newest = (await kubectlVersions()).at(-1);
let plane: RunningPlane;
beforeAll(async () => {
	plane = await RunningPlane.start();
});
afterAll(async () => {
	await plane?.stop();
});

test.skipIf(newest === undefined || newest.missing !== undefined)(
	"one Pod more among 200 costs a watcher of Endpoints the whole list, and one of EndpointSlices one slice",
	async () => {
		const kubectl = (...args: string[]) => plane.kubectl(newest?.path ?? "", args);
		await kubectl("create", "deployment", "web", "--image=web:1", "--replicas=200");
		await kubectl("expose", "deployment", "web", "--port=80");
		await kubectl("rollout", "status", "deployment/web", "--timeout=60s");
		const flags = ["--for", "4s", "-o", "json", "--kubeconfig", plane.kubeconfig];
		const measured = finished(process.execPath, [PROGRAM, "watch-cost", "svc/web", ...flags]);
		await new Promise((resolve) => setTimeout(resolve, 1_500));
		await kubectl("scale", "deployment", "web", "--replicas=201");
		const { status, stdout, stderr } = await measured;
		expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
		const lines: { endpoints: Cost; endpointSlices: Cost }[] = stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		const total = (of: "endpoints" | "endpointSlices", what: keyof Cost): number =>
			lines.reduce((sum, line) => sum + line[of][what], 0);
		expect(total("endpoints", "events")).toBeGreaterThan(0);
		expect(total("endpointSlices", "events")).toBeGreaterThan(0);
		const perEvent = (of: "endpoints" | "endpointSlices"): number => total(of, "bytes") / total(of, "events");
		expect(perEvent("endpoints")).toBeGreaterThan(20_000);
		expect(perEvent("endpointSlices")).toBeLessThan(perEvent("endpoints"));
	},
);

test("a Service that is not there is an error", async () => {
	const { status, stdout, stderr } = await finished(process.execPath, [
		...[PROGRAM, "watch-cost", "svc/nope", "--for", "1s", "--kubeconfig", plane.kubeconfig],
	]);
	expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: 'error: services "nope" not found\n' });
});

test.skipIf(newest === undefined || newest.missing !== undefined)("says when its Service is deleted", async () => {
	const kubectl = (...args: string[]) => plane.kubectl(newest?.path ?? "", args);
	await kubectl("create", "service", "clusterip", "brief", "--tcp=80");
	const flags = ["--for", "4s", "--kubeconfig", plane.kubeconfig];
	const measured = finished(process.execPath, [PROGRAM, "watch-cost", "svc/brief", ...flags]);
	await new Promise((resolve) => setTimeout(resolve, 2_000));
	await kubectl("delete", "service", "brief");
	expect(await measured).toMatchObject({ status: 0, stderr: 'services "brief" was deleted\n' });
});

interface Cost {
	readonly events: number;
	readonly bytes: number;
}
