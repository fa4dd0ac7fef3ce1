/** `up --network netns` and `exec`: real packets between simulated nodes. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rollInNamespaces } from "../load/netns-rolling.ts";
import { labProblem } from "../netns/lab.ts";
import { eventually, type Finished, finished, PROGRAM, RunningPlane } from "./plane.ts";

const problem = labProblem();
if (problem !== undefined) process.stderr.write(`skipped: a network namespace for each node: ${problem}\n`);

const UP = ["--network", "netns", "--nodes", "2", "--zones", "a,b"];

function deployment(name: string, replicas: number, node?: string): object {
	const labels = { app: name };
	return {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: { name },
		spec: {
			replicas,
			selector: { matchLabels: labels },
			template: {
				metadata: { labels },
				spec: {
					containers: [{ name: "c", image: `${name}:1` }],
					...(node === undefined ? {} : { nodeSelector: { "kubernetes.io/hostname": node } }),
				},
			},
		},
	};
}

function service(name: string, clusterIP: string, spec: object, app: string = name): object {
	const ports = [{ name: "http", port: 80, targetPort: 8080 }];
	return {
		apiVersion: "v1",
		kind: "Service",
		metadata: { name },
		spec: { clusterIP, selector: { app }, ports, ...spec },
	};
}

const MANIFESTS = [
	deployment("web", 4),
	deployment("far", 1, "n2"),
	deployment("near", 1, "n1"),
	service("web", "10.96.0.20", {
		type: "NodePort",
		ports: [{ name: "http", port: 80, targetPort: 8080, nodePort: 30_080 }],
	}),
	service("close", "10.96.0.21", { trafficDistribution: "PreferClose" }, "web"),
	service("local", "10.96.0.22", { internalTrafficPolicy: "Local" }, "far"),
	service("none", "10.96.0.23", {}),
	service("hair", "10.96.0.24", {}),
	service("udp", "10.96.0.25", { ports: [{ protocol: "UDP", port: 53, targetPort: 5353 }] }, "web"),
	service("near", "10.96.0.27", {
		type: "NodePort",
		ports: [{ name: "http", port: 80, targetPort: 8080, nodePort: 30_081 }],
	}),
	service(
		"checked",
		"10.96.0.26",
		{ type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31_999 },
		"far",
	),
];

function namespaces(): readonly string[] {
	const names = execFileSync("ip", ["netns", "list"], { encoding: "utf8" }).split("\n");
	return names.map((line) => line.split(" ")[0] ?? "").filter((name) => name !== "");
}

function ofPlane({ process: { pid } }: RunningPlane): readonly string[] {
	return namespaces().filter((name) => name.startsWith(`sp-${pid}-`));
}

describe.skipIf(problem !== undefined)("a network namespace for each node", () => {
	let plane: RunningPlane;
	const kubectl = (...args: readonly string[]): Promise<Finished> => plane.kubectl("kubectl", args);

	/** The command on n1, or with more flags elsewhere. */
	function exec(cmd: readonly string[], ...flags: readonly string[]): Promise<Finished> {
		const args = [PROGRAM, "exec", "--kubeconfig", plane.kubeconfig, ...flags, "--", ...cmd];
		return finished(process.execPath, args);
	}
	const curl = (url: string, ...flags: readonly string[]) => exec(["curl", "-sSm2", url], ...flags);
	/** Who answers 60 requests: that one of four is never chosen has a chance of 1 to 10 million. */
	async function answering(host: string, ...flags: readonly string[]): Promise<readonly string[]> {
		const many = `for i in $(seq 60); do curl -sSm2 http://${host}/hostname; echo; done`;
		const { stdout } = await exec(["sh", "-c", many], ...flags);
		return [...new Set(stdout.trim().split("\n"))];
	}
	async function podsOn(app: string, node?: string): Promise<readonly string[]> {
		const { stdout } = await kubectl("get", "pods", "-l", `app=${app}`, "-o", "json");
		const { items } = JSON.parse(stdout) as { items: { metadata: { name: string }; spec: { nodeName: string } }[] };
		return items
			.filter(({ spec }) => node === undefined || spec.nodeName === node)
			.map(({ metadata }) => metadata.name);
	}

	beforeAll(async () => {
		if (problem !== undefined) return;
		plane = await RunningPlane.start(UP);
		const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: MANIFESTS });
		expect(await plane.kubectl("kubectl", ["create", "-f", "-"], list)).toMatchObject({ status: 0 });
		const available = ["wait", "deployment", "--all", "--for=condition=Available", "--timeout=60s"];
		expect(await plane.kubectl("kubectl", available)).toMatchObject({ status: 0 });
		await eventually(
			() => exec(["curl", "-sSfm2", "http://10.96.0.22/"], "--node", "n2"),
			({ status }) => status === 0,
		);
	});
	afterAll(async () => {
		if (problem === undefined) await plane.stop();
	});

	test("a client reaches all endpoints by name, and by a cluster IP", async () => {
		const pods = [...(await podsOn("web"))].sort();
		expect([...(await answering("web"))].sort()).toEqual(pods);
		expect([...(await answering("10.96.0.20"))].sort()).toEqual(pods);
	});

	test.each(["192.168.0.1", "192.168.0.2"])("the node port of %s leads to all nodes", async (host) => {
		expect((await answering(`${host}:30080`)).length).toBeGreaterThan(2);
	});

	test("a pod is reached at its own address, and refuses ports that it has not", async () => {
		const { stdout } = await kubectl("get", "pods", "-l", "app=far", "-o", "jsonpath={.items[0].status.podIP}");
		expect((await curl(`http://${stdout}:8080/hostname`)).stdout).toBe((await podsOn("far"))[0]);
		expect((await curl(`http://${stdout}:8081/`)).status).toBe(7);
	});

	test("a pod that reaches itself by its Service sees its node's address", async () => {
		const script = `
			const http = require("node:http");
			const server = http.createServer((request, answer) => answer.end(request.socket.remoteAddress));
			server.listen(8080, "0.0.0.0");
			const ask = (left) => http.get("http://10.96.0.24/", { agent: false }, (answer) => {
				answer.setEncoding("utf8").on("data", (text) => { console.log(text); process.exit(0); });
			}).on("error", () => setTimeout(ask, 100, left - 1));
			ask(100);`;
		expect(await exec([process.execPath, "-e", script], "-l", "app=hair")).toMatchObject({
			status: 0,
			stdout: "192.168.0.1\n",
		});
	});

	test.each([
		{ to: "192.168.0.1:30081", sees: "192.168.0.1", who: "through a node port, which is masqueraded" },
		{ to: "10.96.0.27:80", sees: "10.244.1.", who: "of another node through a cluster IP" },
	])("a pod of the plane sees a client $who, as $sees", async ({ to, sees }) => {
		const [host = "", port = ""] = to.split(":");
		const [name = ""] = ofPlane(plane).filter((each) => each.endsWith("-n1"));
		const script = `
			const socket = require("node:net").connect(${port}, "${host}", () => console.log("connected"));
			process.stdin.resume().once("end", () => process.exit(0));`;
		const args = [
			PROGRAM,
			"exec",
			"--kubeconfig",
			plane.kubeconfig,
			"--node",
			"n2",
			"--",
			process.execPath,
			"-e",
			script,
		];
		const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
		await new Promise((resolve) => child.stdout.once("data", resolve));
		const peers = execFileSync(
			"ip",
			["netns", "exec", name, "ss", "-Htn", "state", "established", "sport", "=", ":8080"],
			{
				encoding: "utf8",
			},
		);
		child.stdin.end();
		await new Promise((resolve) => child.once("exit", resolve));
		expect(peers.trim().split(/\s+/)[3]).toMatch(new RegExp(`^${sees.replaceAll(".", "\\.")}`));
	});

	test("internalTrafficPolicy Local: pods of the client's own node, or silence", async () => {
		expect(await answering("local", "--node", "n2")).toEqual(await podsOn("far"));
		expect((await curl("http://local/", "--node", "n1")).status).toBe(28);
	});

	test.each(["n1", "n2"])("PreferClose: a client on %s is answered in its own zone", async (node) => {
		const pods = [...(await podsOn("web", node))].sort();
		expect(pods.length).toBeGreaterThan(0);
		await eventually(
			async () => [...(await answering("close", "--node", node))].sort(),
			(names) => names.join() === pods.join(),
		);
	});

	test("without endpoints a connection is refused at once", async () => {
		const { status, stdout } = await exec(["curl", "-sm2", "-w", "%{time_total}", "http://none/"]);
		expect(status).toBe(7);
		expect(Number(stdout)).toBeLessThan(0.5);
	});

	test("datagrams are answered", async () => {
		const script = `
			const socket = require("node:dgram").createSocket("udp4");
			socket.on("message", (bytes, from) => { console.log(String(bytes), from.address); process.exit(0); });
			socket.send("hello", 53, "10.96.0.25");`;
		expect(await exec([process.execPath, "-e", script])).toMatchObject({ stdout: "hello 10.96.0.25\n" });
	});

	test("health check node ports tell which nodes have endpoints", async () => {
		expect(JSON.parse((await curl("http://192.168.0.2:31999/")).stdout)).toMatchObject({ localEndpoints: 1 });
		expect(JSON.parse((await curl("http://192.168.0.1:31999/")).stdout)).toMatchObject({ localEndpoints: 0 });
	});

	test("kubectl works inside, and shows the client's own pod", async () => {
		const { stdout } = await exec(["kubectl", "get", "pods", "-o", "name"], "--node", "n2");
		expect(stdout).toMatch(/^pod\/exec-/m);
		expect(await podsOn("exec")).toEqual([]);
	});

	test("pods answer through the API's proxy", async () => {
		const [name = ""] = await podsOn("far");
		const { stdout } = await kubectl("get", "--raw", `/api/v1/namespaces/default/pods/${name}:8080/proxy/hostname`);
		expect(stdout).toBe(name);
	});

	test("a node's process that dies is started again, with its pods and health checks", async () => {
		const [name = ""] = ofPlane(plane).filter((each) => each.endsWith("-n2"));
		const pids = execFileSync("ip", ["netns", "pids", name], { encoding: "utf8" }).trim().split("\n");
		process.kill(Number(pids[0]), "SIGKILL");
		const isBack = ({ status }: Finished): boolean => status === 0;
		await eventually(() => exec(["curl", "-sSfm2", "http://local/"], "--node", "n2"), isBack);
		await eventually(() => exec(["curl", "-sSfm2", "http://192.168.0.2:31999/"]), isBack);
	});

	test("without root it works in namespaces of one's own", async () => {
		const inner = `${process.execPath} ${PROGRAM} exec -- dig +short kubernetes.default.svc.cluster.local`;
		const up = `${process.execPath} ${PROGRAM} up --network netns --listen 127.0.0.1:0 -- ${inner}`;
		const script = `ip link set lo up; mount -t tmpfs run /run; exec ${up}`;
		const { status, stdout, stderr } = await finished("unshare", ["-Urnm", "sh", "-c", script]);
		// Many systems let only root make user namespaces.
		if (stderr.includes("unshare:")) return;
		expect({ status, stdout }).toEqual({ status: 0, stdout: "10.96.0.1\n" });
	});

	test("a client that is killed is no endpoint any more within seconds, and leaves nothing", async () => {
		const args = [
			PROGRAM,
			"exec",
			"--kubeconfig",
			plane.kubeconfig,
			"-l",
			"app=hair",
			"--",
			"sh",
			"-c",
			"echo up; cat",
		];
		const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
		await new Promise((resolve) => child.stdout.once("data", resolve));
		expect(await podsOn("hair")).toHaveLength(1);
		child.kill("SIGKILL");
		await eventually(
			() => podsOn("hair"),
			(pods) => pods.length === 0,
		);
		await eventually(
			() => Promise.resolve(namespaces()),
			(names) => !names.some((name) => name.startsWith(`sp-${child.pid}-`)),
		);
		child.stdin.destroy();
	});

	test("without --node exec takes the first node that is a namespace", async () => {
		const node = JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "a0" } });
		expect(await plane.kubectl("kubectl", ["create", "-f", "-"], node)).toMatchObject({ status: 0 });
		expect(await exec(["true"])).toMatchObject({ status: 0 });
		expect(await kubectl("delete", "node", "a0")).toMatchObject({ status: 0 });
	});

	test("exec passes statuses, input and signals, and leaves nothing", async () => {
		expect((await exec(["sh", "-c", "exit 7"])).status).toBe(7);
		expect((await exec(["no-such-program"])).status).toBe(127);
		expect(await exec(["true"], "--node", "n9")).toMatchObject({
			status: 1,
			stderr: expect.stringContaining("no node n9"),
		});
		const args = [
			PROGRAM,
			"exec",
			"--kubeconfig",
			plane.kubeconfig,
			"--",
			"sh",
			"-c",
			"trap 'exit 5' TERM; cat; echo up; while :; do sleep 0.1; done",
		];
		const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
		child.stdin.end("in ");
		await new Promise<void>((resolve) => child.stdout.on("data", (text) => String(text).includes("up") && resolve()));
		const ended = new Promise((resolve) => child.once("exit", resolve));
		child.kill("SIGTERM");
		expect(await ended).toBe(5);
		expect(namespaces().filter((name) => name.startsWith(`sp-${child.pid}-`))).toEqual([]);
		const { stdout } = await kubectl("get", "pods", "-o", "name");
		expect(stdout).not.toContain("exec-");
	});

	test("at its end nothing is left, and after kill -9 at the next start", async () => {
		const killed = await RunningPlane.start(["--network", "netns", "--nodes", "1"]);
		const left = ofPlane(killed);
		expect(left).toHaveLength(2);
		await killed.stop("SIGKILL");
		expect(ofPlane(killed)).toEqual(left);
		const dual = [
			"--cluster-cidr",
			"10.244.0.0/16,fd00:244::/48",
			"--service-cluster-ip-range",
			"10.96.0.0/16,fd00:96::/112",
		];
		const next = await RunningPlane.start(["--network", "netns", "--nodes", "2", ...dual]);
		expect(next.stderr).toContain("Removed 2 network namespaces");
		expect(ofPlane(killed)).toEqual([]);
		expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`sliceplane-sp-${killed.process.pid}-`))).toEqual([]);
		expect(ofPlane(next)).toHaveLength(3);
		const six = [
			PROGRAM,
			"exec",
			"--kubeconfig",
			next.kubeconfig,
			"--",
			..."dig +short @fd00:96::a kubernetes.default.svc.cluster.local".split(" "),
		];
		expect((await finished(process.execPath, six)).stdout).toBe("10.96.0.1\n");
		expect(await next.stop()).toBe(0);
		expect(ofPlane(next)).toEqual([]);
	});

	test("a plane that goes on where another one ended has namespaces of its own", async () => {
		const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-netns-"));
		const exec = [
			process.execPath,
			PROGRAM,
			"exec",
			"--node",
			"n1",
			"--",
			"dig",
			"+short",
			"kube-dns.kube-system.svc.cluster.local",
		];
		const flags = [
			"--network",
			"netns",
			"--nodes",
			"1",
			"--listen",
			"127.0.0.1:0",
			"--data-dir",
			path.join(folder, "data"),
		];
		for (let start = 0; start < 2; start++) {
			const { stdout, stderr } = await finished(process.execPath, [PROGRAM, "up", ...flags, "--", ...exec]);
			expect({ stdout, stderr }).toMatchObject({ stdout: "10.96.0.10\n" });
		}
		rmSync(folder, { recursive: true, force: true });
	});

	test("names of other zones go to the DNS servers of --dns-upstream, which the plane asks", async () => {
		const other = await RunningPlane.start([
			"--nodes",
			"0",
			"--dns-listen",
			"127.0.0.1:0",
			"--cluster-domain",
			"other.test",
		]);
		const [, upstream = ""] = /DNS at (\S+),/.exec(other.stderr) ?? [];
		const flags = ["--network", "netns", "--nodes", "1", "--listen", "127.0.0.1:0", "--dns-upstream", upstream];
		const exec = [process.execPath, PROGRAM, "exec", "--", "dig", "+short", "kubernetes.default.svc.other.test"];
		const { stdout, stderr } = await finished(process.execPath, [PROGRAM, "up", ...flags, "--", ...exec]);
		await other.stop();
		expect({ stdout, stderr }).toMatchObject({ stdout: "10.96.0.1\n" });
	});

	test("a rolling update of 10 Pods under 200 requests a second loses none", async () => {
		const { sent, failures } = await rollInNamespaces(10);
		expect(failures).toEqual({});
		expect(sent).toBeGreaterThan(200);
		process.stderr.write(`rolling update in namespaces: ${sent} requests, none failed\n`);
	});

	test("a rolling update loses some when Pods do not drain", async () => {
		const { failures } = await rollInNamespaces(10, { drain: false });
		expect(failures).not.toEqual({});
	});
});
