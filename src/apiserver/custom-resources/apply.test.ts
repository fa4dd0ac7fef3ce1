/** Server-side apply of custom objects: their schema says what lists and maps are. */
import { beforeEach, expect, test } from "vitest";
import { type TestResponse, TestServer } from "../../testing/test-server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const TABS = "/apis/example.com/v1/namespaces/default/tabs";
const SCHEMA = {
	type: "object",
	properties: {
		spec: {
			type: "object",
			properties: {
				size: { type: "integer" },
				ports: {
					type: "array",
					"x-kubernetes-list-type": "map",
					"x-kubernetes-list-map-keys": ["name"],
					items: {
						type: "object",
						required: ["name"],
						properties: { name: { type: "string" }, port: { type: "integer" } },
					},
				},
				set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
				list: { type: "array", items: { type: "string" } },
				slots: {
					type: "array",
					"x-kubernetes-list-type": "map",
					"x-kubernetes-list-map-keys": ["slot", "spare"],
					items: {
						type: "object",
						properties: {
							slot: { type: "integer", default: 7 },
							spare: { type: "boolean", default: false },
							use: { type: "string" },
						},
					},
				},
				free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
			},
		},
	},
};

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
	const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" };
	const version = {
		name: "v1",
		served: true,
		storage: true,
		schema: { openAPIV3Schema: SCHEMA },
		subresources: { scale },
	};
	const spec = {
		group: "example.com",
		scope: "Namespaced",
		names: { plural: "tabs", kind: "Tab" },
		versions: [version],
	};
	await server.request("POST", CRDS, { body: { metadata: { name: "tabs.example.com" }, spec } });
	await server.clock.settle();
});

const apply = (manager: string, spec: object, query = ""): Promise<TestResponse> =>
	server.request("PATCH", `${TABS}/a?fieldManager=${manager}${query}`, {
		body: JSON.stringify({ apiVersion: "example.com/v1", kind: "Tab", metadata: { name: "a" }, spec }),
		contentType: "application/apply-patch+yaml",
	});

test("several managers share one object, by keys, values and fields", async () => {
	expect(
		(await apply("one", { size: 1, ports: [{ name: "a", port: 1 }], set: ["x"], list: ["l"], free: { p: 1 } })).status,
	).toBe(201);
	const two = await apply("two", { ports: [{ name: "b", port: 2 }], set: ["y"], free: { q: 2 } });
	expect(two.json.spec).toEqual({
		size: 1,
		ports: [
			{ name: "a", port: 1 },
			{ name: "b", port: 2 },
		],
		set: ["x", "y"],
		list: ["l"],
		free: { p: 1, q: 2 },
	});
	const conflict = await apply("two", { list: ["m"], ports: [{ name: "a", port: 9 }] });
	expect([conflict.status, conflict.json.details?.causes?.map(({ field }) => field)]).toEqual([
		409,
		[".spec.list", '.spec.ports[name="a"].port'],
	]);
	const gone = await apply("one", { size: 1 });
	expect(gone.json.spec).toEqual({ size: 1, ports: [{ name: "b", port: 2 }], set: ["y"], free: { q: 2 } });
});

test("a field that the schema does not know is refused", async () => {
	expect((await apply("one", { foo: 1 })).json.message).toContain(".spec.foo: field not declared in schema");
});

test("a scale owns the size where the definition has it", async () => {
	await apply("one", { size: 1 });
	const scaled = await server.request("PATCH", `${TABS}/a/scale?fieldManager=hpa&force=true`, {
		body: JSON.stringify({
			apiVersion: "autoscaling/v1",
			kind: "Scale",
			metadata: { name: "a", namespace: "default" },
			spec: { replicas: 5 },
		}),
		contentType: "application/apply-patch+yaml",
	});
	expect([scaled.status, scaled.json.spec]).toEqual([200, { replicas: 5 }]);
	const { json } = await server.request("GET", `${TABS}/a`);
	expect(json.spec).toEqual({ size: 5 });
	const owner = json.metadata.managedFields?.find(({ manager }) => manager === "hpa");
	expect(owner?.fieldsV1).toEqual({ "f:spec": { "f:size": {} } });
});

const created = async (metadata: object, spec: object): Promise<TestResponse> =>
	server.request("POST", `${TABS}?fieldManager=maker`, {
		body: { apiVersion: "example.com/v1", kind: "Tab", metadata: { name: "a", ...metadata }, spec },
	});

test("whoever creates an object owns nothing of what the server keeps", async () => {
	const { json } = await created({}, { size: 1 });
	expect(json.metadata.managedFields?.map(({ fieldsV1 }) => fieldsV1)).toEqual([
		{ "f:spec": { ".": {}, "f:size": {} } },
	]);
});

test("whoever creates an object owns the labels that it came with", async () => {
	const { json } = await created({ labels: { a: "b" } }, { size: 1 });
	expect(json.metadata.managedFields?.[0]?.fieldsV1).toEqual({
		"f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
		"f:spec": { ".": {}, "f:size": {} },
	});
});

test("keys of a list that are not given count as their defaults, whatever their type", async () => {
	expect((await apply("one", { slots: [{ use: "x" }] })).status).toBe(201);
	const { json } = await apply("two", { slots: [{ slot: 8, spare: true, use: "y" }] });
	expect(json.spec).toEqual({
		slots: [
			{ slot: 7, spare: false, use: "x" },
			{ slot: 8, spare: true, use: "y" },
		],
	});
	expect(json.metadata.managedFields?.[0]?.fieldsV1).toEqual({
		"f:spec": { "f:slots": { 'k:{"slot":7,"spare":false}': { ".": {}, "f:use": {} } } },
	});
});
