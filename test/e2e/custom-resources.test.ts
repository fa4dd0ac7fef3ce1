/** Custom resources with real clients: kubectl, and a controller that reconciles them. */
import path from "node:path";
import { CustomObjectsApi, KubeConfig, makeInformer, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { eventually, type Finished, RunningPlane } from "./plane.ts";

const CRDS = path.join(import.meta.dirname, "crds");
const OBJECTS = 50;

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

interface Kind {
	readonly file: string;
	readonly apiVersion: string;
	readonly kind: string;
	readonly plural: string;
	readonly spec: object;
	/** A field with a description, for `explain`. */
	readonly explain: readonly [field: string, says: string];
	/** A patch that is right, and one that is refused in these words. */
	readonly patch: object;
	readonly wrong: readonly [spec: object, says: string];
	readonly isCluster?: boolean;
}

const KINDS: readonly Kind[] = [
	{
		file: "gateway.yaml",
		apiVersion: "network.example.com/v1",
		kind: "Gateway",
		plural: "gateways",
		spec: { gatewayClassName: "c", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
		explain: ["spec.listeners", "Ports that are listened on."],
		patch: { gatewayClassName: "d" },
		wrong: [
			{ listeners: [{ name: "a", port: 80, protocol: "HTTP", tls: {} }] },
			"tls must not be specified for protocols",
		],
	},
	{
		file: "gateway.yaml",
		apiVersion: "network.example.com/v1",
		kind: "HTTPRoute",
		plural: "httproutes",
		spec: { hostnames: ["a.example.com"], parentRefs: [{ name: "g" }] },
		explain: ["spec.rules.backendRefs", "weight"],
		patch: { hostnames: ["b.example.com"] },
		wrong: [{ rules: [{ matches: [{ path: { value: "x" } }] }] }, "value must be an absolute path"],
	},
	{
		file: "certificate.yaml",
		apiVersion: "trust.example.com/v1",
		kind: "Certificate",
		plural: "certificates",
		spec: { secretName: "s", issuerRef: { name: "i" }, dnsNames: ["a", "b"] },
		explain: ["spec.secretName", "Where the key goes."],
		patch: { duration: "1h" },
		wrong: [{ dnsNames: ["a", "a"] }, 'spec.dnsNames[1]: Duplicate value: "a"'],
	},
	{
		file: "certificate.yaml",
		apiVersion: "trust.example.com/v1",
		kind: "Issuer",
		plural: "issuers",
		spec: { selfSigned: {} },
		explain: ["spec.ca", "secretName"],
		patch: { selfSigned: null, ca: { secretName: "s" } },
		wrong: [{ ca: { secretName: "s" } }, "spec: Too many: 2: must have at most 1 items"],
		isCluster: true,
	},
	{
		file: "rollout.yaml",
		apiVersion: "delivery.example.com/v1",
		kind: "Rollout",
		plural: "rollouts",
		spec: { selector: { matchLabels: { app: "a" } }, template: { spec: { containers: [{ name: "c", image: "i" }] } } },
		explain: ["spec.template", "The pod to make."],
		patch: { strategy: { steps: [{ setWeight: 20 }, { pause: { duration: "1h" } }] } },
		wrong: [{ strategy: { steps: [{}] } }, "must validate one and only one schema (oneOf). Found none valid"],
	},
];

describe.skipIf(isMissing)("kubectl", () => {
	let plane: RunningPlane;
	const kubectl = (args: readonly string[], input?: string): Promise<Finished> =>
		plane.kubectl(newest?.path ?? "", args, input);
	const succeeds = async (args: readonly string[], input?: string): Promise<string> => {
		const { status, stdout, stderr } = await kubectl(args, input);
		expect({ args, status, stderr }).toMatchObject({ status: 0 });
		return stdout;
	};
	beforeAll(async () => {
		plane = await RunningPlane.start(["--nodes", "1"]);
		await succeeds(["apply", "-f", CRDS]);
		await succeeds(["wait", "--for=condition=established", "crd", "--all", "--timeout=20s"]);
	}, 60_000);
	afterAll(() => plane?.stop());

	const listOf = ({ apiVersion, kind, spec }: Kind, change: object = {}): string =>
		JSON.stringify({
			apiVersion: "v1",
			kind: "List",
			items: Array.from({ length: OBJECTS }, (_, index) => ({
				apiVersion,
				kind,
				metadata: { name: `o-${index}`, labels: { app: "a" } },
				spec: { ...spec, ...change },
			})),
		});

	test.each(KINDS)(
		"makes, reads, changes and deletes fifty of $kind",
		async (kind) => {
			const { plural } = kind;
			const made = await succeeds(["apply", "-f", "-"], listOf(kind));
			expect(made.match(/ created$/gm)).toHaveLength(OBJECTS);
			expect((await succeeds(["apply", "-f", "-"], listOf(kind))).match(/ unchanged$/gm)).toHaveLength(OBJECTS);
			expect((await succeeds(["get", plural, "--no-headers"])).trim().split("\n")).toHaveLength(OBJECTS);
			expect(await succeeds(["explain", `${plural}.${kind.explain[0]}`])).toContain(kind.explain[1]);
			await succeeds(["patch", plural, "o-1", "--type=merge", "-p", JSON.stringify({ spec: kind.patch })]);
			const [wrong, says] = kind.wrong;
			const refused = await kubectl(["patch", plural, "o-2", "--type=merge", "-p", JSON.stringify({ spec: wrong })]);
			expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(says) });
			await succeeds(["label", plural, "o-3", "tier=front"]);
			expect(await succeeds(["get", plural, "-l", "tier=front", "-o", "name"])).toContain("/o-3");
			expect((await kubectl(["auth", "can-i", "create", plural])).stdout).toBe("yes\n");
			await succeeds(["delete", plural, "-l", "app=a", "--wait"]);
			expect((await kubectl(["get", plural])).stderr).toContain("No resources found");
		},
		120_000,
	);

	test("scales what has a scale, and prints its columns", async () => {
		const kind = KINDS.find(({ plural }) => plural === "rollouts") as Kind;
		await succeeds(["apply", "-f", "-"], listOf(kind));
		await succeeds(["scale", "rollout", "o-1", "--replicas=3"]);
		const status = { status: { readyReplicas: 2, conditions: [{ type: "Available", status: "True", reason: "Up" }] } };
		await succeeds(["patch", "ro", "o-1", "--subresource=status", "--type=merge", "-p", JSON.stringify(status)]);
		const lines = (await succeeds(["get", "ro", "o-1"])).split("\n");
		expect(lines[0]).toMatch(/^NAME +DESIRED +READY +PHASE +AGE$/);
		expect(lines[1]).toMatch(/^o-1 +3 +2 +Up +\d+s$/);
		expect(await succeeds(["wait", "--for=condition=Available", "ro/o-1", "--timeout=10s"])).toContain("condition met");
		expect(await succeeds(["api-resources", "--api-group=delivery.example.com"])).toMatch(
			/rollouts +ro +delivery.example.com\/v1 +true +Rollout/,
		);
	}, 60_000);

	test("warns of a deprecated version, and shows the same object in it", async () => {
		const kind = KINDS.find(({ plural }) => plural === "gateways") as Kind;
		await succeeds(["apply", "-f", "-"], listOf(kind));
		const { stdout, stderr } = await kubectl(["get", "gateways.v1beta1.network.example.com", "o-1", "-o", "json"]);
		expect(JSON.parse(stdout)).toMatchObject({ apiVersion: "network.example.com/v1beta1", spec: kind.spec });
		expect(stderr).toContain("network.example.com/v1beta1 Gateway is deprecated; use network.example.com/v1 Gateway");
	}, 60_000);

	test("deletes namespaces, dependents and definitions with what is in them", async () => {
		await succeeds(["create", "namespace", "gone"]);
		const kind = KINDS.find(({ plural }) => plural === "certificates") as Kind;
		await succeeds(["apply", "-n", "gone", "-f", "-"], listOf(kind));
		await succeeds(["apply", "-f", "-"], listOf(kind));
		const owner = JSON.parse(await succeeds(["get", "cert", "o-1", "-o", "json"]));
		const { apiVersion } = kind;
		const ownerReferences = [{ apiVersion, kind: "Certificate", name: "o-1", uid: owner.metadata.uid }];
		const dependent = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owned", ownerReferences } };
		await succeeds(["apply", "-f", "-"], JSON.stringify(dependent));
		await succeeds(["delete", "cert", "o-1", "--cascade=foreground", "--timeout=20s"]);
		expect((await kubectl(["get", "configmap", "owned"])).stderr).toContain("NotFound");
		await succeeds(["delete", "namespace", "gone", "--timeout=60s"]);
		await succeeds(["delete", "-f", path.join(CRDS, "certificate.yaml"), "--timeout=30s"]);
		expect((await kubectl(["get", "certificates"])).stderr).toMatch(
			/could not find the requested resource|doesn't have a resource type/,
		);
	}, 120_000);
});

describe("a controller written with the JavaScript client", () => {
	let plane: RunningPlane;
	beforeAll(async () => {
		plane = await RunningPlane.start(["--nodes", "1", "-f", path.join(CRDS, "rollout.yaml")]);
	}, 60_000);
	afterAll(() => plane?.stop());

	test("reconciles fifty objects: their status follows their spec", async () => {
		const config = new KubeConfig();
		config.loadFromFile(plane.kubeconfig);
		const api = config.makeApiClient(CustomObjectsApi);
		const place = { group: "delivery.example.com", version: "v1", namespace: "default", plural: "rollouts" };
		const list = () => api.listNamespacedCustomObject(place);
		const informer = makeInformer<Rollout>(config, "/apis/delivery.example.com/v1/namespaces/default/rollouts", list);
		const reconcile = async ({ metadata, spec, status }: Rollout): Promise<void> => {
			const { name = "", generation = 0 } = metadata ?? {};
			if (status?.observedGeneration === generation) return;
			const condition = {
				type: "Available",
				status: "True",
				reason: "Reconciled",
				lastTransitionTime: new Date().toISOString(),
			};
			const next = { observedGeneration: generation, readyReplicas: spec?.replicas ?? 0, conditions: [condition] };
			const options = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
			await api.patchNamespacedCustomObjectStatus({ ...place, name, body: { status: next } }, options);
		};
		const failures: unknown[] = [];
		const see = (rollout: Rollout): void => void reconcile(rollout).catch((error: unknown) => failures.push(error));
		informer.on("add", see);
		informer.on("update", see);
		await informer.start();
		const spec = { selector: {}, template: {}, replicas: 2 };
		const names = Array.from({ length: OBJECTS }, (_, index) => `r-${index}`);
		await Promise.all(
			names.map((name) =>
				api.createNamespacedCustomObject({
					...place,
					body: { apiVersion: "delivery.example.com/v1", kind: "Rollout", metadata: { name }, spec },
				}),
			),
		);
		await api.patchNamespacedCustomObject(
			{ ...place, name: "r-7", body: { spec: { replicas: 5 } } },
			setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
		);
		const rollouts = async (): Promise<readonly Rollout[]> => (await list()).items;
		const done = await eventually(rollouts, (items) =>
			items.every(({ metadata, status }) => status?.observedGeneration === metadata?.generation),
		);
		expect(failures).toEqual([]);
		expect(done.map(({ status }) => status?.readyReplicas).sort()).toEqual([...names.slice(1).map(() => 2), 5]);
		await informer.stop();
	}, 60_000);
});

interface Rollout {
	readonly metadata?: { readonly name?: string; readonly generation?: number };
	readonly spec?: { readonly replicas?: number };
	readonly status?: { readonly observedGeneration?: number; readonly readyReplicas?: number };
}
