import { describe, expect, test } from "vitest";
import { deepEqual } from "../kernel/json.ts";
import { metadataOf } from "../testing/api-objects.ts";
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from "./discovery.ts";
import { findResource, RESOURCE_TYPES, resourceOfKind } from "./resource-table.ts";
import { SCALE_TABLE, scaleOf, validateScale, withScale } from "./scale.ts";

describe("the table of resources", () => {
	test("finds by URL and by kind", () => {
		for (const type of RESOURCE_TYPES) {
			expect(findResource(type.group, type.version, type.plural)).toBe(type);
		}
		expect(resourceOfKind("apps/v1", "Deployment")?.plural).toBe("deployments");
		expect(resourceOfKind("v1", "Deployment")).toBeUndefined();
		expect(findResource("", "v1", "constructor")).toBeUndefined();
	});

	test("every short name, plural and storage prefix is there once, but for Events, which have two shapes", () => {
		const stored = RESOURCE_TYPES.filter(({ storedForm }) => storedForm === undefined);
		const names = stored.flatMap(({ plural, shortNames }) => [plural, ...shortNames]);
		expect(new Set(names).size).toBe(names.length);
		expect(new Set(stored.map(({ storagePrefix }) => storagePrefix)).size).toBe(stored.length);
		expect(RESOURCE_TYPES.filter((type) => !stored.includes(type)).map(({ group }) => group)).toEqual([
			"events.k8s.io",
		]);
	});

	test("a kind has rules for its status exactly if it has the subresource", () => {
		const withRules = RESOURCE_TYPES.filter((type) => type.prepareStatusUpdate !== undefined);
		const withSubresource = RESOURCE_TYPES.filter((type) => type.subresources.some(({ name }) => name === "status"));
		expect(withRules).toEqual(withSubresource);
	});

	test("defaults of any kind take an object that says nothing, and are stable", () => {
		for (const type of RESOURCE_TYPES) {
			const bare = { apiVersion: "v1", kind: type.kind, metadata: metadataOf("10.0.0.1") };
			const once = type.withDefaults(bare);
			expect([type.kind, deepEqual(type.withDefaults(once), once)]).toEqual([type.kind, true]);
			expect(Array.isArray(type.validate(type.prepareCreate(once, { nowMs: 0 })))).toBe(true);
		}
	});

	test("one column carries the name", () => {
		for (const { table } of RESOURCE_TYPES) {
			expect(table.columns.filter(({ format }) => format === "name").map(({ name }) => name)).toEqual(["Name"]);
		}
	});
});

describe("discovery", () => {
	test("aggregated: groups in order of priority, resources and subresources sorted", () => {
		const named = aggregatedDiscovery(RESOURCE_TYPES, "named", "v2");
		expect(named.items.map(({ metadata }) => metadata.name)).toEqual([
			"apps",
			"events.k8s.io",
			"networking.k8s.io",
			"rbac.authorization.k8s.io",
			"apiextensions.k8s.io",
			"coordination.k8s.io",
			"discovery.k8s.io",
		]);
		const core = aggregatedDiscovery(RESOURCE_TYPES, "core", "v2beta1");
		expect(core.apiVersion).toBe("apidiscovery.k8s.io/v2beta1");
		expect(core.items).toHaveLength(1);
		expect(core.items[0]?.metadata).toEqual({ creationTimestamp: null });
		const resources = core.items[0]?.versions[0]?.resources ?? [];
		expect(resources.map(({ resource }) => resource)).toEqual([
			"configmaps",
			"endpoints",
			"events",
			"namespaces",
			"nodes",
			"pods",
			"secrets",
			"serviceaccounts",
			"services",
		]);
		expect(resources.find(({ resource }) => resource === "pods")).toMatchObject({
			scope: "Namespaced",
			singularResource: "pod",
			shortNames: ["po"],
			categories: ["all"],
			responseKind: { group: "", version: "v1", kind: "Pod" },
			subresources: [
				{ subresource: "binding", responseKind: { group: "", version: "v1", kind: "Binding" }, verbs: ["create"] },
				{
					subresource: "eviction",
					responseKind: { group: "policy", version: "v1", kind: "Eviction" },
					verbs: ["create"],
				},
				{ subresource: "log", responseKind: { group: "", version: "v1", kind: "Pod" }, verbs: ["get"] },
				{
					subresource: "portforward",
					responseKind: { group: "", version: "v1", kind: "PodPortForwardOptions" },
					verbs: ["create", "get"],
				},
				{
					subresource: "proxy",
					responseKind: { group: "", version: "v1", kind: "PodProxyOptions" },
					verbs: ["create", "delete", "get", "patch", "update"],
				},
				{ subresource: "status", responseKind: { group: "", version: "v1", kind: "Pod" } },
			],
		});
	});

	test("legacy: the list of core says where eviction comes from, which drain looks for", () => {
		const core = apiResourceList(RESOURCE_TYPES, "", "v1");
		expect(core).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
		expect(core).not.toHaveProperty("apiVersion");
		expect(core?.resources.find(({ name }) => name === "pods/eviction")).toEqual({
			name: "pods/eviction",
			singularName: "",
			namespaced: true,
			group: "policy",
			version: "v1",
			kind: "Eviction",
			verbs: ["create"],
		});
		expect(core?.resources.find(({ name }) => name === "namespaces")?.verbs).not.toContain("deletecollection");
	});

	test("legacy: groups, and nothing for what is not served", () => {
		expect(apiGroup(RESOURCE_TYPES, "apps")).toEqual({
			kind: "APIGroup",
			apiVersion: "v1",
			name: "apps",
			versions: [{ groupVersion: "apps/v1", version: "v1" }],
			preferredVersion: { groupVersion: "apps/v1", version: "v1" },
		});
		expect(apiGroup(RESOURCE_TYPES, "batch")).toBeUndefined();
		expect(apiResourceList(RESOURCE_TYPES, "apps", "v1beta1")).toBeUndefined();
		expect(apiResourceList(RESOURCE_TYPES, "apps", "v1")).toMatchObject({ apiVersion: "v1", groupVersion: "apps/v1" });
		expect(apiGroupList(RESOURCE_TYPES)).toMatchObject({ kind: "APIGroupList" });
		expect(apiVersions("127.0.0.1:6443")).toMatchObject({ versions: ["v1"] });
	});
});

describe("Scale", () => {
	const selector = { matchLabels: { app: "web" } };
	const template = { spec: { containers: [] } };
	const workload = {
		apiVersion: "apps/v1",
		kind: "Deployment",
		metadata: metadataOf("web", { labels: { a: "b" } }),
		spec: { replicas: 3, selector, template },
		status: { replicas: 2 },
	};

	test("is the size of a workload, and goes back into it", () => {
		const scale = scaleOf(workload);
		expect(scale).toEqual({
			kind: "Scale",
			apiVersion: "autoscaling/v1",
			metadata: metadataOf("web"),
			spec: { replicas: 3 },
			status: { replicas: 2, selector: "app=web" },
		});
		expect(withScale(workload, { ...scale, spec: {} })).toEqual({
			...workload,
			spec: { replicas: 0, selector, template },
		});
		expect(validateScale({ ...scale, spec: { replicas: -1 } })).toHaveLength(1);
		expect(SCALE_TABLE.cells(scale, Date.parse("2026-01-01T00:00:09Z"))).toEqual(["web", 3, 2, "9s"]);
	});
});
