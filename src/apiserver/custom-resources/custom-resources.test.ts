/** Custom resources against the API server alone, as envtest has it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { type TestResponse, TestServer } from "../../testing/test-server.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MERGE = "application/merge-patch+json";

const SCHEMA = {
	type: "object",
	properties: {
		spec: {
			type: "object",
			required: ["schedule"],
			properties: {
				schedule: { type: "string", pattern: "^[0-9* ]+$", maxLength: 20 },
				replicas: { type: "integer", format: "int32", minimum: 0, maximum: 10, default: 1 },
				free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
				tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
				nothing: { type: "string", nullable: true },
			},
			"x-kubernetes-validations": [
				{ rule: "!has(self.replicas) || self.replicas != 7", message: "7 is not allowed" },
				{ rule: "self.schedule == oldSelf.schedule || self.replicas > 0", message: "cannot change while idle" },
			],
		},
		status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
	},
};

const VERSION = {
	name: "v1",
	served: true,
	storage: true,
	schema: { openAPIV3Schema: SCHEMA },
	subresources: {
		status: {},
		scale: {
			specReplicasPath: ".spec.replicas",
			statusReplicasPath: ".status.replicas",
			labelSelectorPath: ".status.selector",
		},
	},
	additionalPrinterColumns: [{ name: "Schedule", type: "string", jsonPath: ".spec.schedule" }],
	selectableFields: [{ jsonPath: ".spec.schedule" }],
};

const NAMES = { plural: "crontabs", kind: "CronTab", shortNames: ["ct"], categories: ["all"] };

function definition(spec: object = {}): object {
	return {
		apiVersion: "apiextensions.k8s.io/v1",
		kind: "CustomResourceDefinition",
		metadata: { name: "crontabs.stable.example.com" },
		spec: { group: "stable.example.com", scope: "Namespaced", names: NAMES, versions: [VERSION], ...spec },
	};
}

const TABS = "/apis/stable.example.com/v1/namespaces/default/crontabs";
const tab = (spec: object = { schedule: "* *" }, metadata: object = {}): object => ({
	apiVersion: "stable.example.com/v1",
	kind: "CronTab",
	metadata: { name: "a", ...metadata },
	spec,
});

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

const post = (path: string, body: unknown): Promise<TestResponse> => server.request("POST", path, { body });

async function define(spec: object = {}): Promise<TestResponse> {
	const made = await post(CRDS, definition(spec));
	await server.clock.settle();
	return made;
}

describe("a definition", () => {
	test("whose default breaks its own rule is refused", async () => {
		const size = { type: "integer", default: 7, "x-kubernetes-validations": [{ rule: "self != 7" }] };
		const spec = { type: "object", properties: { size }, default: {} };
		const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
		const { json } = await define({ versions: [{ ...VERSION, schema, subresources: {}, selectableFields: [] }] });
		const field = "spec.validation.openAPIV3Schema.properties[spec]";
		expect(json.details?.causes).toEqual([
			{
				reason: "FieldValueInvalid",
				message: 'Invalid value: "integer": failed rule: self != 7',
				field: `${field}.default.size`,
			},
			{
				reason: "FieldValueInvalid",
				message: 'Invalid value: "integer": failed rule: self != 7',
				field: `${field}.properties[size].default`,
			},
		]);
	});

	test("has a status that belongs to the API server", async () => {
		await define();
		const { json } = await server.request("GET", `${CRDS}/crontabs.stable.example.com`);
		const owners = json.metadata.managedFields?.map(({ manager, subresource = "" }) => `${manager}/${subresource}`);
		expect(owners).toContain("kube-apiserver/status");
		expect(owners).not.toContain("unknown/status");
	});

	test("gets its defaults, and is established", async () => {
		const made = await define();
		expect(made.status).toBe(201);
		expect(made.json).toMatchObject({
			metadata: { generation: 1 },
			spec: { names: { singular: "crontab", listKind: "CronTabList" }, conversion: { strategy: "None" } },
			status: { storedVersions: ["v1"] },
		});
		const { json } = await server.request("GET", `${CRDS}/crontabs.stable.example.com`);
		expect(json.status).toMatchObject({
			acceptedNames: { ...NAMES, singular: "crontab", listKind: "CronTabList" },
			conditions: [
				{ type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
				{ type: "Established", status: "True", reason: "InitialNamesAccepted" },
			],
			storedVersions: ["v1"],
		});
	});

	test("whose names are taken is not established, until they are free", async () => {
		await define();
		const other = { ...NAMES, plural: "others", kind: "Other", shortNames: ["ct"] };
		await post(CRDS, { ...definition({ names: other }), metadata: { name: "others.stable.example.com" } });
		await server.clock.settle();
		const path = `${CRDS}/others.stable.example.com`;
		expect((await server.request("GET", path)).json.status).toMatchObject({
			conditions: [
				{ type: "NamesAccepted", status: "False", reason: "ShortNamesConflict", message: '"ct" is already in use' },
				{ type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
			],
		});
		expect((await server.request("GET", "/apis/stable.example.com/v1/others")).status).toBe(404);
		await server.request("DELETE", `${CRDS}/crontabs.stable.example.com`);
		await server.clock.settle();
		expect((await server.request("GET", path)).json.status).toMatchObject({
			conditions: [
				{ type: "NamesAccepted", status: "True" },
				{ type: "Established", status: "True" },
			],
		});
		expect((await server.request("GET", "/apis/stable.example.com/v1/others")).status).toBe(200);
	});

	test("that goes while a large object is being made gets no object more", async () => {
		await define();
		const large = post(TABS, tab({ schedule: "1", free: { a: "x".repeat(100_000) } }));
		for (let turn = 0; turn < 3; turn++) await nextTurn();
		await server.request("DELETE", `${CRDS}/crontabs.stable.example.com`);
		await server.clock.settle();
		expect((await large).json).toMatchObject({ code: 405 });
		expect(server.store.space("/registry/stable.example.com/crontabs/").size).toBe(0);
	});

	test("that goes takes its objects along, and waits for their finalizers", async () => {
		await define();
		await post(TABS, tab());
		await post(TABS, tab({ schedule: "1" }, { name: "held", finalizers: ["finalizer.example.com"] }));
		const watch = await server.watch(`${TABS}?watch=true&resourceVersion=${server.store.revision}`);
		const deleted = await server.request("DELETE", `${CRDS}/crontabs.stable.example.com`);
		expect(deleted.json).toMatchObject({
			metadata: { finalizers: ["customresourcecleanup.apiextensions.k8s.io"] },
			status: { conditions: [{}, {}, { type: "Terminating", status: "True", reason: "InstanceDeletionPending" }] },
		});
		await server.clock.settle();
		expect((await server.request("GET", TABS)).json.items?.map(({ metadata }) => metadata.name)).toEqual(["held"]);
		expect((await post(TABS, tab())).json).toMatchObject({
			code: 405,
			message: "create not allowed while custom resource definition is terminating",
		});
		const body = { metadata: { finalizers: null } };
		await server.request("PATCH", `${TABS}/held`, { body, contentType: MERGE });
		await server.clock.settle();
		expect((await server.request("GET", `${CRDS}/crontabs.stable.example.com`)).status).toBe(404);
		expect((await server.request("GET", TABS)).json).toMatchObject({
			code: 404,
			message: "the server could not find the requested resource",
		});
		expect(watch.isEnded).toBe(true);
	});

	test("that changes its schema ends watches, one that changes nothing of it does not", async () => {
		await define();
		const path = `${CRDS}/crontabs.stable.example.com`;
		const watch = await server.watch(`${TABS}?watch=true`);
		await server.request("PATCH", path, { body: { metadata: { labels: { a: "b" } } }, contentType: MERGE });
		await server.clock.settle();
		expect(watch.isEnded).toBe(false);
		await server.request("PATCH", path, {
			body: { spec: { versions: [{ ...VERSION, deprecated: true }] } },
			contentType: MERGE,
		});
		await server.clock.settle();
		expect(watch.isEnded).toBe(true);
	});
});

describe("a custom object", () => {
	beforeEach(() => define());

	test("is defaulted, and loses what its schema does not name", async () => {
		const { status, json, headers } = await post(TABS, {
			...tab({ schedule: "1", foo: 1, free: { any: { thing: 1 } }, nothing: null, replicas: null }),
			other: true,
			status: { replicas: 5 },
		});
		expect([status, json.spec, json["other"], json.status]).toEqual([
			201,
			{ schedule: "1", replicas: 1, free: { any: { thing: 1 } }, nothing: null },
			undefined,
			undefined,
		]);
		expect(headers["warning"]).toEqual(['299 - "unknown field \\"spec.foo\\""', '299 - "unknown field \\"other\\""']);
		expect(json.metadata).toMatchObject({ generation: 1, namespace: "default" });
	});

	test("is refused for unknown fields under Strict", async () => {
		const { json } = await post(`${TABS}?fieldValidation=Strict`, tab({ schedule: "1", foo: 1 }));
		expect([json.code, json.message]).toEqual([
			400,
			'CronTab in version "v1" cannot be handled as a CronTab: strict decoding error: unknown field "spec.foo"',
		]);
	});

	test.each([
		[
			{ schedule: 5 },
			'spec.schedule: Invalid value: "integer": spec.schedule in body must be of type string: "integer"',
		],
		[{ schedule: "x" }, "spec.schedule: Invalid value: \"x\": spec.schedule in body should match '^[0-9* ]+$'"],
		[
			{ schedule: "1", replicas: 11 },
			"spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10",
		],
		[{ schedule: "1", replicas: 7 }, 'spec: Invalid value: "object": 7 is not allowed'],
		[{ schedule: "1", tags: ["a", "a"] }, 'spec.tags[1]: Duplicate value: "a"'],
		[{ replicas: 1 }, "spec.schedule: Required value"],
	])("with spec %j is refused", async (spec, text) => {
		const { json } = await post(TABS, tab(spec));
		expect([json.code, json.message]).toEqual([422, expect.stringContaining(text)]);
		expect(json.message).toMatch(/^CronTab.stable.example.com "a" is invalid: /);
	});

	test("whose rules were not asked says so", async () => {
		const { json } = await post(TABS, tab({}));
		expect(json.message).toBe(
			'CronTab.stable.example.com "a" is invalid: [spec.schedule: Required value, <nil>: Invalid value: null: some ' +
				"validation rules were not checked because the object was invalid; correct the existing errors to complete " +
				"validation]",
		);
	});

	test("counts changes of its spec as generations, its status apart", async () => {
		await post(TABS, tab());
		const patch = (path: string, body: object): Promise<TestResponse> =>
			server.request("PATCH", path, { body, contentType: MERGE });
		expect((await patch(`${TABS}/a`, { metadata: { labels: { x: "y" } } })).json.metadata.generation).toBe(1);
		expect((await patch(`${TABS}/a`, { spec: { replicas: 2 }, status: { replicas: 9 } })).json).toMatchObject({
			metadata: { generation: 2 },
			spec: { replicas: 2 },
		});
		const status = await patch(`${TABS}/a/status`, { spec: { replicas: 5 }, status: { replicas: 2, selector: "a=b" } });
		expect(status.json).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 2 }, status: { replicas: 2 } });
		const scale = await server.request("GET", `${TABS}/a/scale`);
		expect(scale.json).toMatchObject({
			kind: "Scale",
			spec: { replicas: 2 },
			status: { replicas: 2, selector: "a=b" },
		});
		await patch(`${TABS}/a/scale`, { spec: { replicas: 4 } });
		expect((await server.request("GET", `${TABS}/a`)).json).toMatchObject({
			metadata: { generation: 3 },
			spec: { replicas: 4 },
		});
	});

	test("is held to rules about its change", async () => {
		await post(TABS, tab({ schedule: "1", replicas: 0 }));
		const body = { spec: { schedule: "2" } };
		const { json } = await server.request("PATCH", `${TABS}/a`, { body, contentType: MERGE });
		expect(json.message).toBe(
			'CronTab.stable.example.com "a" is invalid: spec: Invalid value: "object": cannot change while idle',
		);
	});

	test("takes no strategic merge patch", async () => {
		await post(TABS, tab());
		const contentType = "application/strategic-merge-patch+json";
		const { json } = await server.request("PATCH", `${TABS}/a`, { body: {}, contentType });
		expect([json.code, json.message]).toEqual([
			415,
			"the body of the request was in an unknown format - accepted media types include: " +
				"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
		]);
	});

	test("is selected by its fields, and no others", async () => {
		await post(TABS, tab({ schedule: "1" }));
		await post(TABS, tab({ schedule: "2" }, { name: "b" }));
		const list = async (selector: string): Promise<TestResponse> =>
			server.request("GET", `${TABS}?fieldSelector=${encodeURIComponent(selector)}`);
		expect((await list("spec.schedule=2")).json.items?.map(({ metadata }) => metadata.name)).toEqual(["b"]);
		expect((await list("spec.replicas=1")).json.message).toBe("field label not supported: spec.replicas");
	});

	test("shows in tables, lists and watches", async () => {
		await post(TABS, tab({ schedule: "1" }));
		const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
		const { json } = await server.request("GET", TABS, { headers });
		expect(json).toMatchObject({
			columnDefinitions: [{ name: "Name" }, { name: "Schedule" }],
			rows: [{ cells: ["a", "1"] }],
		});
		expect((await server.request("GET", TABS)).json).toMatchObject({
			kind: "CronTabList",
			items: [{ kind: "CronTab" }],
		});
		expect((await server.request("DELETE", TABS)).status).toBe(200);
		expect((await server.request("GET", TABS)).json.items).toEqual([]);
	});

	test("must say which version it updates", async () => {
		const made = await post(TABS, tab());
		const put = (metadata: object): Promise<TestResponse> =>
			server.request("PUT", `${TABS}/a`, { body: tab({ schedule: "2" }, metadata) });
		expect((await put({})).json.message).toContain(
			"metadata.resourceVersion: Invalid value: 0: must be specified for an update",
		);
		expect((await put({ resourceVersion: made.json.metadata.resourceVersion })).status).toBe(200);
		expect((await put({ resourceVersion: made.json.metadata.resourceVersion })).status).toBe(409);
	});

	test("that was stored before its schema became stricter may stay as it is", async () => {
		await post(TABS, tab({ schedule: "1", replicas: 9 }));
		const spec = {
			...SCHEMA.properties.spec,
			properties: { ...SCHEMA.properties.spec.properties, replicas: { type: "integer", maximum: 5 } },
		};
		const versions = [
			{ ...VERSION, schema: { openAPIV3Schema: { ...SCHEMA, properties: { ...SCHEMA.properties, spec } } } },
		];
		const path = `${CRDS}/crontabs.stable.example.com`;
		expect((await server.request("PATCH", path, { body: { spec: { versions } }, contentType: MERGE })).status).toBe(
			200,
		);
		const patch = (replicas: number): Promise<TestResponse> =>
			server.request("PATCH", `${TABS}/a`, { body: { spec: { schedule: "2", replicas } }, contentType: MERGE });
		expect((await patch(9)).status).toBe(200);
		expect((await patch(8)).json.message).toContain("should be less than or equal to 5");
	});

	test("keeps keys that are names of prototypes as data", async () => {
		const body = JSON.stringify(tab({ schedule: "1", free: {} })).replace(
			'"free":{}',
			'"free":{"__proto__":{"x":1},"constructor":2}',
		);
		const { status, text } = await server.request("POST", TABS, { body });
		expect([status, text]).toEqual([201, expect.stringContaining('"free":{"__proto__":{"x":1},"constructor":2}')]);
		expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
	});

	test("that nests too deeply is refused", async () => {
		const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
		const body = JSON.stringify(tab({ schedule: "1", free: "deep" })).replace('"deep"', deep);
		expect((await server.request("POST", TABS, { body })).json).toMatchObject({
			code: 400,
			message: expect.stringContaining("exceeded max depth"),
		});
	});
});

describe("versions", () => {
	const versions = [
		{ ...VERSION, name: "v1beta1", storage: false, deprecated: true },
		{ ...VERSION, name: "v1" },
		{ ...VERSION, name: "v2", storage: false, served: false },
	];

	test("of one object differ by name, and a deprecated one warns", async () => {
		await define({ versions });
		await post(TABS, tab());
		const { json, headers } = await server.request("GET", `${TABS.replace("/v1/", "/v1beta1/")}/a`);
		expect(json.apiVersion).toBe("stable.example.com/v1beta1");
		expect(headers["warning"]).toEqual([
			'299 - "stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 CronTab"',
		]);
		expect((await server.request("GET", TABS.replace("/v1/", "/v2/"))).status).toBe(404);
		expect(server.store.space("/registry/stable.example.com/crontabs/").get("default/a")?.object.apiVersion).toBe(
			"stable.example.com/v1",
		);
	});

	test("are discovered in the order of their priority, behind the built-in groups", async () => {
		await define({ versions });
		const headers = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
		const { json } = await server.request("GET", "/apis", { headers });
		expect(json.items?.at(-1)).toMatchObject({
			metadata: { name: "stable.example.com" },
			versions: [
				{
					version: "v1",
					resources: [
						{
							resource: "crontabs",
							shortNames: ["ct"],
							categories: ["all"],
							subresources: [{ subresource: "scale" }, { subresource: "status" }],
						},
					],
				},
				{ version: "v1beta1" },
			],
		});
		const legacy = await server.request("GET", "/apis/stable.example.com/v1");
		expect(legacy.json).toMatchObject({
			resources: [{ name: "crontabs" }, { name: "crontabs/scale" }, { name: "crontabs/status" }],
		});
	});
});

describe("OpenAPI", () => {
	test("is in step with definitions, by a hash of their content", async () => {
		const index = async (): Promise<Record<string, { serverRelativeURL: string }>> =>
			(await server.request("GET", "/openapi/v3")).json["paths"] as Record<string, { serverRelativeURL: string }>;
		const before = await index();
		await define();
		const after = await index();
		const url = after["apis/stable.example.com/v1"]?.serverRelativeURL ?? "";
		expect(before["apis/apps/v1"]).toEqual(after["apis/apps/v1"]);
		const document = (await server.request("GET", url)).json as {
			components?: { schemas: Record<string, object> };
			paths?: object;
		};
		expect(document.components?.schemas["com.example.stable.v1.CronTab"]).toMatchObject({
			properties: { spec: { properties: { replicas: { default: 1 } } }, metadata: {} },
			"x-kubernetes-group-version-kind": [{ group: "stable.example.com", version: "v1", kind: "CronTab" }],
		});
		expect(document.paths).toHaveProperty(["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]);
		const v2 = await server.request("GET", "/openapi/v2", { headers: { accept: "application/json" } });
		expect(v2.json["definitions"]).toHaveProperty(["com.example.stable.v1.CronTab"]);
	});
});

describe("a custom object that does not say what it is", () => {
	const without = (key: "kind" | "apiVersion"): object => ({ ...tab(), [key]: undefined });

	test("is refused: without a kind, without a version, as another kind", async () => {
		await define();
		const text = JSON.stringify(without("kind"));
		expect((await post(TABS, without("kind"))).json).toMatchObject({
			code: 400,
			message: `Object 'Kind' is missing in '${text}'`,
		});
		expect((await post(TABS, without("apiVersion"))).json).toMatchObject({
			code: 400,
			message: "the API version in the data () does not match the expected API version (stable.example.com/v1)",
		});
		expect((await post(TABS, { ...tab(), kind: "Foo" })).json).toMatchObject({
			code: 422,
			message: 'Foo.stable.example.com "a" is invalid: kind: Invalid value: "Foo": must be CronTab',
			details: { causes: [{ reason: "FieldValueInvalid", field: "kind" }] },
		});
	});

	test("is refused when it replaces another", async () => {
		await define();
		const { json } = await post(TABS, tab());
		const kindless = { ...json, kind: undefined };
		expect((await server.request("PUT", `${TABS}/a`, { body: kindless })).status).toBe(400);
	});
});

describe("a number that JavaScript cannot hold", () => {
	const made = (number: string, field: "replicas" | "free"): Promise<TestResponse> => {
		const value = field === "free" ? `{"x":${number}}` : number;
		const spec = `{"schedule":"1","${field}":${value}}`;
		const head = '"apiVersion":"stable.example.com/v1","kind":"CronTab"';
		return server.request("POST", TABS, { body: `{${head},"metadata":{"name":"a"},"spec":${spec}}` });
	};

	test.each([
		["9007199254740993", "replicas", 422, "must be between -9007199254740991 and 9007199254740991 on this server"],
		["1e400", "free", 400, "cannot unmarshal a number beyond 1.8e308"],
	] as const)("%s is refused", async (number, field, code, says) => {
		await define();
		expect((await made(number, field)).json).toMatchObject({ code, message: expect.stringContaining(says) });
	});

	test("9007199254740991 is held", async () => {
		await define();
		expect((await made("9007199254740991", "free")).text).toContain('"x":9007199254740991');
	});
});

describe("the in-process client", () => {
	test("reaches custom objects by their resource, and its watches end with the definition", async () => {
		await define();
		const resource = {
			group: "stable.example.com",
			version: "v1",
			kind: "CronTab",
			plural: "crontabs",
			namespaced: true,
		};
		await server.client.create(resource, "default", { metadata: { name: "a" }, ...{ spec: { schedule: "1" } } });
		const { items, resourceVersion } = await server.client.list(resource, {});
		expect(items.map(({ metadata }) => metadata.name)).toEqual(["a"]);
		const seen: string[] = [];
		const watching = (async () => {
			const { signal } = new AbortController();
			for await (const events of server.client.watch(resource, { resourceVersion, signal })) {
				seen.push(...events.map(({ type }) => type));
			}
		})();
		await server.request("DELETE", `${CRDS}/crontabs.stable.example.com`);
		await server.clock.settle();
		await watching;
		expect(seen.filter((type) => type !== "BOOKMARK")).toEqual(["DELETED"]);
	});
});
