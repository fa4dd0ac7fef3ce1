/** `sliceplane proxy` as users run it: a cluster by kubeconfig, the rules of one node, real packets. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Lab, labProblem } from "../netns/lab.ts";
import { kubectlVersions } from "./kubectl-versions.ts";
import { eventually, finished, PROGRAM, RunningPlane } from "./plane.ts";

const [kubectl] = (await kubectlVersions()).filter(({ missing }) => missing === undefined);
const problem = labProblem() ?? (kubectl === undefined ? "no kubectl" : undefined);
if (problem !== undefined) process.stderr.write(`skipped: sliceplane proxy: ${problem}\n`);
/** How often the proxy is killed and started: more where there is time. */
const KILLS = Number(process.env["SLICEPLANE_PROXY_KILLS"] ?? 3);

const slice = (service: string, endpoints: readonly (readonly [ip: string, node: string])[]): string => `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${service}-1, labels: {kubernetes.io/service-name: ${service}}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [${endpoints.map(([ip, node]) => `{addresses: [${ip}], conditions: {ready: true}, nodeName: ${node}}`).join(", ")}]
`;
const MANIFESTS = `
apiVersion: v1
kind: Node
metadata: {name: node}
status: {addresses: [{type: InternalIP, address: 192.168.50.1}, {type: InternalIP, address: "fd00:50::1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, clusterIP: 10.96.0.10, ports: [{name: http, port: 80, nodePort: 30080}]}
${slice("web", [
	["10.244.1.10", "node"],
	["10.244.2.10", "n2"],
])}---
apiVersion: v1
kind: Service
metadata: {name: balanced}
spec:
  {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30999, clusterIP: 10.96.0.11, ports: [{name: http, port: 80}]}
${slice("balanced", [["10.244.1.10", "node"]])}`;

class ProxyProcess {
	readonly #child: ChildProcess;
	stdout = "";
	stderr = "";

	constructor(child: ChildProcess) {
		this.#child = child;
		child.stdout?.on("data", (chunk) => {
			this.stdout += String(chunk);
		});
		child.stderr?.on("data", (chunk) => {
			this.stderr += String(chunk);
		});
	}

	async ready(): Promise<this> {
		const isOver = (text: string): boolean => text.includes("Proxy is ready") || this.#child.exitCode !== null;
		await eventually(() => Promise.resolve(this.stdout), isOver, { what: "no proxy that is ready" });
		if (!this.stdout.includes("Proxy is ready")) throw new Error(`the proxy ended: ${this.stderr}`);
		return this;
	}

	async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
		this.#child.kill(signal);
		return this.exit();
	}

	async exit(): Promise<number | null> {
		const { exitCode, signalCode } = this.#child;
		if (exitCode !== null || signalCode !== null) return exitCode;
		return (await once(this.#child, "exit"))[0];
	}
}

let lab: Lab;
let plane: RunningPlane;
let proxy: ProxyProcess;

function inNode(...words: readonly string[]): readonly string[] {
	return ["ip", "netns", "exec", lab.namespaceOf("node"), ...words];
}

function start(...flags: readonly string[]): Promise<ProxyProcess> {
	return spawned(...flags).ready();
}

function spawned(...flags: readonly string[]): ProxyProcess {
	const common = ["--kubeconfig", plane.kubeconfig, "--hostname-override", "node", "--min-sync-period", "0"];
	const ranges = ["--cluster-cidr", "10.244.0.0/16", "--service-cluster-ip-range", "10.96.0.0/16"];
	const [file = "", ...words] = inNode(process.execPath, PROGRAM, "proxy", ...common, ...ranges, ...flags);
	return new ProxyProcess(spawn(file, words));
}

async function k(...args: readonly string[]): Promise<string> {
	const [file = "", ...words] = inNode(kubectl?.path ?? "", ...args);
	const env = { ...process.env, HOME: plane.folder, KUBECONFIG: plane.kubeconfig };
	const { status, stdout, stderr } = await finished(file, words, { env });
	if (status !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
	return stdout;
}

/** Status and body of what is served in the node's namespace. */
async function status(port: number, where: string, host = "127.0.0.1"): Promise<readonly [string, string]> {
	const [file = "", ...words] = inNode(
		"curl",
		"-s",
		"-m",
		"5",
		"-w",
		"\n%{http_code}",
		`http://${host}:${port}${where}`,
	);
	const lines = (await finished(file, words)).stdout.split("\n");
	return [lines.at(-1) ?? "", lines.slice(0, -1).join("\n")];
}

const ask = (host: string, port: number, times = 20) => lab.at("pc").ask({ host, port, times });

beforeAll(async () => {
	if (problem !== undefined) return;
	lab = await Lab.start();
	plane = await RunningPlane.start(["--nodes", "0", "--network", "none"], inNode());
	const file = path.join(plane.folder, "proxied.yaml");
	writeFileSync(file, MANIFESTS);
	await k("apply", "-f", file);
	proxy = await start();
});

afterAll(async () => {
	if (problem !== undefined) return;
	await proxy?.end("SIGKILL").catch(() => undefined);
	await plane?.stop();
	await lab?.stop();
});

describe.skipIf(problem !== undefined)("sliceplane proxy", () => {
	test("routes what the cluster has, and follows it", async () => {
		const both = ["pa from 10.244.1.12", "rp from 10.244.1.12"];
		expect([...new Set(await ask("10.96.0.10", 80))].sort()).toEqual(both);
		expect([...new Set(await ask("192.168.50.1", 30_080))].sort()).not.toContain("refused");
		const one = [{ op: "remove", path: "/endpoints/0" }];
		await k("patch", "endpointslice", "web-1", "--type", "json", "-p", JSON.stringify(one));
		await expect.poll(async () => [...new Set(await ask("10.96.0.10", 80, 10))]).toEqual(["rp from 10.244.1.12"]);
		await k(
			"patch",
			"service",
			"web",
			"--type",
			"merge",
			"-p",
			'{"metadata":{"labels":{"service.kubernetes.io/service-proxy-name":"x"}}}',
		);
		await expect
			.poll(() => lab.run("node", "nft", "list", "map", "ip", "sliceplane", "service-ips"))
			.not.toContain("10.96.0.10");
		await k("label", "service", "web", "service.kubernetes.io/service-proxy-name-");
		await expect.poll(async () => [...new Set(await ask("10.96.0.10", 80, 10))]).toEqual(["rp from 10.244.1.12"]);
	});

	test("says whether it is well, and whether its node should get connections", async () => {
		expect((await status(10_256, "/healthz"))[0]).toBe("200");
		expect(JSON.parse((await status(10_256, "/livez"))[1])).toMatchObject({ healthy: true });
		expect((await status(10_256, "/nope"))[0]).toBe("404");
		await k("taint", "node", "node", "ToBeDeletedByClusterAutoscaler=1:NoSchedule");
		await expect.poll(async () => (await status(10_256, "/healthz"))[0]).toBe("503");
		expect((await status(10_256, "/livez"))[0]).toBe("200");
		await k("taint", "node", "node", "ToBeDeletedByClusterAutoscaler-");
		expect((await status(10_249, "/proxyMode"))[1]).toBe("nftables");
		expect((await status(10_249, "/metrics"))[1]).toMatch(
			/^kubeproxy_sync_proxy_rules_duration_seconds_count\{ip_family="IPv6"\} \d+$/m,
		);
	});

	test("answers health check node ports with the number of ready endpoints of the node", async () => {
		const [code, body] = await status(30_999, "/", "192.168.50.1");
		expect([code, JSON.parse(body)]).toEqual([
			"200",
			{ service: { namespace: "default", name: "balanced" }, localEndpoints: 1, serviceProxyHealthy: true },
		]);
	});

	test("leaves the rules when it ends, and brings them in line when it starts again", async () => {
		expect(await proxy.end("SIGTERM")).toBe(0);
		expect(await ask("10.96.0.10", 80, 1)).toEqual(["rp from 10.244.1.12"]);
		await k("delete", "service", "balanced");
		proxy = await start();
		const chains = (): string => lab.run("node", "nft", "list", "chains", "ip");
		await expect.poll(chains, { timeout: 5_000 }).not.toContain("balanced");
		expect(await ask("10.96.0.10", 80, 1)).toEqual(["rp from 10.244.1.12"]);
	});

	test("writes anew what somebody else took away, warns once for each, and sees its own rules as whole", async () => {
		expect(await proxy.end("SIGTERM")).toBe(0);
		proxy = await start("--sync-period", "1s");
		await new Promise((resolve) => setTimeout(resolve, 2_500));
		expect(proxy.stderr).not.toContain("changed by somebody else");
		const lines = [
			"delete chain ip sliceplane nat-postrouting",
			"flush table ip sliceplane",
			"flush map ip sliceplane service-ips",
		];
		for (const [index, line] of lines.entries()) {
			lab.run("node", "nft", line);
			const warnings = (): number => proxy.stderr.split("changed by somebody else").length - 1;
			await expect.poll(warnings, { timeout: 30_000 }).toBe(index + 1);
			// The warning comes before the repair: what is taken away between the two needs no other.
			await expect
				.poll(() => lab.run("node", "nft", "list", "table", "ip", "sliceplane"), { timeout: 10_000 })
				.toMatch(/chain nat-postrouting \{[^}]*jump masquerading/);
			await expect.poll(() => ask("10.96.0.10", 80, 1)).toEqual(["rp from 10.244.1.12"]);
		}
	});

	test(`loses no connection and leaves nothing over in ${KILLS} rounds of kill -9 and start`, async () => {
		expect(await lab.at("pc").hold("held", "10.96.0.10", 80)).toBe("connected");
		for (let round = 1; round <= KILLS; round++) {
			await proxy.end("SIGKILL");
			expect(await lab.at("pc").say("held")).toBe("rp from 10.244.1.12");
			await k("create", "service", "clusterip", `round-${round}`, "--tcp=80");
			if (round > 1) await k("delete", "service", `round-${round - 1}`);
			proxy = await start();
			expect(await ask("10.96.0.10", 80, 1)).toEqual(["rp from 10.244.1.12"]);
			expect(await lab.at("pc").say("held")).toBe("rp from 10.244.1.12");
			// Of a Service without endpoints there is one element, and none of those before.
			const refused = lab.run("node", "nft", "list", "map", "ip", "sliceplane", "no-endpoint-services");
			expect(refused.match(/goto reject-chain/g)).toHaveLength(1);
		}
	});

	test("ends when its Node has another address, for whoever watches it to start it anew", async () => {
		const other = { status: { addresses: [{ type: "InternalIP", address: "192.168.50.77" }] } };
		await k("patch", "node", "node", "--subresource", "status", "--type", "merge", "-p", JSON.stringify(other));
		expect(await proxy.exit()).toBe(1);
		expect(proxy.stderr).toContain("error: addresses or podCIDRs of the Node node changed; start the proxy anew");
	});

	test("waits for an InternalIP of its Node, and SIGTERM ends the wait", async () => {
		const none = { status: { addresses: [{ type: "Hostname", address: "node" }] } };
		await k("patch", "node", "node", "--subresource", "status", "--type", "merge", "-p", JSON.stringify(none));
		for (const node of ["node", "none"]) {
			proxy = spawned("--hostname-override", node);
			await expect.poll(() => proxy.stderr, { timeout: 10_000 }).toContain("The proxy waits for its Node");
			expect(await proxy.end("SIGTERM")).toBe(0);
			expect(proxy.stderr).toContain(node === "none" ? "no Node none" : "no InternalIP");
		}
	});

	test("without nft, or without the right to use it, it says what it takes", async () => {
		const common = [process.execPath, PROGRAM, "proxy", "--kubeconfig", plane.kubeconfig];
		const missing = await finished("env", ["PATH=/none", ...common]);
		expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining("apt-get install nftables")]);
		const powerless = await finished("setpriv", ["--bounding-set=-net_admin", "--inh-caps=-net_admin", ...common]);
		expect([powerless.status, powerless.stderr]).toEqual([1, expect.stringContaining("CAP_NET_ADMIN")]);
	});

	test("--cleanup removes every rule", async () => {
		const [file = "", ...words] = inNode(process.execPath, PROGRAM, "proxy", "--cleanup");
		expect((await finished(file, words)).status).toBe(0);
		expect(lab.run("node", "nft", "list", "tables")).toBe("");
	});
});
