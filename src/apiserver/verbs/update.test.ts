import { beforeEach, describe, expect, test } from "vitest";
import { delayedStore } from "../../testing/delayed-engine.ts";
import { type AnswerJson, type TestResponse, TestServer } from "../../testing/test-server.ts";

const NS = "/api/v1/namespaces/default";
const SERVICES = `${NS}/services`;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const APPS = "/apis/apps/v1/namespaces/default";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";
const POD_SPEC = { containers: [{ name: "c", image: "i" }] };

let server: TestServer;
let web: AnswerJson;
beforeEach(async () => {
	server = await TestServer.start();
	web = await made(SERVICES, { metadata: { name: "web", labels: { a: "1" } }, spec: { ports: [{ port: 80 }] } });
});

async function made(path: string, body: object): Promise<AnswerJson> {
	const { status, json } = await server.request("POST", path, { body });
	expect(status).toBe(201);
	return json;
}

const put = (path: string, body: object): Promise<TestResponse> => server.request("PUT", path, { body });
const withMetadata = (object: AnswerJson, metadata: object): object => ({
	...object,
	metadata: { ...object.metadata, ...metadata },
});

describe("metadata on update", () => {
	test.each([
		["creationTimestamp", { creationTimestamp: "2020-01-01T00:00:00Z" }],
		["generateName", { generateName: "other-" }],
		["generation", { generation: 9 }],
		["deletionTimestamp", { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 }],
		["selfLink", { selfLink: "/x" }],
	])("%s cannot be changed by a client", async (_, metadata) => {
		const { status, json } = await put(`${SERVICES}/web`, withMetadata(web, metadata));
		expect([status, json.metadata]).toEqual([200, web.metadata]);
	});

	test("labels, annotations, owners and finalizers can", async () => {
		const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
		const asked = { labels: { b: "2" }, annotations: { c: "3" }, finalizers: ["x.io/f"], ownerReferences: [owner] };
		const { json } = await put(`${SERVICES}/web`, withMetadata(web, asked));
		const resourceVersion = String(server.store.revision);
		expect(json.metadata).toEqual({ ...web.metadata, ...asked, resourceVersion, managedFields: expect.any(Array) });
	});

	test.each([
		["another name", { name: "b" }, "the name of the object (b) does not match the name on the URL (web)"],
		[
			"another namespace",
			{ namespace: "x" },
			"the namespace of the provided object does not match the namespace sent on the request",
		],
	])("%s is BadRequest", async (_, metadata, message) => {
		const { status, json } = await put(`${SERVICES}/web`, withMetadata(web, metadata));
		expect([status, json.message]).toEqual([400, message]);
	});

	test("an object that is being deleted gains no finalizers", async () => {
		const held = withMetadata(web, { finalizers: ["x.io/f"] });
		await put(`${SERVICES}/web`, withMetadata(held as AnswerJson, { resourceVersion: "" }));
		const { json } = await server.request("DELETE", `${SERVICES}/web`);
		const refused = await put(`${SERVICES}/web`, withMetadata(json, { finalizers: ["x.io/f", "x.io/g"] }));
		expect([refused.status, refused.json.details?.causes?.[0]]).toEqual([
			422,
			{
				reason: "FieldValueForbidden",
				field: "metadata.finalizers",
				message: expect.stringContaining("no new finalizers can be added if the object is being deleted"),
			},
		]);
	});
});

describe("optimistic concurrency", () => {
	test("an old resourceVersion is Conflict, an empty one writes whatever is there", async () => {
		const newer = await put(`${SERVICES}/web`, withMetadata(web, { labels: { by: "one" } }));
		expect(newer.status).toBe(200);
		const old = await put(`${SERVICES}/web`, withMetadata(web, { labels: { by: "two" } }));
		expect(old.json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message: `Operation cannot be fulfilled on services "web": ${MODIFIED}`,
			reason: "Conflict",
			details: { name: "web", kind: "services" },
			code: 409,
		});
		const blind = await put(`${SERVICES}/web`, withMetadata(web, { resourceVersion: "", labels: { by: "three" } }));
		expect([blind.status, blind.json.metadata.labels]).toEqual([200, { by: "three" }]);
	});

	test("another uid is Conflict", async () => {
		const { json } = await put(`${SERVICES}/web`, withMetadata(web, { uid: "other" }));
		expect([json.code, json.message]).toEqual([
			409,
			`Operation cannot be fulfilled on services "web": Precondition failed: UID in precondition: other, UID in object meta: ${web.metadata.uid}`,
		]);
	});

	test("a Lease must say which version it means", async () => {
		const lease = await made(LEASES, { metadata: { name: "l" } });
		const { json } = await put(`${LEASES}/l`, withMetadata(lease, { resourceVersion: "" }));
		expect([json.code, json.message]).toEqual([
			422,
			'Lease.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
		]);
	});

	test("of two updates of one version that overlap, one wins and the other is Conflict", async () => {
		server = await TestServer.start({ store: delayedStore(100) });
		const object = await made(SERVICES, { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const answers = await Promise.all(
			["one", "two"].map((by) => put(`${SERVICES}/web`, withMetadata(object, { labels: { by } }))),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
	});

	test("of two creates of one name that overlap, one is AlreadyExists", async () => {
		server = await TestServer.start({ store: delayedStore(100) });
		const body = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };
		const answers = await Promise.all([1, 2].map(() => server.request("POST", SERVICES, { body })));
		expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
	});

	test("two Services that overlap never get one cluster IP or node port", async () => {
		server = await TestServer.start({ store: delayedStore(100) });
		server.random.next = () => 0.5;
		const names = ["a", "b", "c"];
		const answers = await Promise.all(
			names.map((name) =>
				server.request("POST", SERVICES, {
					body: { metadata: { name }, spec: { type: "NodePort", ports: [{ port: 80 }] } },
				}),
			),
		);
		expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
		expect(new Set(answers.map(({ json }) => json.spec?.["clusterIP"])).size).toBe(3);
		const ports = answers.map(({ text }) => /"nodePort":(\d+)/.exec(text)?.[1]);
		expect(new Set(ports).size).toBe(3);
	});
});

describe("a write that changes nothing", () => {
	test.each([
		["PUT", (): object => web, "application/json"],
		["PUT", (): object => withMetadata(web, { resourceVersion: "" }), "application/json"],
		["PUT", (): object => ({ ...web, status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } }), "application/json"],
		["PATCH", (): object => ({}), "application/merge-patch+json"],
		["PATCH", (): object => ({ metadata: { labels: { a: "1", gone: null } } }), "application/merge-patch+json"],
		[
			"PATCH",
			(): object => ({ spec: { ports: [{ port: 80, protocol: "TCP" }] } }),
			"application/strategic-merge-patch+json",
		],
		["PATCH", (): object => [{ op: "test", path: "/kind", value: "Service" }], "application/json-patch+json"],
	])("(%s) keeps the version and tells no watcher", async (method, body, contentType) => {
		const revision = server.store.revision;
		const watch = await server.watch(`${SERVICES}?watch=1&resourceVersion=${revision}`);
		const { status, json } = await server.request(method, `${SERVICES}/web`, { body: body(), contentType });
		expect([status, json]).toEqual([200, web]);
		expect(server.store.revision).toBe(revision);
		expect(await watch.told()).toEqual([]);
		watch.close();
	});
});

describe("PUT of a missing name", () => {
	test.each([
		[SERVICES, { spec: { ports: [{ port: 80 }] } }, 201],
		[`${NS}/endpoints`, {}, 201],
		[LEASES, {}, 201],
		[`${NS}/events`, { involvedObject: { namespace: "default", name: "x" } }, 201],
		[`${NS}/pods`, { spec: POD_SPEC }, 404],
		[SLICES, { addressType: "IPv4", endpoints: [] }, 404],
		["/api/v1/nodes", {}, 404],
		["/api/v1/namespaces", {}, 404],
	])("in %s creates where the kind allows it, and is NotFound elsewhere", async (path, body, status) => {
		const answer = await put(`${path}/new`, { ...body, metadata: { name: "new" } });
		expect([answer.status, answer.json.metadata.name]).toEqual([status, status === 201 ? "new" : undefined]);
	});

	test("takes the name from the URL, and any version", async () => {
		const body = { metadata: { resourceVersion: "5" }, spec: { ports: [{ port: 80 }] } };
		const { status, json } = await put(`${SERVICES}/new`, body);
		expect([status, json.metadata.name]).toEqual([201, "new"]);
	});

	test("that means an object that is gone, by its uid, is Conflict", async () => {
		await server.request("DELETE", `${SERVICES}/web`);
		const { status, json } = await put(`${SERVICES}/web`, web);
		expect([status, json.reason]).toEqual([409, "Conflict"]);
	});

	test("never creates through /status, nor does any patch", async () => {
		expect((await put(`${SERVICES}/new/status`, withMetadata(web, { name: "new" }))).status).toBe(404);
		const patch = { body: {}, contentType: "application/merge-patch+json" };
		expect((await server.request("PATCH", `${SERVICES}/new`, patch)).status).toBe(404);
	});

	test("is checked like a create: the namespace must be there", async () => {
		const { status, json } = await put("/api/v1/namespaces/gone/services/new", {
			metadata: { name: "new" },
			spec: { ports: [{ port: 80 }] },
		});
		expect([status, json.message]).toEqual([404, 'namespaces "gone" not found']);
	});
});

describe("the split between spec and status", () => {
	const template = { metadata: { labels: { a: "b" } }, spec: POD_SPEC };
	const workload = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };

	test.each([
		["Pod", `${NS}/pods`, { spec: POD_SPEC }, { activeDeadlineSeconds: 5 }, { phase: "Running" }],
		[
			"Service",
			SERVICES,
			{ spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
			{ sessionAffinity: "ClientIP" },
			{ loadBalancer: { ingress: [{ ip: "1.2.3.4", ipMode: "VIP" }] } },
		],
		["Node", "/api/v1/nodes", {}, { unschedulable: true }, { addresses: [{ type: "Hostname", address: "h" }] }],
		["Deployment", `${APPS}/deployments`, { spec: workload }, { replicas: 2 }, { replicas: 1 }],
		["ReplicaSet", `${APPS}/replicasets`, { spec: workload }, { replicas: 2 }, { replicas: 1 }],
	])("of a %s: each path writes its half", async (_, path, body, spec, status) => {
		const object = await made(path, { ...body, metadata: { name: "split" } });
		const both = {
			...object,
			spec: { ...object.spec, ...spec },
			status,
			metadata: { ...object.metadata, resourceVersion: "" },
		};
		const main = (await put(`${path}/split`, both)).json;
		expect([main.spec, main.status]).toEqual([expect.objectContaining(spec), object.status]);
		const undone = { ...both, spec: object.spec, metadata: { ...both.metadata, annotations: { by: "status" } } };
		const sub = (await put(`${path}/split/status`, undone)).json;
		expect([sub.spec, sub.status]).toEqual([main.spec, expect.objectContaining(status)]);
		expect(sub.metadata.annotations).toEqual({ by: "status" });
		expect((await server.request("GET", `${path}/split/status`)).json).toEqual(sub);
	});

	test.each([
		["Deployment", `${APPS}/deployments`, { spec: workload }, { replicas: 5 }, true],
		["ReplicaSet", `${APPS}/replicasets`, { spec: workload }, { replicas: 5 }, true],
		["Pod", `${NS}/pods`, { spec: POD_SPEC }, { activeDeadlineSeconds: 5 }, true],
		[
			"EndpointSlice",
			SLICES,
			{ addressType: "IPv4", endpoints: [] },
			{ endpoints: [{ addresses: ["10.0.0.1"] }] },
			false,
		],
	])(
		"the generation of a %s rises with what it asks for, and with nothing else",
		async (_, path, body, change, hasStatus) => {
			const object = await made(path, { ...body, metadata: { name: "g" } });
			const send = async (target: string, more: object): Promise<number | undefined> => {
				const sent = withMetadata({ ...object, ...more } as AnswerJson, { resourceVersion: "", generation: 50 });
				const { status, json } = await put(target, sent);
				expect(status).toBe(200);
				return json.metadata.generation;
			};
			expect(object.metadata.generation).toBe(1);
			const annotations = { ...object.metadata, resourceVersion: "", annotations: { x: "y" } };
			expect(await send(`${path}/g`, { metadata: annotations })).toBe(path.endsWith("deployments") ? 2 : 1);
			if (hasStatus) {
				const before = (await server.request("GET", `${path}/g`)).json.metadata.generation;
				expect(await send(`${path}/g/status`, { status: { phase: "Running", replicas: 1 } })).toBe(before);
			}
			const { generation = 0 } = (await server.request("GET", `${path}/g`)).json.metadata;
			const asked = object.spec === undefined ? change : { spec: { ...object.spec, ...change } };
			expect(await send(`${path}/g`, asked)).toBe(generation + 1);
		},
	);
});

describe("dryRun of an update", () => {
	test("answers with the result and the stored version, and stores nothing", async () => {
		const { status, json } = await put(`${SERVICES}/web?dryRun=All`, withMetadata(web, { labels: { b: "2" } }));
		const metadata = { ...web.metadata, labels: { b: "2" }, managedFields: expect.any(Array) };
		expect([status, json.metadata]).toEqual([200, metadata]);
		expect((await server.request("GET", `${SERVICES}/web`)).json).toEqual(web);
	});

	test("that would create is answered 201, and creates nothing", async () => {
		const body = { metadata: { name: "new" }, spec: { ports: [{ port: 80 }] } };
		expect((await put(`${SERVICES}/new?dryRun=All`, body)).status).toBe(201);
		expect((await server.request("GET", `${SERVICES}/new`)).status).toBe(404);
	});

	test("still refuses an old version", async () => {
		await put(`${SERVICES}/web`, withMetadata(web, { labels: { by: "one" } }));
		expect((await put(`${SERVICES}/web?dryRun=All`, web)).status).toBe(409);
	});
});
