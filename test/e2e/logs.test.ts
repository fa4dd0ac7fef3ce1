/** kubectl logs: what simulated containers print. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { eventually, RunningPlane } from "./plane.ts";

const versions = (await kubectlVersions()).filter(({ name }) => /1\.35$/.test(name));

describe.each(versions)("$name logs", ({ path: binary, missing }) => {
	let plane: RunningPlane;
	let follower: ChildProcess | undefined;

	beforeAll(async () => {
		if (missing !== undefined) return;
		plane = await RunningPlane.start(["--nodes", "1"]);
		await plane.kubectl(binary, ["create", "deployment", "web", "--image=x", "--port=8080"]);
		await plane.kubectl(binary, ["create", "service", "nodeport", "web", "--tcp=80:8080"]);
		await plane.kubectl(binary, ["rollout", "status", "deployment/web", "--timeout=30s"]);
	});
	afterAll(async () => {
		follower?.kill();
		await plane?.stop();
	});

	test.skipIf(missing !== undefined)("has the start, and each answered request; -f goes on to the end", async () => {
		const logs = async (...flags: readonly string[]): Promise<string> =>
			(await plane.kubectl(binary, ["logs", "deployment/web", ...flags])).stdout;
		const started = /^started, answers on every port of 10\.244\.0\.\d+\n/;
		expect(await logs()).toMatch(started);

		const env = { ...process.env, HOME: path.join(plane.folder, "follower"), KUBECONFIG: plane.kubeconfig };
		const child = spawn(binary, ["logs", "-f", "deployment/web"], { env });
		follower = child;
		let followed = "";
		child.stdout.on("data", (chunk) => {
			followed += String(chunk);
		});
		const isOver = new Promise((resolve) => child.once("exit", resolve));
		const port = await plane.kubectl(binary, ["get", "service", "web", "-o", "jsonpath={.spec.ports[0].nodePort}"]);
		const answer = await eventually(
			() => fetch(`http://127.0.0.1:${port.stdout}/status/418`).catch(() => undefined),
			(response) => response?.status === 418,
		);
		await answer?.text();
		await eventually(
			async () => followed,
			(text) => text.includes("GET /status/418 418"),
			{ what: "the request in the followed log" },
		);
		expect(await logs("--tail=1")).toBe("GET /status/418 418\n");
		expect(await logs("--tail=1", "--timestamps")).toMatch(/^\d{4}-\d\d-\d\dT\S+Z GET /);
		await plane.kubectl(binary, ["delete", "deployment", "web"]);
		expect(await isOver).toBe(0);
		expect(followed).toMatch(started);
	});

	test.skipIf(missing !== undefined)(
		"of a restarted container are of its last run, --previous of the one before",
		async () => {
			const livenessProbe = { httpGet: { path: "/status/500", port: 80 }, periodSeconds: 1, failureThreshold: 1 };
			const containers = [{ name: "c", image: "x", livenessProbe }];
			const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "ill" }, spec: { containers } };
			await plane.kubectl(binary, ["apply", "-f", "-"], JSON.stringify(pod));
			const logs = async (...flags: readonly string[]): Promise<string> =>
				(await plane.kubectl(binary, ["logs", "ill", ...flags])).stdout;
			const previous = await eventually(
				() => logs("--previous"),
				(text) => text !== "",
			);
			expect(previous).toMatch(/^started, .*\nGET \/status\/500 500\n(.*\n)?ended with exit code 0\n$/);
			expect(await logs()).toMatch(/^started, /);
		},
	);

	test.skipIf(missing !== undefined)("refuses exec and attach with a sentence that names what there is", async () => {
		await plane.kubectl(binary, ["run", "one", "--image=x"]);
		await plane.kubectl(binary, ["wait", "--for=condition=Ready", "pod/one", "--timeout=30s"]);
		const refused = await plane.kubectl(binary, ["exec", "one", "--", "ls"]);
		expect(refused.status).toBe(1);
		expect(refused.stderr).toMatch(/simulated/);
	});
});
