/** `explain` against a real plane: with the documented rights, and with its fixes pasted into a shell. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

function deployment(name: string) {
	const labels = { app: name };
	const containers = [{ name: "c", image: "example/c", ports: [{ name: "http", containerPort: 8080 }] }];
	const template = { metadata: { labels }, spec: { containers } };
	const spec = { replicas: 1, selector: { matchLabels: labels }, template };
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
];

interface Explained {
	readonly cause?: { readonly name: string; readonly fix?: { readonly command?: string } };
	readonly missing: readonly string[];
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
