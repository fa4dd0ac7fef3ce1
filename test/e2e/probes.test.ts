/** Probes that run, restarts, and containers as processes, with a real kubectl. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { freeNodePort, get } from "./node-ports.ts";
import { eventually, type Finished, RunningPlane } from "./plane.ts";

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

/** Says 503 for a second, then works; `/break` makes it fail its liveness probe. */
const SERVER = `
	const since = Date.now();
	let isBroken = false;
	const server = require("node:http").createServer((request, response) => {
		if (request.url === "/break") isBroken = true;
		const isFine = { "/ready": Date.now() - since > 1000, "/live": !isBroken }[request.url] ?? true;
		response.writeHead(isFine ? 200 : 503).end(process.env.NAME + " " + process.pid);
	});
	server.listen(process.env.PORT, "127.0.0.1", () => console.log("listening as", process.pid));
	process.on("SIGTERM", () => { console.log("draining"); server.close(); server.closeAllConnections(); });
`;

function serverPods(nodePort: number): string {
	const httpGet = (url: string): object => ({ httpGet: { path: url, port: "web" }, periodSeconds: 1 });
	const container = {
		name: "server",
		image: "none",
		command: [process.execPath, "-e", SERVER],
		env: [{ name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
		ports: [{ name: "web", containerPort: 8080 }],
		readinessProbe: httpGet("/ready"),
		livenessProbe: { ...httpGet("/live"), failureThreshold: 1 },
	};
	const labels = { app: "server" };
	const deployment = {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: { name: "server" },
		spec: {
			replicas: 2,
			selector: { matchLabels: labels },
			template: { metadata: { labels }, spec: { containers: [container] } },
		},
	};
	const service = {
		apiVersion: "v1",
		kind: "Service",
		metadata: { name: "server" },
		spec: { type: "NodePort", selector: labels, ports: [{ port: 80, targetPort: "web", nodePort }] },
	};
	return JSON.stringify({ apiVersion: "v1", kind: "List", items: [deployment, service] });
}

function isAlive(pid: number): boolean {
	const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
	return stdout.trim() !== "" && !stdout.startsWith("Z");
}

describe.skipIf(isMissing)("with --runtime process", () => {
	let plane: RunningPlane;
	let nodePort: number;
	const kubectl = (...args: string[]): Promise<Finished> => plane.kubectl(newest?.path ?? "", args);
	const jsonPath = async (what: string, template: string): Promise<string> =>
		(await kubectl("get", ...what.split(" "), "-o", `jsonpath=${template}`)).stdout;
	const apply = async (name: string, text: string): Promise<void> => {
		const file = path.join(plane.folder, name);
		writeFileSync(file, text);
		expect(await kubectl("apply", "-f", file)).toMatchObject({ status: 0 });
	};

	beforeAll(async () => {
		plane = await RunningPlane.start(["--runtime", "process"]);
		nodePort = await freeNodePort();
	});
	afterAll(async () => {
		await plane?.stop();
	});

	test("a readiness probe of a simulated Pod fails first, then passes", async () => {
		const readinessProbe = { httpGet: { path: "/readyz", port: 8080 }, periodSeconds: 1 };
		await apply(
			"slow.json",
			JSON.stringify({
				apiVersion: "v1",
				kind: "Pod",
				metadata: { name: "slow", annotations: { "sliceplane.dev/ready-after": "2s" } },
				spec: { containers: [{ name: "c", image: "none", readinessProbe }] },
			}),
		);
		await kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/slow", "--timeout=20s");
		expect(await jsonPath("pod slow", "{.status.containerStatuses[0].ready}")).toBe("false");
		expect(await kubectl("wait", "--for=condition=Ready", "pod/slow", "--timeout=20s")).toMatchObject({ status: 0 });
		const { stdout } = await kubectl("describe", "pod", "slow");
		expect(stdout).toMatch(/Warning +Unhealthy .*Readiness probe failed: HTTP probe failed with statuscode: 503/);
	});

	test("a liveness probe that fails has the container restarted", async () => {
		const livenessProbe = { grpc: { port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
		await apply(
			"dead.json",
			JSON.stringify({
				apiVersion: "v1",
				kind: "Pod",
				metadata: { name: "dead", annotations: { "sliceplane.dev/never-ready": "true" } },
				spec: { containers: [{ name: "c", image: "none", livenessProbe }] },
			}),
		);
		await eventually(
			() => jsonPath("pod dead", "{.status.containerStatuses[0].restartCount}"),
			(count) => Number(count) >= 1,
		);
		const { stdout } = await kubectl("describe", "pod", "dead");
		expect(stdout).toMatch(/Liveness probe failed: service unhealthy \(responded with "NOT_SERVING"\)/);
		expect(stdout).toMatch(/Normal +Killing .*Container c failed liveness probe, will be restarted/);
	});

	test("servers of one's own answer behind a Service, restart when they are not alive, and end with the plane", async () => {
		await apply("server.json", serverPods(nodePort));
		await kubectl("rollout", "status", "deployment/server", "--timeout=30s");
		const names = async (): Promise<Set<string>> => {
			const answers = await Promise.all(Array.from({ length: 8 }, () => get(nodePort, "/")));
			return new Set(answers.map((answer) => answer.split(" ")[0] ?? ""));
		};
		await eventually(names, (seen) => seen.size === 2 && [...seen].every((name) => name.startsWith("server-")));

		const [broken = ""] = (await get(nodePort, "/break")).split(" ");
		await eventually(
			() => jsonPath(`pod ${broken}`, "{.status.containerStatuses[0].restartCount}"),
			(count) => count === "1",
		);
		await eventually(
			() => jsonPath(`pod ${broken}`, "{.status.containerStatuses[0].ready}"),
			(ready) => ready === "true",
		);
		const { stdout: log } = await kubectl("logs", broken);
		expect(log).toMatch(/^listening as \d+\n$/);
		const { stdout: previousLog } = await kubectl("logs", broken, "--previous");
		expect(previousLog).toMatch(/^listening as \d+\ndraining\n$/);
		expect(await kubectl("delete", "pod", broken, "--timeout=10s")).toMatchObject({ status: 0 });

		const pids = [...(previousLog + log).matchAll(/as (\d+)/g)].map(([, pid]) => Number(pid));
		const others = await eventually(names, (seen) => seen.size === 2 && !seen.has(broken));
		for (const name of others) {
			const { stdout } = await kubectl("logs", name);
			pids.push(Number(/as (\d+)/.exec(stdout)?.[1]));
		}
		expect(pids.map(isAlive)).toEqual([false, false, true, true]);
		expect(await plane.stop()).toBe(0);
		expect(pids.map(isAlive)).toEqual([false, false, false, false]);
	});
});
