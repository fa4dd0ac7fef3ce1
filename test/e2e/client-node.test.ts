/** The official JavaScript client on a plane: it reads, writes, patches and watches. */
import {
	CoreV1Api,
	DiscoveryV1Api,
	KubeConfig,
	makeInformer,
	PatchStrategy,
	setHeaderOptions,
	Watch,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, RunningPlane } from "./plane.ts";

const NAMESPACE = "default";
const SERVICE = {
	metadata: { name: "web" },
	spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
};

let plane: RunningPlane;
let config: KubeConfig;
beforeAll(async () => {
	plane = await RunningPlane.start(["--nodes", "1"]);
	config = new KubeConfig();
	config.loadFromFile(plane.kubeconfig);
});
afterAll(() => plane?.stop());

test("writes a Service and Pods, patches, and reads the slices that follow", async () => {
	const core = config.makeApiClient(CoreV1Api);
	const created = await core.createNamespacedService({ namespace: NAMESPACE, body: SERVICE });
	expect(created.spec?.clusterIP).toMatch(/^10\.96\./);
	const pod = {
		metadata: { name: "web-1", labels: { app: "web" } },
		spec: { containers: [{ name: "c", image: "i" }] },
	};
	await core.createNamespacedPod({ namespace: NAMESPACE, body: pod });

	const discovery = config.makeApiClient(DiscoveryV1Api);
	const ready = await eventually(
		async () =>
			(
				await discovery.listNamespacedEndpointSlice({
					namespace: NAMESPACE,
					labelSelector: "kubernetes.io/service-name=web",
				})
			).items,
		(slices) => slices.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready)),
	);
	expect(ready[0]?.ports).toMatchObject([{ port: 8080, protocol: "TCP" }]);

	const patched = await core.patchNamespacedService(
		{ namespace: NAMESPACE, name: "web", body: { metadata: { labels: { tier: "front" } } } },
		setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch),
	);
	expect(patched.metadata?.labels).toEqual({ tier: "front" });
	const refused = core.createNamespacedService({ namespace: NAMESPACE, body: SERVICE });
	await expect(refused).rejects.toMatchObject({ code: 409 });
	await core.deleteNamespacedService({ namespace: NAMESPACE, name: "web" });
	await core.deleteNamespacedPod({ namespace: NAMESPACE, name: "web-1", gracePeriodSeconds: 0 });
});

test("watches from a resourceVersion, and keeps an informer's cache", async () => {
	const core = config.makeApiClient(CoreV1Api);
	const { metadata } = await core.listNamespacedConfigMap({ namespace: NAMESPACE });
	const events: string[] = [];
	const stop = await new Watch(config).watch(
		`/api/v1/namespaces/${NAMESPACE}/configmaps`,
		{ resourceVersion: metadata?.resourceVersion },
		(phase, object) => events.push(`${phase} ${object.metadata.name}`),
		() => undefined,
	);
	const list = () => core.listNamespacedConfigMap({ namespace: NAMESPACE });
	const informer = makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/configmaps`, list);
	await informer.start();
	const body = { metadata: { name: "settings" }, data: { a: "1" } };
	const created = await core.createNamespacedConfigMap({ namespace: NAMESPACE, body });
	await core.replaceNamespacedConfigMap({
		namespace: NAMESPACE,
		name: "settings",
		body: { ...created, data: { a: "2" } },
	});
	await eventually(
		async () => informer.get("settings", NAMESPACE)?.data,
		(data) => data?.["a"] === "2",
	);
	await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: "settings" });
	await eventually(
		async () => events,
		(seen) => seen.length >= 3,
	);
	expect(events).toEqual(["ADDED settings", "MODIFIED settings", "DELETED settings"]);
	await informer.stop();
	stop.abort();
});
