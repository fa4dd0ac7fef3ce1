/** `explain` against a real plane: with the documented rights, and with its fixes pasted into a shell. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeBlocks } from "../house/documents.ts";
import { kubectlVersions } from "./kubectl-versions.ts";
import { CACHE, eventually, type Finished, finished, PROGRAM, RunningPlane } from "./plane.ts";

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

interface Fault {
	readonly cause: string;
	/** Of namespace default; each Service has the name of its place in the list. */
	readonly objects: (name: string) => readonly object[];
}

const service = (name: string, spec: object) => ({ apiVersion: "v1", kind: "Service", metadata: { name }, spec });
const PORTS = [{ name: "http", port: 80, targetPort: "http" }];

function deployment(name: string, replicas = 1) {
	const labels = { app: name };
	const containers = [{ name: "c", image: "example/c", ports: [{ name: "http", containerPort: 8080 }] }];
	const template = { metadata: { labels }, spec: { containers } };
	const spec = { replicas, selector: { matchLabels: labels }, template };
	return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec };
}

function slice(name: string, labels: object, more: object = {}) {
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: { name: `${name}-1`, labels },
		addressType: "IPv4",
		ports: [{ name: "http", port: 8080, protocol: "TCP" }],
		endpoints: [{ addresses: ["192.0.2.10"] }],
		...more,
	};
}

const FAULTS: readonly Fault[] = [
	{
		cause: "selector-matches-no-pods",
		objects: (name) => [service(name, { selector: { app: `${name}x` }, ports: PORTS }), deployment(name)],
	},
	{
		cause: "selector-matches-no-pods",
		objects: (name) => [service(name, { selector: { name }, ports: PORTS }), deployment(name)],
	},
	{
		cause: "named-port-missing-in-pod",
		objects: (name) => [
			service(name, { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: "web" }] }),
			deployment(name),
		],
	},
	{
		cause: "slice-without-service-name-label",
		objects: (name) => [service(name, { ports: PORTS }), slice(name, {})],
	},
	{
		cause: "slice-with-wrong-service-name",
		objects: (name) => [service(name, { ports: PORTS }), slice(name, { "kubernetes.io/service-name": "nobody" })],
	},
	{
		cause: "port-name-mismatch",
		objects: (name) => [
			service(name, { ports: PORTS }),
			slice(name, { "kubernetes.io/service-name": name }, { ports: [{ name: "web", port: 8080, protocol: "TCP" }] }),
		],
	},
	{
		cause: "endpoints-not-mirrored",
		objects: (name) => [
			service(name, { ports: PORTS }),
			{
				apiVersion: "v1",
				kind: "Endpoints",
				metadata: { name, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
				subsets: [{ addresses: [{ ip: "192.0.2.10" }], ports: [{ name: "http", port: 8080 }] }],
			},
		],
	},
	{
		cause: "no-local-endpoint",
		objects: (name) => [
			service(name, { ports: PORTS, internalTrafficPolicy: "Local" }),
			slice(name, { "kubernetes.io/service-name": name }),
		],
	},
	{
		cause: "workload-scaled-to-zero",
		objects: (name) => [service(name, { selector: { app: name }, ports: PORTS }), deployment(name, 0)],
	},
	{
		cause: "manual-endpoints-not-ready",
		objects: (name) => [
			service(name, { ports: PORTS }),
			endpoints(name, { notReadyAddresses: [{ ip: "192.0.2.10" }] }),
		],
	},
	{
		cause: "manual-endpoints-not-ready",
		objects: (name) => [
			service(name, { ports: PORTS }),
			endpoints(name, { addresses: [{ ip: "192.0.2.10" }], notReadyAddresses: [{ ip: "192.0.2.10" }] }),
		],
	},
	{
		cause: "manual-endpoints-not-ready",
		objects: (name) => [
			service(name, { ports: PORTS }),
			slice(
				name,
				{ "kubernetes.io/service-name": name },
				{ endpoints: [{ addresses: ["192.0.2.10"], conditions: { ready: false } }] },
			),
		],
	},
	{
		cause: "headless-label",
		objects: (name) => [
			{ ...service(name, { ports: PORTS }), metadata: { name, labels: { "service.kubernetes.io/headless": "" } } },
			slice(name, { "kubernetes.io/service-name": name }),
		],
	},
	{
		cause: "headless-label",
		objects: (name) => [
			service(name, { ports: PORTS }),
			slice(name, { "kubernetes.io/service-name": name, "service.kubernetes.io/headless": "" }),
		],
	},
	{
		cause: "port-name-mismatch",
		objects: (name) => [
			service(name, { ports: PORTS }),
			slice(name, { "kubernetes.io/service-name": name }, { ports: [{ name: "http", port: 8080, protocol: "UDP" }] }),
		],
	},
	{
		cause: "port-name-mismatch",
		objects: (name) => [
			service(name, { ports: [{ port: 5432 }] }),
			slice(name, { "kubernetes.io/service-name": name }, { ports: undefined }),
		],
	},
	{
		cause: "port-name-mismatch",
		objects: (name) => [
			service(name, { ports: [{ port: 5432 }] }),
			{ ...endpoints(name, {}), subsets: [{ addresses: [{ ip: "192.0.2.10" }] }] },
		],
	},
	{
		cause: "port-name-mismatch",
		objects: (name) => [
			service(name, { ports: [...PORTS, { name: "grpc", port: 81 }] }),
			slice(
				name,
				{ "kubernetes.io/service-name": name },
				{
					ports: [
						{ name: "http", port: 8080, protocol: "TCP" },
						{ name: "gprc", port: 8081, protocol: "TCP" },
					],
				},
			),
		],
	},
];

function endpoints(name: string, addresses: object) {
	const subsets = [{ ...addresses, ports: [{ name: "http", port: 8080 }] }];
	return { apiVersion: "v1", kind: "Endpoints", metadata: { name }, subsets };
}

interface Explained {
	readonly cause?: { readonly name: string; readonly fix?: { readonly command?: string } };
	readonly missing: readonly string[];
	readonly verdict: string;
	readonly findings: readonly { readonly name: string }[];
}

describe.skipIf(isMissing)("explain", () => {
	let plane: RunningPlane;
	let folder: string;
	let env: NodeJS.ProcessEnv;
	const named = FAULTS.map((fault, index) => ({ ...fault, name: `fault-${index}` }));

	const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
		const { status, stdout, stderr } = await plane.kubectl(newest?.path ?? "", args, input);
		expect({ args, status, stderr }).toMatchObject({ status: 0 });
		return stdout;
	};
	const explain = (...args: readonly string[]): Promise<Finished> =>
		finished(process.execPath, [PROGRAM, "explain", ...args], { env });
	const explained = async (...args: readonly string[]): Promise<Explained> =>
		JSON.parse((await explain(...args, "-o", "json")).stdout);

	/** A kubeconfig of a user of this name. */
	async function kubeconfigOf(user: string): Promise<string> {
		const file = path.join(folder, `${user}.kubeconfig`);
		const { stdout, stderr } = await finished(process.execPath, [PROGRAM, "kubeconfig", "--user", user], { env });
		expect(stderr).toBe("");
		writeFileSync(file, stdout, { mode: 0o600 });
		return file;
	}

	beforeAll(async () => {
		folder = mkdtempSync(path.join(tmpdir(), "sliceplane-explain-"));
		symlinkSync(newest?.path ?? "", path.join(folder, "kubectl"));
		plane = await RunningPlane.start(["--nodes", "2"]);
		env = {
			...process.env,
			PATH: `${folder}:${process.env["PATH"]}`,
			HOME: folder,
			XDG_CACHE_HOME: CACHE,
			KUBECONFIG: plane.kubeconfig,
		};
		const objects = named.flatMap(({ name, objects: of }) => of(name));
		await kubectl(["apply", "-f", "-"], objects.map((object) => JSON.stringify(object)).join("\n---\n"));
		await kubectl(["wait", "--for=condition=Available", "deployments", "--all", "--timeout=60s"]);
	});
	afterAll(async () => {
		await plane.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	test("is answered everything with the rights of docs/explain.md, and no more", async () => {
		const role = codeBlocks().find(
			({ file, code }) => file === "docs/explain.md" && code.includes("kind: ClusterRole"),
		);
		await kubectl(["apply", "-f", "-"], role?.code);
		await kubectl(["create", "clusterrolebinding", "explain", "--clusterrole=sliceplane-explain", "--user=ann"]);
		const kubeconfig = await kubeconfigOf("ann");
		const { stdout, stderr } = await explain("-A", "-o", "json", "--kubeconfig", kubeconfig);
		expect(stderr).toBe("");
		const all: readonly Explained[] = JSON.parse(stdout);
		expect(all.length).toBeGreaterThan(FAULTS.length);
		expect(new Set(all.flatMap(({ missing }) => missing))).toEqual(new Set());
		expect(all[0]?.cause?.name).toBe(
			(await explained("-A").then((list) => (list as never as Explained[])[0]))?.cause?.name,
		);
	});

	test("says what it may not look at, and finds the cause in the namespace that it may", async () => {
		await kubectl(["create", "rolebinding", "view", "--clusterrole=view", "--user=bob", "-n", "default"]);
		const kubeconfig = await kubeconfigOf("bob");
		const { cause, missing } = await explained("svc/fault-0", "--kubeconfig", kubeconfig);
		expect(cause?.name).toBe("selector-matches-no-pods");
		expect(missing).toContain("Pod of namespaces but default");
		expect(missing).toContain("Node");
	});

	test.each(named)("$name: the command that it gives for $cause takes the cause away", async ({ name, cause }) => {
		const found = await eventually(
			() => explained(`svc/${name}`),
			(each) => each.cause?.name === cause,
			{ what: `${cause} was not found` },
		);
		const command = found.cause?.fix?.command ?? "";
		const { status, stderr } = await finished("bash", ["-ec", command], { env });
		expect({ command, status, stderr }).toMatchObject({
			status: 0,
			stderr: expect.stringMatching(/^(?:Warning: .*\n)*$/),
		});
		await eventually(
			() => explained(`svc/${name}`),
			(each) => each.cause === undefined,
			{ what: `${command} did not help` },
		);
	});

	test("ends with 3, and claims nothing, where it may not look", async () => {
		const nobody = await kubeconfigOf("nobody");
		const one = await explain("svc/fault-0", "--kubeconfig", nobody);
		expect({ status: one.status, first: one.stdout.split("\n")[0] }).toEqual({
			status: 3,
			first: "default/fault-0: unknown (Services were not looked at)",
		});
		expect(one.stdout).not.toContain("SP1001");
		expect(one.stderr).toMatch(/cannot list resource "services"/);
		const all = await explain("-A", "--kubeconfig", nobody);
		expect({ status: all.status, stdout: all.stdout.split("\n")[0] }).toEqual({
			status: 3,
			stdout: "0 Services: 0 error, 0 warning, 0 unknown, 0 ok",
		});
		expect(all.stdout).toContain("Not looked at: Service, Pod,");
		expect(all.stderr).toContain("sliceplane explain svc -n NAMESPACE looks at those of one");
	});

	test("tells who may look at one namespace of no right that it did without", async () => {
		await kubectl(["create", "namespace", "team"]);
		await kubectl(["create", "rolebinding", "view", "--clusterrole=view", "--user=eve", "-n", "team"]);
		await kubectl(
			["apply", "-n", "team", "-f", "-"],
			JSON.stringify(service("web", { selector: { app: "none" }, ports: PORTS })),
		);
		const eve = await kubeconfigOf("eve");
		const { status, stdout, stderr } = await explain("svc", "-n", "team", "--kubeconfig", eve);
		expect({ status, first: stdout.split("\n")[0] }).toEqual({
			status: 1,
			first: "team/web: error SP1101 selector-matches-no-pods",
		});
		expect(stdout).toContain("1 Service: 1 error");
		expect(stderr.split("\n").filter((line) => line.includes("at the cluster scope"))).toEqual([
			expect.stringContaining('"nodes"'),
		]);
	});

	test.each([
		["no cluster", ["svc/web", "--kubeconfig", "/none"], /kubeconfig \/none/],
		["no such context", ["svc/web", "--context", "none"], /none/],
		["no file", ["svc/web", "-f", "/none.yaml"], /cannot read manifest \/none\.yaml: no such file/],
	])("ends with 3 where there is %s", async (_what, args, says) => {
		const { status, stdout, stderr } = await explain(...args);
		expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
		expect(stderr).toMatch(says);
	});

	test.each([
		["whose server is not there", { cluster: { server: "https://127.0.0.1:1" } }, /^error: Cannot reach .*; start/],
		["with another authority", { cluster: { "certificate-authority-data": undefined } }, /; take .* authority/],
		["with a wrong token", { user: { token: "wrong" } }, /^error: https:.* answered: Unauthorized; take .* token/],
	])("ends with 3, and one line that says what to do, by a kubeconfig %s", async (_what, change, says) => {
		const config = JSON.parse(readFileSync(plane.kubeconfig, "utf8"));
		const { cluster = {}, user = config.users[0].user } = change as { cluster?: object; user?: object };
		Object.assign(config.clusters[0].cluster, cluster);
		config.users[0].user = user;
		const file = path.join(folder, "useless.kubeconfig");
		writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
		for (const target of ["svc/web", "svc", "-A"]) {
			const { status, stdout, stderr } = await explain(target, "--kubeconfig", file);
			expect({ target, status, stdout }).toEqual({ target, status: 3, stdout: "" });
			expect(stderr).toMatch(says);
			expect(stderr.split("\n")).toHaveLength(2);
		}
	});

	test("of a removed selector takes away what would come back, too", async () => {
		const objects = [service("former", { selector: { app: "former" }, ports: PORTS }), deployment("former")];
		await kubectl(["apply", "-f", "-"], objects.map((object) => JSON.stringify(object)).join("\n---\n"));
		await kubectl(["wait", "--for=condition=Available", "deployment/former", "--timeout=60s"]);
		const now = (): Promise<Explained> => explained("svc/former");
		await eventually(now, ({ verdict }) => verdict === "ok", { what: "the Service was not well" });
		await kubectl(["patch", "service", "former", "--type=merge", "-p", '{"spec":{"selector":null}}']);
		const stale = await eventually(now, (each) => each.cause?.name === "stale-endpoints-of-removed-selector", {
			what: "stale slices were not found",
		});
		const { status } = await finished("bash", ["-ec", stale.cause?.fix?.command ?? ""], { env });
		expect(status).toBe(0);
		await eventually(now, (each) => each.cause?.name === "no-selector-and-no-manual-endpoints", {
			what: "endpoints came back",
		});
	});

	test("finds Pods that a quota keeps from being made", async () => {
		const at = (name: string) => ({ name, namespace: "team" });
		const made = deployment("few");
		// Paused, so that no controller makes what the quota would refuse.
		const set = { ...made, metadata: at("few"), spec: { ...made.spec, paused: true } };
		const refused = {
			apiVersion: "v1",
			kind: "Event",
			metadata: at("few.1"),
			involvedObject: { apiVersion: "apps/v1", kind: "ReplicaSet", ...at("few-1") },
			reason: "FailedCreate",
			message: "exceeded quota: tiny",
			type: "Warning",
		};
		const { uid } = JSON.parse(await kubectl(["create", "-o", "json", "-f", "-"], JSON.stringify(set))).metadata;
		const owner = [{ apiVersion: "apps/v1", kind: "Deployment", name: "few", uid, controller: false }];
		const replicaSet = {
			apiVersion: "apps/v1",
			kind: "ReplicaSet",
			metadata: { ...at("few-1"), ownerReferences: owner },
			spec: { replicas: 0, selector: { matchLabels: { app: "few" } }, template: set.spec.template },
		};
		const web = {
			...service("few", { selector: { app: "few" }, ports: PORTS }),
			metadata: at("few"),
		};
		await kubectl(["apply", "-f", "-"], [replicaSet, refused, web].map((each) => JSON.stringify(each)).join("\n---\n"));
		const found = await eventually(
			() => explained("svc/few", "-n", "team"),
			(each) => each.cause?.name === "pods-not-created",
			{ what: "the quota was not found" },
		);
		expect(JSON.stringify(found.cause)).toContain("FailedCreate: exceeded quota: tiny");
	});

	test("reads what kubectl prints from stdin, in every form", async () => {
		const input = await kubectl(["get", "services,pods,endpointslices,nodes", "-A", "-o", "json"]);
		for (const form of ["text", "json", "yaml", "sarif", "junit"]) {
			const { stdout, stderr } = await finished(process.execPath, [PROGRAM, "explain", "-A", "-f", "-", "-o", form], {
				env,
				input,
			});
			expect({ form, stderr }).toEqual({ form, stderr: "" });
			expect(stdout).toContain(
				form === "junit" ? 'name="kubernetes"' : form === "sarif" ? '"2.1.0"' : "default/kubernetes",
			);
		}
	});
});
