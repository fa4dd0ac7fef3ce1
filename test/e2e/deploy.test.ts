/** The rights in deploy/ are enough for what the parts do, and no more; without one of them a part says which it lacks. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labProblem } from "../netns/lab.ts";
import { deployed, isAboutRights, type Manifest, type Part, PartsLab, pathOf, type Rule, rightsOf } from "./parts.ts";
import { eventually, finished, PROGRAM } from "./plane.ts";

const PARTS = ["controllers", "kubelet", "proxy", "dns", "explain", "watch-cost"] as const;
type PartName = (typeof PARTS)[number];

const problem = labProblem();
if (problem !== undefined) process.stderr.write(`skipped: rights of sliceplane proxy: ${problem}\n`);
const RUN: readonly PartName[] = PARTS.filter((part) => part !== "proxy" || problem === undefined);

let lab: PartsLab;
let node: ProxyNode | undefined;

/** A network namespace with a way to the API and nothing else, so that rules for the kernel harm nobody. */
class ProxyNode {
	readonly name = `sp-${process.pid}-deploy`;
	readonly #link = `spd${process.pid}`.slice(0, 14);
	readonly host = "169.254.77.1";

	constructor() {
		this.#ip("netns", "add", this.name);
		this.#ip("link", "add", this.#link, "type", "veth", "peer", "name", "up0", "netns", this.name);
		this.#ip("addr", "add", `${this.host}/30`, "dev", this.#link);
		this.#ip("link", "set", this.#link, "up");
		for (const words of [
			["addr", "add", "169.254.77.2/30", "dev", "up0"],
			["link", "set", "up0", "up"],
			["link", "set", "lo", "up"],
		]) {
			this.#ip("-n", this.name, ...words);
		}
	}

	get inside(): readonly string[] {
		return ["ip", "netns", "exec", this.name];
	}

	remove(): void {
		this.#ip("netns", "del", this.name);
	}

	#ip(...words: string[]): void {
		execFileSync("ip", words, { stdio: "pipe" });
	}
}

beforeAll(async () => {
	lab = await PartsLab.start();
	if (problem === undefined) node = new ProxyNode();
	for (const part of PARTS) await lab.give(part);
	// Of no kubelet: what its Pods are is what the tests write.
	await lab.make("/api/v1/nodes", { metadata: { name: "elsewhere" } });
});
afterAll(async () => {
	await lab?.stop();
	node?.remove();
});

const NS = "/api/v1/namespaces/default";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

async function start(part: PartName): Promise<Part> {
	const door = part === "proxy" ? await lab.record(node?.host ?? "") : lab.recorded;
	const kubeconfig = await lab.accountOf(part, door);
	const flags: Readonly<Record<PartName, readonly string[]>> = {
		controllers: [
			"--controllers=endpointslice-controller,endpointslice-mirroring-controller,endpoints-controller",
			"--max-endpoints-per-slice=1",
			"--metrics-bind-address=",
		],
		kubelet: ["--nodes=1", "--zones=a", "--metrics-bind-address="],
		proxy: ["--hostname-override=n1", "--healthz-bind-address=", "--metrics-bind-address="],
		dns: ["--listen=127.0.0.1:0"],
		explain: ["-A"],
		"watch-cost": ["svc/web", "--for=2s"],
	};
	const before = part === "proxy" ? { before: node?.inside ?? [] } : {};
	return lab.start([part, ...flags[part], "--kubeconfig", kubeconfig], before);
}

const selecting = (name: string, app: string, annotations: Readonly<Record<string, string>> = {}) => ({
	metadata: { name, annotations },
	spec: { selector: { app }, ports: [{ port: 80 }] },
});

async function makePod(
	name: string,
	nodeName: string,
	annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
	await lab.make(`${NS}/pods`, {
		metadata: { name, labels: { app: nodeName }, annotations },
		spec: { nodeName, containers: [{ name: "web", image: "web:1" }] },
	});
}

async function makeReady(name: string, podIP: string): Promise<void> {
	const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions: [{ type: "Ready", status: "True" }] };
	await lab.ask("PATCH", `${NS}/pods/${name}/status`, { status });
}

/** What makes the controllers use every right that they have. */
const CONTROLLERS_WORK = {
	async before(): Promise<void> {
		for (const name of ["p1", "p2"]) {
			await makePod(name, "elsewhere");
			await makeReady(name, `10.9.0.${name.slice(1)}`);
		}
		await lab.make(
			`${NS}/services`,
			selecting("hinted", "elsewhere", { "service.kubernetes.io/topology-mode": "Auto" }),
		);
		await lab.make(`${NS}/services`, { metadata: { name: "outside" }, spec: { ports: [{ port: 80 }] } });
		await lab.make(`${NS}/endpoints`, {
			metadata: { name: "outside" },
			subsets: [{ addresses: [{ ip: "192.0.2.9" }], ports: [{ port: 80 }] }],
		});
	},
	async during(): Promise<void> {
		const hints = (mode: string | null) => ({
			metadata: { annotations: { "service.kubernetes.io/topology-mode": mode } },
		});
		await lab.ask("PATCH", `${NS}/services/hinted`, hints(null));
		await soon(
			"no slices",
			`${SLICES}?labelSelector=kubernetes.io/service-name=hinted`,
			({ items = [] }) => items.length === 2,
		);
		await lab.ask("PATCH", `${NS}/services/hinted`, hints("Auto"));
		await makeReady("p2", "10.9.0.22");
		await soon("no address", `${NS}/endpoints/hinted`, (json) => JSON.stringify(json).includes("10.9.0.22"));
		await lab.ask("DELETE", `${NS}/pods/p2?gracePeriodSeconds=0`);
		await soon(
			"a slice too many",
			`${SLICES}?labelSelector=kubernetes.io/service-name=hinted`,
			({ items = [] }) => items.length === 1,
		);
	},
	async after(): Promise<void> {
		for (const name of ["hinted", "outside"]) await lab.ask("DELETE", `${NS}/services/${name}`);
		await lab.ask("DELETE", `${NS}/pods/p1?gracePeriodSeconds=0`);
		await lab.ask("DELETE", `${NS}/pods/p2?gracePeriodSeconds=0`);
		await lab.ask("DELETE", `${NS}/endpoints/outside`);
	},
};

const KUBELET_WORK = {
	/** On a node that was lost, with a Pod whose annotation cannot be read. */
	async before(): Promise<void> {
		await lab.ask("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1");
		const conditions = [{ type: "Ready", status: "Unknown" }];
		await lab.ask("PATCH", "/api/v1/nodes/n1/status", { status: { conditions } });
		await makePod("odd", "n1", { "sliceplane.dev/exit-code": "x" });
	},
	async during(): Promise<void> {
		await lab.ask("DELETE", `${NS}/pods/odd?gracePeriodSeconds=1`);
	},
	async after(): Promise<void> {
		await lab.ask("DELETE", `${NS}/pods/odd?gracePeriodSeconds=0`);
	},
};

function soon(what: string, target: string, isRight: (json: Awaited<ReturnType<PartsLab["ask"]>>["json"]) => boolean) {
	return eventually(
		() => lab.ask("GET", target),
		({ json }) => isRight(json),
		{ what, withinMs: 10_000 },
	);
}

/** Roles of a part, and the rights of all of them. */
function roles(part: PartName): readonly Manifest[] {
	return deployed(part).filter(({ rules }) => rules !== undefined);
}

function given(part: PartName): readonly string[] {
	return roles(part).flatMap(({ rules = [] }) => rules.flatMap(rightsOf));
}

/** As the rules have them: with a name only where a rule names one. */
function used(part: PartName): readonly string[] {
	const known = new Set(given(part));
	return lab.asked(part).map(({ right, name }) => (known.has(`${right} ${name}`) ? `${right} ${name}` : right));
}

describe("the manifests", () => {
	test("are of all parts", () => {
		const files = readdirSync("deploy").filter((file) => file.endsWith(".yaml"));
		expect(files.sort()).toEqual(PARTS.map((part) => `${part}.yaml`).sort());
	});

	test.each(PARTS)("of %s are taken by the API, with every field known", async (part) => {
		for (const document of deployed(part).filter((one) => !isAboutRights(one) && one.kind !== "DaemonSet")) {
			const { status, json } = await lab.ask("POST", `${pathOf(document)}?dryRun=All&fieldValidation=Strict`, document);
			expect([document.kind, status, json.message]).toEqual([document.kind, 201, undefined]);
		}
	});

	test.each(["controllers", "kubelet", "proxy", "dns"] as const)(
		"of %s run it as the command line takes it",
		async (part) => {
			const workload = deployed(part).find(({ kind }) => kind === "Deployment" || kind === "DaemonSet");
			const spec = workload?.["spec"] as { template: { spec: { containers: { args: string[] }[] } } } | undefined;
			const args = spec?.template.spec.containers[0]?.args ?? [];
			const { status, stderr } = await finished(process.execPath, [PROGRAM, ...args, "--kubeconfig", "/none"]);
			expect({ status, stderr }).toMatchObject({
				status: 1,
				stderr: expect.stringContaining("cannot read the kubeconfig /none"),
			});
		},
	);
});

describe("with the rights of its manifest and no other", () => {
	const running = new Map<PartName, Part>();
	beforeAll(async () => {
		// First the node, which proxy and Pods want.
		const kubelet = await (await start("kubelet")).ready();
		await lab.make(`${NS}/services`, selecting("web", "n1"));
		await makePod("w1", "n1");
		const controllers = start("controllers");
		running.set("kubelet", kubelet).set("controllers", await (await controllers).ready());
		await soon(
			"w1 is not ready",
			`${SLICES}?labelSelector=kubernetes.io/service-name=web`,
			({ items = [] }) => items.length === 1,
		);
	});

	test("controllers keep endpoints", async () => {
		await CONTROLLERS_WORK.before();
		await soon(
			"no mirror",
			`${SLICES}?labelSelector=kubernetes.io/service-name=outside`,
			({ items = [] }) => items.length === 1,
		);
		await CONTROLLERS_WORK.during();
		await CONTROLLERS_WORK.after();
		await soon("Endpoints of no Service", `${NS}/endpoints`, ({ items = [] }) =>
			items.every(({ metadata }) => metadata?.["name"] !== "hinted"),
		);
	});

	test("the kubelet brings Pods to life, and to their end", async () => {
		await running.get("kubelet")?.end();
		await KUBELET_WORK.before();
		running.set(
			"kubelet",
			lab.start([
				"kubelet",
				"--nodes=1",
				"--zones=a",
				"--metrics-bind-address=",
				"--kubeconfig",
				path.join(lab.folder, "kubelet-1.kubeconfig"),
			]),
		);
		await soon(
			"odd does not run",
			`${NS}/pods/odd`,
			({ status }) => (status as { phase?: string })?.phase === "Running",
		);
		await soon("n1 is not ready", "/api/v1/nodes/n1", ({ status }) => JSON.stringify(status).includes("KubeletReady"));
		await KUBELET_WORK.during();
		await soon("odd stays", `${NS}/pods/odd`, ({ code }) => code === 404);
	});

	test("DNS answers", async () => {
		const dns = await (await start("dns")).ready();
		const port = /:(\d+), UDP/.exec(dns.stdout)?.[1];
		const { Resolver } = await import("node:dns/promises");
		const resolver = new Resolver();
		resolver.setServers([`127.0.0.1:${port}`]);
		expect(await resolver.resolve4("web.default.svc.cluster.local")).toEqual([expect.stringMatching(/^10\.96\./)]);
		running.set("dns", dns);
	});

	test("explain says what there is", async () => {
		const explain = await start("explain");
		await explain.exit();
		expect(explain.stdout).toContain("default/web: ");
		running.set("explain", explain);
	});

	test("watch-cost watches", async () => {
		const cost = await start("watch-cost");
		expect(await cost.exit()).toBe(0);
		expect(cost.stdout).toContain("total");
		running.set("watch-cost", cost);
	});

	test.skipIf(problem !== undefined)("the proxy has its rules", async () => {
		running.set("proxy", await (await start("proxy")).ready());
	});

	test.each(RUN)("%s was refused nothing, and has used every right", (part) => {
		expect(running.get(part)?.stderr ?? "").not.toContain("not allowed");
		expect(lab.asked(part).filter(({ status }) => status === 401 || status === 403)).toEqual([]);
		expect([...new Set(used(part))].sort()).toEqual([...given(part)].sort());
	});

	afterAll(async () => {
		await Promise.all([...running.values()].map((part) => part.end()));
	});
});

interface Removal {
	readonly part: PartName;
	readonly role: Manifest;
	readonly rule: Rule;
	readonly shown: string;
}

const REMOVALS: readonly Removal[] = RUN.flatMap((part) =>
	roles(part).flatMap((role) =>
		(role.rules ?? []).map((rule) => ({
			part,
			role,
			rule,
			shown: `${rule.verbs} ${rule.resources} ${rule.resourceNames ?? ""}`.trim(),
		})),
	),
);

describe("without one rule", () => {
	const Work: Partial<Record<PartName, typeof CONTROLLERS_WORK>> = {
		controllers: CONTROLLERS_WORK,
		kubelet: KUBELET_WORK,
	};

	const lasts: readonly PartName[] = ["controllers", "kubelet", "proxy", "dns"];

	test.each(REMOVALS)(
		"$part says that it may not: $shown; it tries on, and works when it may",
		async ({ part, role, rule }) => {
			const rest = (role.rules ?? []).filter((one) => one !== rule);
			await lab.setRules(role, rest);
			// As on the first start.
			await lab.ask("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sliceplane-controllers");
			await Work[part]?.before();
			const process = await start(part);
			try {
				const resources = rule.resources.join("|").replace("/", "\\/");
				const wanted = new RegExp(
					`not allowed: User "\\S+:sliceplane-${part}" cannot (${rule.verbs.join("|")}) resource "(${resources})" in API group "${rule.apiGroups[0]}".*; what ${part} needs is in deploy/${part}.yaml`,
				);
				await eventually(
					async () => process.stderr,
					(text) => wanted.test(text),
					{ what: "no message", withinMs: 15_000 },
				);
				await lab.setRules(role, role.rules ?? []);
				if (lasts.includes(part)) await process.ready();
			} finally {
				await process.end();
				await Work[part]?.after();
				await lab.setRules(role, role.rules ?? []);
			}
		},
	);

	test("controllers say once what those lack that the manifest is not for, and what leaves them out", async () => {
		const kubeconfig = await lab.accountOf("controllers");
		const controllers = lab.start(["controllers", "--metrics-bind-address=", "--kubeconfig", kubeconfig]);
		const told = () => controllers.stderr.split("\n").filter((line) => line.startsWith("not allowed"));
		await eventually(
			async () => told(),
			(lines) => lines.length > 0,
			{ what: "no message", withinMs: 15_000 },
		);
		await controllers.end();
		expect(told()).toEqual([
			expect.stringMatching(
				/cannot list .*deployments\.apps, .*replicasets\.apps.*: deploy.* --controllers=endpointslice-/,
			),
		]);
	});

	test("a kubelet that may see Nodes and make none makes them when it may", async () => {
		const role = roles("kubelet").find(({ kind }) => kind === "ClusterRole");
		const { rules = [] } = role ?? {};
		if (role === undefined) throw new Error("no ClusterRole in deploy/kubelet.yaml");
		const withoutCreate = rules.map((rule) =>
			rule.resources.includes("nodes") ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== "create") } : rule,
		);
		await lab.setRules(role, withoutCreate);
		const kubeconfig = await lab.accountOf("kubelet");
		const names = ["--node-names=late", "--cluster-cidr=10.245.0.0/16", "--node-cidr=172.30.0.0/16"];
		const kubelet = lab.start(["kubelet", ...names, "--metrics-bind-address=", "--kubeconfig", kubeconfig]);
		try {
			await eventually(
				async () => kubelet.stderr,
				(text) => /cannot create resource "nodes".*\n.*Failed to make Nodes; it is tried on/.test(text),
				{ what: "no message", withinMs: 15_000 },
			);
			expect([kubelet.stdout, kubelet.stderr.includes("error: ")]).toEqual(["", false]);
			await lab.setRules(role, rules);
			await kubelet.ready();
			expect(kubelet.stdout).toBe("Kubelet is ready: 1 node, late\n");
			expect(await kubelet.end()).toBe(0);
		} finally {
			await kubelet.end("SIGKILL");
			await lab.setRules(role, rules);
			await lab.ask("DELETE", "/api/v1/nodes/late");
		}
	});
});

describe("inside a Pod", () => {
	const hasMounts = (() => {
		try {
			execFileSync("unshare", ["-m", "true"], { stdio: "pipe" });
			return true;
		} catch {
			process.stderr.write("skipped: inside a Pod: unshare -m is not allowed here\n");
			return false;
		}
	})();

	test.skipIf(!hasMounts)("the token, the authority and the variables that a kubelet gives are enough", async () => {
		await lab.accountOf("dns");
		const account = path.join(lab.folder, "account");
		mkdirSync(account);
		writeFileSync(path.join(account, "token"), lab.tokenOf("dns"));
		writeFileSync(path.join(account, "ca.crt"), lab.ca);
		const place = "/var/run/secrets/kubernetes.io/serviceaccount";
		const script = `mount -t tmpfs none /var/run/ && mkdir -p ${place} && cp ${account}/* ${place} && exec "$@"`;
		const { hostname, port } = new URL(lab.server);
		const dns = lab.start(["dns", "--listen", "127.0.0.1:0"], {
			before: ["unshare", "-m", "sh", "-c", script, "sh"],
			env: { HOME: lab.folder, KUBECONFIG: "", KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
		});
		await dns.ready();
		expect(dns.stderr).not.toContain("not allowed");
		expect(await dns.end()).toBe(0);
	});
});
