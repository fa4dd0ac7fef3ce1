/** What every cluster and every namespace has without anybody asking for it. */
import { afterEach, describe, expect, test } from "vitest";
import {
	CONFIG_MAPS,
	ENDPOINT_SLICES,
	ENDPOINTS,
	NAMESPACES,
	SERVICE_ACCOUNTS,
	SERVICES,
} from "../api/resource-names.ts";
import type { Service } from "../api/types/core.ts";
import { eventTexts, listed, patched } from "../testing/plane-steps.ts";
import { startTestPlane, type TestPlane, type TestPlaneOptions } from "../testing/test-plane.ts";

const planes: TestPlane[] = [];

async function started(options: TestPlaneOptions = {}): Promise<TestPlane> {
	const plane = await startTestPlane({ nodes: 0, ...options });
	planes.push(plane);
	return plane;
}

afterEach(async () => {
	const used = planes.splice(0);
	for (const plane of used) await plane.stop();
	expect(used.flatMap(({ warnings }) => warnings)).toEqual([]);
});

const KUBERNETES = { namespace: "default", name: "kubernetes" };

describe("the Service kubernetes", () => {
	test("leads to the API, in Endpoints and in one slice that nobody else keeps", async () => {
		const plane = await started();
		await plane.advance(10_000);
		expect((await plane.client.get(SERVICES, KUBERNETES)).spec).toMatchObject({
			clusterIP: "10.96.0.1",
			ipFamilyPolicy: "SingleStack",
			ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
		});
		const { metadata, subsets } = await plane.client.get(ENDPOINTS, KUBERNETES);
		expect(metadata.labels).toEqual({ "endpointslice.kubernetes.io/skip-mirror": "true" });
		expect(subsets).toEqual([
			{ addresses: [{ ip: "192.168.255.254" }], ports: [{ name: "https", port: 6443, protocol: "TCP" }] },
		]);
		const slices = await listed(plane, ENDPOINT_SLICES);
		expect(
			slices.map(({ metadata: { name, labels, ownerReferences } }) => ({ name, labels, ownerReferences })),
		).toEqual([
			{ name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" }, ownerReferences: undefined },
		]);
		expect(slices[0]?.endpoints).toEqual([{ addresses: ["192.168.255.254"], conditions: { ready: true } }]);
	});

	test("comes back, and so do its endpoints, and edits of them are undone", async () => {
		const plane = await started();
		const { uid } = (await plane.client.get(SERVICES, KUBERNETES)).metadata;
		await plane.client.delete(SERVICES, KUBERNETES);
		await plane.client.delete(ENDPOINT_SLICES, KUBERNETES);
		await patched(plane, ENDPOINTS, "kubernetes", { subsets: [] });
		await plane.advance(10_000);
		const again = await plane.client.get(SERVICES, KUBERNETES);
		expect(again.metadata.uid).not.toBe(uid);
		expect(again.spec.clusterIP).toBe("10.96.0.1");
		expect(await listed(plane, ENDPOINT_SLICES)).toHaveLength(1);
		expect((await plane.client.get(ENDPOINTS, KUBERNETES)).subsets).toHaveLength(1);
	});

	test("writes nothing when everything is right", async () => {
		const plane = await started();
		await plane.advance(1_000);
		const { revision } = plane.store;
		await plane.advance(600_000);
		expect(plane.store.revision).toBe(revision);
	});
});

describe("every namespace", () => {
	const furniture = async (plane: TestPlane, namespace: string): Promise<readonly string[]> => [
		...(await plane.client.list(SERVICE_ACCOUNTS, { namespace })).items.map(({ metadata }) => metadata.name),
		...(await plane.client.list(CONFIG_MAPS, { namespace })).items.map(({ metadata }) => metadata.name),
	];

	test("has a ServiceAccount and the certificate of the API, also when they were deleted", async () => {
		const plane = await started();
		await plane.client.create(NAMESPACES, "", { metadata: { name: "shop" } });
		await plane.settle();
		expect(await furniture(plane, "shop")).toEqual(["default", "kube-root-ca.crt"]);
		await plane.client.delete(SERVICE_ACCOUNTS, { namespace: "shop", name: "default" });
		await plane.client.delete(CONFIG_MAPS, { namespace: "shop", name: "kube-root-ca.crt" });
		await plane.settle();
		expect(await furniture(plane, "shop")).toEqual(["default", "kube-root-ca.crt"]);
	});

	test("keeps the certificate as it is, and what others add to the account", async () => {
		const plane = await started();
		await patched(plane, CONFIG_MAPS, "kube-root-ca.crt", { data: { "ca.crt": "forged" } });
		await patched(plane, SERVICE_ACCOUNTS, "default", { imagePullSecrets: [{ name: "registry" }] });
		await plane.settle();
		expect((await listed(plane, CONFIG_MAPS))[0]?.data).toEqual({ "ca.crt": "" });
		expect((await listed(plane, SERVICE_ACCOUNTS))[0]?.imagePullSecrets).toEqual([{ name: "registry" }]);
	});

	test("goes without them being made again", async () => {
		const plane = await started();
		await plane.client.create(NAMESPACES, "", { metadata: { name: "shop" } });
		await plane.advance(1_000);
		await plane.client.delete(NAMESPACES, { namespace: "", name: "shop" });
		await plane.advance(60_000);
		expect((await plane.client.list(NAMESPACES, {})).items.map(({ metadata }) => metadata.name)).not.toContain("shop");
	});
});

describe("a Service of type LoadBalancer", () => {
	const create = (plane: TestPlane, name: string, spec: Partial<Service["spec"]> = {}): Promise<Service> =>
		plane.client.create(SERVICES, "default", {
			metadata: { name },
			spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec },
		});
	const ingressOf = async (plane: TestPlane, name: string): Promise<readonly (string | undefined)[]> => {
		const { status } = await plane.client.get(SERVICES, { namespace: "default", name });
		return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
	};

	test("gets an address, and two get two", async () => {
		const plane = await started();
		await Promise.all([create(plane, "a"), create(plane, "b")]);
		await plane.settle();
		expect([...(await ingressOf(plane, "a")), ...(await ingressOf(plane, "b"))].sort()).toEqual([
			"203.0.113.1",
			"203.0.113.2",
		]);
		expect((await eventTexts(plane, "Service")).slice(0, 2)).toEqual([
			"Normal EnsuringLoadBalancer Ensuring load balancer",
			"Normal EnsuredLoadBalancer Ensured load balancer",
		]);
	});

	test("gives it back when it is another type, or gone", async () => {
		const plane = await started();
		await create(plane, "a");
		await create(plane, "b");
		await plane.settle();
		await patched(plane, SERVICES, "a", { spec: { type: "ClusterIP" } });
		await plane.client.delete(SERVICES, { namespace: "default", name: "b" });
		await plane.settle();
		expect(await ingressOf(plane, "a")).toEqual([]);
		await create(plane, "c");
		await plane.settle();
		expect(await ingressOf(plane, "c")).toEqual(["203.0.113.1"]);
	});

	test("waits when there is none left, says so once, and gets the next that is free", async () => {
		const plane = await started();
		for (let n = 1; n <= 255; n++) await create(plane, `s${n}`);
		await plane.advance(1_000);
		expect(await ingressOf(plane, "s255")).toEqual([]);
		const waiting = async () =>
			(await eventTexts(plane, "Service")).filter((text) => text.includes("SyncLoadBalancerFailed"));
		expect(await waiting()).toEqual([
			"Warning SyncLoadBalancerFailed Error syncing load balancer: failed to ensure load balancer: every address of " +
				"203.0.113.0/24 is taken: delete a Service of type LoadBalancer",
		]);
		await plane.client.delete(SERVICES, { namespace: "default", name: "s7" });
		await plane.advance(1_000);
		expect(await ingressOf(plane, "s255")).toEqual(["203.0.113.7"]);
	});
});
