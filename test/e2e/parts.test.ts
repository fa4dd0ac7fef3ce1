/** The parts alone: who leads, who refuses to work beside whom, what several API servers have in common. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Part, PartsLab } from "./parts.ts";
import { eventually } from "./plane.ts";

let lab: PartsLab;
beforeAll(async () => {
	lab = await PartsLab.start();
	await lab.give("controllers");
	await lab.make("/api/v1/nodes", { metadata: { name: "elsewhere" } });
});
afterAll(async () => {
	await lab?.stop();
});

const NS = "/api/v1/namespaces/default";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const OF_ENDPOINTS = "--controllers=endpointslice-controller,endpoints-controller";
const NO_METRICS = "--metrics-bind-address=";
const SHORT = [
	"--leader-elect-lease-duration=3s",
	"--leader-elect-renew-deadline=2s",
	"--leader-elect-retry-period=500ms",
];

interface Candidate {
	readonly part: Part;
	/** Each is known by its own to the recorder. */
	readonly token: string;
}

async function candidate(...flags: readonly string[]): Promise<Candidate> {
	const kubeconfig = await lab.accountOf("controllers");
	const part = lab.start(["controllers", OF_ENDPOINTS, NO_METRICS, "--kubeconfig", kubeconfig, ...flags]);
	return { part, token: lab.tokenOf("controllers") };
}

/** Two of them: one that leads, and one that has said that it stands by. */
async function pair(...flags: readonly string[]): Promise<readonly [leader: Candidate, other: Candidate]> {
	const leader = await candidate(...flags);
	await leader.part.ready();
	const other = await candidate(...flags);
	await eventually(
		async () => other.part.stderr,
		(text) => text.includes("Standing by"),
		{ what: "no stand-by" },
	);
	return [leader, other];
}

function writes({ token }: Candidate): number {
	return lab.asked("controllers", token).filter(({ right }) => /^(create|update|patch|delete)/.test(right)).length;
}

async function setAddress(ip: string): Promise<void> {
	const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
	await lab.ask("PATCH", `${NS}/pods/p/status`, { status });
}

function hasSlice(ip: string): Promise<unknown> {
	const isThere = ({ json }: { json: unknown }): boolean => JSON.stringify(json).includes(`"${ip}"`);
	return eventually(() => lab.ask("GET", SLICES), isThere, { what: `no slice with ${ip}`, withinMs: 10_000 });
}

describe("of two controllers", () => {
	let both: readonly [Candidate, Candidate];
	beforeAll(async () => {
		await lab.make(`${NS}/services`, {
			metadata: { name: "web" },
			spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
		});
		await lab.make(`${NS}/pods`, {
			metadata: { name: "p", labels: { app: "web" } },
			spec: { nodeName: "elsewhere", containers: [{ name: "web", image: "web:1" }] },
		});
	});
	afterEach(async () => {
		for (const { part } of both) part.signal("SIGCONT");
		await Promise.all(both.map(({ part }) => part.end()));
	});

	test("the other leads at once when the leader is told to end, which ends well", async () => {
		both = await pair(...SHORT);
		const [leader, other] = both;
		expect(await leader.part.end("SIGTERM")).toBe(0);
		await other.part.ready(2_500);
		await setAddress("10.9.0.1");
		await hasSlice("10.9.0.1");
	});

	test("the other leads soon when the leader is killed", async () => {
		both = await pair(...SHORT);
		const [leader, other] = both;
		await leader.part.end("SIGKILL");
		await other.part.ready(7_000);
		await setAddress("10.9.0.2");
		await hasSlice("10.9.0.2");
		const { json } = await lab.ask("GET", `${LEASES}/sliceplane-controllers`);
		expect(json.spec).toMatchObject({ leaseDurationSeconds: 3 });
	});

	test("with the default times the other leads when the leader is stopped, which writes nothing when it wakes", async () => {
		both = await pair();
		const [leader, other] = both;
		leader.part.signal("SIGSTOP");
		const before = writes(leader);
		const startMs = performance.now();
		await other.part.ready(25_000);
		process.stderr.write(`led after ${Math.round(performance.now() - startMs)} ms\n`);
		await setAddress("10.9.0.3");
		await hasSlice("10.9.0.3");
		await setAddress("10.9.0.4");
		leader.part.signal("SIGCONT");
		expect(await leader.part.exit()).toBe(1);
		expect(leader.part.stderr).toContain("error: lost the Lease kube-system/sliceplane-controllers");
		// What it has sent is with the recorder before the answers to these.
		for (let times = 0; times < 5; times++) await lab.ask("GET", "/version");
		expect(writes(leader)).toBe(before);
		await hasSlice("10.9.0.4");
	});

	test("without election one works at once, whoever leads", async () => {
		both = await pair(...SHORT);
		const { part } = await candidate("--leader-elect=false");
		await part.ready();
		expect(part.stderr).toBe("");
		expect(await part.end()).toBe(0);
	});

	test("health and metrics say whether it leads", async () => {
		both = await pair(...SHORT, "--metrics-bind-address=127.0.0.1:0");
		for (const [index, { part }] of both.entries()) {
			const place = `http://127.0.0.1:${/Metrics at port (\d+)/.exec(part.stderr)?.[1]}`;
			expect((await fetch(`${place}/healthz`)).status).toBe(200);
			const metrics = await (await fetch(`${place}/metrics`)).text();
			expect(metrics).toContain(`leader_election_master_status{name="sliceplane-controllers"} ${1 - index}`);
		}
	});

	test("a leader ends when another is in the Lease", async () => {
		both = await pair(...SHORT);
		const [leader] = both;
		await lab.ask("PATCH", `${LEASES}/sliceplane-controllers`, {
			spec: { holderIdentity: "somebody", renewTime: null },
		});
		expect(await leader.part.exit()).toBe(1);
		expect(leader.part.stderr).toContain("somebody holds it");
	});
});

test("a leader whose Lease is deleted makes it anew, and leads on", async () => {
	const { part } = await candidate(...SHORT);
	await part.ready();
	const lease = `${LEASES}/sliceplane-controllers`;
	const before = (await lab.ask("GET", lease)).json;
	await lab.ask("DELETE", lease);
	const { json: after } = await eventually(
		() => lab.ask("GET", lease),
		({ status }) => status === 200,
		{ what: "no Lease", withinMs: 5_000 },
	);
	expect(after.metadata?.["uid"]).not.toBe(before.metadata?.["uid"]);
	expect(after.spec?.["holderIdentity"]).toBe(before.spec?.["holderIdentity"]);
	expect(await part.end()).toBe(0);
});

describe("beside a kube-controller-manager", () => {
	const held = (renewTime: string) => ({
		spec: { holderIdentity: "kcm", leaseDurationSeconds: 2, renewTime: `2020-01-01T00:00:${renewTime}.000000Z` },
	});
	let renewing: AbortController;
	let done: Promise<void> = Promise.resolve();

	beforeEach(async () => {
		await lab.make(LEASES, { metadata: { name: "kube-controller-manager" }, ...held("00") });
		renewing = new AbortController();
	});
	afterEach(async () => {
		renewing.abort();
		await done;
		await lab.ask("DELETE", `${LEASES}/kube-controller-manager`);
	});

	/** By a clock that is years behind: what counts is that it goes on. */
	async function renew(): Promise<void> {
		for (let second = 1; !renewing.signal.aborted; second++) {
			await lab.ask("PATCH", `${LEASES}/kube-controller-manager`, held(String(second % 60).padStart(2, "0")));
			await new Promise((resolve) => setTimeout(resolve, 200));
		}
	}

	test("that is alive they refuse to work, and say what to do", async () => {
		done = renew();
		const { part } = await candidate(...SHORT);
		expect(await part.exit()).toBe(1);
		expect(part.stdout).toBe("");
		expect(part.stderr).toMatch(/error: a kube-controller-manager runs \(Lease .*held by kcm.*--take-over/);
	});

	test("that is alive they work when they are told so", async () => {
		done = renew();
		const { part } = await candidate(...SHORT, "--take-over");
		await part.ready();
		expect(await part.end()).toBe(0);
	});

	test("that renews its Lease no more they work", async () => {
		const { part } = await candidate(...SHORT);
		await part.ready();
		expect(await part.end()).toBe(0);
	});
});

describe("beside slices that another program writes", () => {
	const foreign = {
		metadata: {
			name: "foreign",
			labels: {
				"kubernetes.io/service-name": "web",
				"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
			},
		},
		addressType: "IPv4",
		endpoints: [{ addresses: ["10.9.9.9"] }],
	};
	afterEach(async () => {
		await lab.ask("DELETE", `${SLICES}/foreign`);
	});

	test.each(["from before", "that come later"])("%s they stop, and name the slice and its writer", async (when) => {
		if (when === "from before") await lab.make(`${SLICES}?fieldManager=k3s`, foreign);
		const { part } = await candidate(...SHORT);
		if (when !== "from before") {
			await part.ready();
			await lab.make(`${SLICES}?fieldManager=k3s`, foreign);
		}
		expect(await part.exit()).toBe(1);
		expect(part.stderr).toMatch(/error: EndpointSlice default\/foreign, managed by .* is written by k3s .*--take-over/);
	});

	test("they take them over when they are told so", async () => {
		await lab.make(`${SLICES}?fieldManager=k3s`, foreign);
		const { part } = await candidate(...SHORT, "--take-over");
		await part.ready();
		expect(await part.end()).toBe(0);
	});
});

describe("by a kubeconfig that leads nowhere", () => {
	const nowhere = (): string => lab.kubeconfigOf("https://127.0.0.1:1", "nobody");
	const stranger = (): string => lab.kubeconfigOf(lab.recorded, "stranger");

	test.each([
		["controllers", [NO_METRICS]],
		["kubelet", [NO_METRICS]],
		["watch-cost", ["svc/web"]],
		["fail", ["node/n1"]],
	])("%s ends with 1, and one line that says what to do", async (command, words) => {
		for (const [kubeconfig, says] of [
			[nowhere(), /^error: Cannot reach https:\/\/127\.0\.0\.1:1: .*; start the cluster/],
			[stranger(), /^error: http:.* answered: Unauthorized; take a kubeconfig/],
		] as const) {
			const part = new Part([command, ...words, "--kubeconfig", kubeconfig]);
			expect([await part.exit(), part.stdout]).toEqual([1, ""]);
			expect(part.stderr).toMatch(says);
			expect(part.stderr.split("\n")).toHaveLength(2);
		}
	});

	test("dns tries on, and shows nobody its insides", async () => {
		const part = new Part(["dns", "--listen=127.0.0.1:0", "--kubeconfig", nowhere()]);
		await eventually(
			async () => part.stderr,
			(text) => text.includes("it is tried on"),
			{ what: "no warning" },
		);
		expect(await part.end()).toBe(0);
		expect(part.stderr).not.toMatch(/\bat .*:\d+:\d+/);
	});
});

describe("wrong usage", () => {
	test.each([
		[["controllers", "--leader-elect-renew-deadline=20s"], "--leader-elect-lease-duration must be longer"],
		[["controllers", "--controllers=-scheduler"], "none is left"],
		[["controllers", "--controllers=kubernetes-service-controller"], "is no controller"],
		[["controllers", "--leader-elect=maybe"], "Want true or false"],
		[["kubelet", "--node-names=a,a"], "Want different names"],
		[["kubelet", "--cluster-cidr=10.0.0.0/30"], "has room for 0 nodes"],
		[["kubelet", "--register-with-taints=a=b"], "Want KEY=VALUE:EFFECT"],
		[["apiserver", "--service-cluster-ip-range=10.0.0.0/31"], "want at least 8 addresses"],
	])("%j is refused", async (words, text) => {
		const part = new Part(words);
		expect([await part.exit(), part.stdout]).toEqual([2, ""]);
		expect(part.stderr).toContain(text);
	});
});

describe("several API servers", () => {
	let folder: string;
	const servers: Part[] = [];
	beforeAll(() => {
		folder = mkdtempSync(path.join(tmpdir(), "sliceplane-servers-"));
	});
	afterAll(async () => {
		await Promise.all(servers.map((server) => server.end()));
		rmSync(folder, { recursive: true, force: true });
	});

	test("that share a folder and a file of tokens take each other's credentials, also when they start at once", async () => {
		const tokens = path.join(folder, "tokens.csv");
		writeFileSync(tokens, "of-tom,tom,1\nof-admin,admin,2,system:masters\n", { mode: 0o600 });
		const configs = ["a", "b"].map((name) => path.join(folder, name));
		for (const [index, kubeconfig] of configs.entries()) {
			const flags = ["--listen", `127.0.0.${index + 1}:0`, "--kubeconfig", kubeconfig, "--token-auth-file", tokens];
			servers.push(new Part(["apiserver", ...flags, "--cert-dir", path.join(folder, "certificates")]));
		}
		await Promise.all(servers.map((server) => server.ready()));
		const [a, b] = configs.map((file) => JSON.parse(readFileSync(file, "utf8")));
		expect(a.users).toEqual(b.users);
		expect(a.users[0].user).toEqual({ token: "of-admin" });
		const of = (config: { clusters: [{ cluster: Record<string, string> }] }) => config.clusters[0].cluster;
		expect(of(a)["certificate-authority-data"]).toBe(of(b)["certificate-authority-data"]);
		expect(of(a)["server"]).not.toBe(of(b)["server"]);
	});
});
