/** Controllers follow resources that come and go while they run. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Resource } from "../api/resource.ts";
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from "../api/resource-names.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { startTestPlane, type TestPlane } from "./test-plane.ts";

const TABS: Resource = { group: "example.com", version: "v1", kind: "Tab", plural: "tabs", namespaced: true };
const SCHEMA = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
const DEFINITION = {
	metadata: { name: "tabs.example.com" },
	spec: {
		group: "example.com",
		scope: "Namespaced",
		names: { plural: "tabs", kind: "Tab" },
		versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
	},
} as const;

let plane: TestPlane;
beforeEach(async () => {
	plane = await startTestPlane({ nodes: 0 });
	await plane.client.create(CUSTOM_RESOURCE_DEFINITIONS, "", DEFINITION);
	await plane.settle();
});
afterEach(async () => {
	expect(plane.warnings).toEqual([]);
	await plane.stop();
});

const names = async (resource: Resource): Promise<readonly string[]> =>
	(await plane.client.list(resource, { namespace: "default" })).items.map(({ metadata }) => metadata.name);

const ownedBy = ({ apiVersion, kind, metadata }: KubeObject): object => ({
	ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true }],
});

describe("the garbage collector", () => {
	test("deletes what a custom object owns, and a custom object that is owned", async () => {
		const { client } = plane;
		const owner = await client.create(TABS, "default", { metadata: { name: "owner" } });
		await client.create(CONFIG_MAPS, "default", { metadata: { name: "owned", ...ownedBy(owner) } });
		await client.create(TABS, "default", { metadata: { name: "owned", ...ownedBy(owner) } });
		await plane.settle();
		await client.delete(TABS, { namespace: "default", name: "owner" }, { propagationPolicy: "Foreground" });
		await plane.advance(5_000);
		expect(await names(TABS)).toEqual([]);
		expect(await names(CONFIG_MAPS)).not.toContain("owned");
	});

	test("lets dependents of a custom object go that is to leave orphans", async () => {
		const { client } = plane;
		const owner = await client.create(TABS, "default", { metadata: { name: "owner" } });
		await client.create(TABS, "default", { metadata: { name: "owned", ...ownedBy(owner) } });
		await plane.settle();
		await client.delete(TABS, { namespace: "default", name: "owner" }, { propagationPolicy: "Orphan" });
		await plane.advance(5_000);
		const left = await client.list(TABS, { namespace: "default" });
		expect(left.items.map(({ metadata }) => [metadata.name, metadata.ownerReferences])).toEqual([["owned", undefined]]);
	});

	test("follows a definition that comes again", async () => {
		const { client } = plane;
		await client.delete(CUSTOM_RESOURCE_DEFINITIONS, { namespace: "", name: "tabs.example.com" });
		await plane.advance(5_000);
		await client.create(CUSTOM_RESOURCE_DEFINITIONS, "", DEFINITION);
		await plane.settle();
		const owner = await client.create(CONFIG_MAPS, "default", { metadata: { name: "owner" } });
		await client.create(TABS, "default", { metadata: { name: "owned", ...ownedBy(owner) } });
		await plane.settle();
		await client.delete(CONFIG_MAPS, { namespace: "default", name: "owner" });
		await plane.advance(5_000);
		expect(await names(TABS)).toEqual([]);
	});
});

test("a namespace that is deleted takes its custom objects along", async () => {
	const { client } = plane;
	await client.create(NAMESPACES, "", { metadata: { name: "gone" } });
	await client.create(TABS, "gone", { metadata: { name: "a" } });
	await client.delete(NAMESPACES, { namespace: "", name: "gone" });
	await plane.advance(30_000);
	expect((await client.list(TABS, {})).items).toEqual([]);
	expect((await client.list(NAMESPACES, {})).items.map(({ metadata }) => metadata.name)).not.toContain("gone");
});
