/** The API's `proxy` subresources, and what is logged of each connection. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { freeNodePort, get } from "./node-ports.ts";
import { eventually, type Finished, RunningPlane } from "./plane.ts";

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

describe.skipIf(isMissing)("a plane with --log-decisions", () => {
	let plane: RunningPlane;
	let port: number;
	const kubectl = (...args: string[]): Promise<Finished> => plane.kubectl(newest?.path ?? "", args);
	const raw = (path: string): Promise<Finished> => kubectl("get", "--raw", `/api/v1/namespaces/default/${path}`);

	beforeAll(async () => {
		plane = await RunningPlane.start(["--log-decisions"]);
		port = await freeNodePort();
		await kubectl("create", "deployment", "shop", "--image=shop:1", "--replicas=2");
		await kubectl("create", "service", "nodeport", "shop", "--tcp=80:8080", `--node-port=${port}`);
		await kubectl("create", "service", "clusterip", "empty", "--tcp=80:8080");
		await kubectl("rollout", "status", "deployment/shop", "--timeout=30s");
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer.startsWith("shop-"),
		);
	});
	afterAll(async () => {
		await plane?.stop();
	});

	test.each(["services/shop:80/proxy/hostname", "services/http:shop:80-8080/proxy/hostname"])(
		"answers %s by one of the Pods",
		async (path) => {
			expect((await raw(path)).stdout).toMatch(/^shop-/);
		},
	);

	test("passes path, query and body on to the Pod that is named", async () => {
		const [name = ""] = (await kubectl("get", "pods", "-o", "name")).stdout.split("\n");
		const pod = name.replace("pod/", "");
		const asked = JSON.parse((await raw(`pods/${pod}:81/proxy/a%20b/?x=1&y=%2F`)).stdout);
		expect(asked).toMatchObject({ pod, port: 81, method: "GET", path: "/a%20b/?x=1&y=%2F" });
		const url = `/api/v1/namespaces/default/pods/${pod}/proxy/post`;
		const posted = await plane.kubectl(newest?.path ?? "", ["create", "--raw", url, "-f", "-"], "{}");
		expect(JSON.parse(posted.stdout)).toMatchObject({ pod, method: "POST", path: "/post" });
	});

	test("tells Pods nothing of who asks", async () => {
		const url = "/api/v1/namespaces/default/services/shop:80/proxy/";
		const { stdout } = await kubectl("get", "--raw", url, "--as=boss", "--as-group=system:masters");
		expect(Object.keys(JSON.parse(stdout).headers)).toContain("user-agent");
		expect(stdout).not.toMatch(/impersonate|authorization|boss/i);
	});

	test.each([
		["services/empty/proxy/", 'no endpoints available for service "empty"'],
		// Its only port has a name, so that it has to be named.
		["services/shop/proxy/", 'no endpoints available for service "shop"'],
		["services/shop:81/proxy/", 'no service port 81 found for service "shop"'],
		["services/none/proxy/", 'services "none" not found'],
		["pods/none/proxy/", 'pods "none" not found'],
	])("refuses %s as a real server does", async (path, message) => {
		const { status, stderr } = await raw(path);
		expect(status).toBe(1);
		expect(stderr).toContain(message);
	});

	test("refuses a user without rights", async () => {
		const asked = ["get", "--raw", "/api/v1/namespaces/default/services/shop/proxy/", "--as=nobody"];
		expect((await kubectl(...asked)).stderr).toMatch(/forbidden/i);
	});

	test("logs where each connection goes, and why there", async () => {
		await get(port, "/hostname");
		const lines = (): Record<string, unknown>[] =>
			plane.stderr
				.split("\n")
				.filter((line) => line.startsWith("{"))
				.map((line) => JSON.parse(line));
		const seen = await eventually(
			async () => lines().find(({ service }) => service === "default/shop"),
			(line) => line !== undefined,
		);
		expect(seen).toMatchObject({
			asked: `127.0.0.1:${port}/TCP`,
			verdict: "forward",
			by: "round robin",
			candidates: 2,
		});
		expect(seen?.["pod"]).toMatch(/^default\/shop-/);
	});
});
