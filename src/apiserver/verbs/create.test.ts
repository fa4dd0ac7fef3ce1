import { beforeEach, describe, expect, test } from "vitest";
import { type TestResponse, TestServer } from "../../testing/test-server.ts";

const NS = "/api/v1/namespaces/default";
const SERVICES = `${NS}/services`;
const PODS = `${NS}/pods`;
const POD_SPEC = { containers: [{ name: "c", image: "i" }] };
const SERVICE_SPEC = { ports: [{ port: 80 }] };

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

const createPod = (metadata: object, query = ""): Promise<TestResponse> =>
	server.request("POST", `${PODS}${query}`, { body: { metadata, spec: POD_SPEC } });

describe("metadata on create", () => {
	test("fills in what the server owns", async () => {
		const { status, json } = await createPod({ name: "a" });
		expect(status).toBe(201);
		expect(json).toMatchObject({
			apiVersion: "v1",
			kind: "Pod",
			metadata: {
				name: "a",
				namespace: "default",
				uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/),
				resourceVersion: String(server.store.revision),
				creationTimestamp: "2026-01-01T00:00:00Z",
				generation: 1,
			},
		});
	});

	test.each([
		["uid", { uid: "mine" }],
		["creationTimestamp", { creationTimestamp: "2020-01-01T00:00:00Z" }],
		["creationTimestamp", { creationTimestamp: null }],
		["generation", { generation: 7 }],
		["deletionTimestamp", { deletionTimestamp: "2020-01-01T00:00:00Z" }],
		["deletionGracePeriodSeconds", { deletionGracePeriodSeconds: 5 }],
		["selfLink", { selfLink: "/x" }],
		["resourceVersion", { resourceVersion: "" }],
	])("%s is the server's, whatever the client says", async (field, metadata) => {
		const asked = (await createPod({ name: "a", ...metadata })).json.metadata;
		const plain = (await createPod({ name: "b" })).json.metadata;
		const strip = (all: object): object => ({ ...all, name: "", uid: "", resourceVersion: "" });
		expect(strip(asked)).toEqual(strip(plain));
		if (field === "uid") expect(asked.uid).not.toBe("mine");
	});

	test("a resourceVersion must not be set", async () => {
		const { status, json } = await createPod({ name: "a", resourceVersion: "5" });
		expect([status, json.reason, json.message]).toEqual([
			500,
			undefined,
			"resourceVersion should not be set on objects to be created",
		]);
	});

	test.each([
		["the same namespace", "default", 201],
		["no namespace", "", 201],
		["another namespace", "other", 400],
	])("%s in the body is taken if it agrees with the URL", async (_, namespace, status) => {
		const answer = await createPod({ name: "a", namespace });
		expect(answer.status).toBe(status);
		if (status === 400) {
			expect(answer.json.message).toBe(
				"the namespace of the provided object does not match the namespace sent on the request",
			);
		}
	});

	test("a cluster-scoped object loses its namespace, on create and on update", async () => {
		const body = { metadata: { name: "n1", namespace: "x" } };
		const made = await server.request("POST", "/api/v1/nodes", { body });
		expect([made.status, made.json.metadata.namespace]).toEqual([201, undefined]);
		const updated = await server.request("PUT", "/api/v1/nodes/n1", { body });
		expect([updated.status, updated.json.metadata.namespace]).toEqual([200, undefined]);
	});

	test("duplicate owner references become one, with a warning that names their uids", async () => {
		const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u1" };
		const { json, headers } = await createPod({ name: "a", ownerReferences: [owner, { ...owner, uid: "u2" }, owner] });
		expect(json.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual(["u1", "u2"]);
		expect(headers["warning"]).toEqual([
			'299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, ' +
				"and may reject such requests as early as 1.24; please fix your requests; " +
				'duplicate UID(s) observed: u1"',
		]);
	});

	test.each(["a/b", "a%b", ".", "..", "A", "a b", "a".repeat(254), "__proto__"])(
		"the name %j is Invalid",
		async (name) => {
			const { status, json } = await createPod({ name });
			expect([status, json.reason, json.details?.causes?.[0]?.field]).toEqual([422, "Invalid", "metadata.name"]);
		},
	);
});

describe("generateName", () => {
	test("gives a prefix, cut to 58 characters, and five characters more", async () => {
		const { json } = await createPod({ generateName: "web-" });
		expect(json.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
		expect(json.metadata.generateName).toBe("web-");
		const long = await createPod({ generateName: `${"a".repeat(80)}-` });
		expect(long.json.metadata.name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
	});

	test("a name wins over generateName", async () => {
		expect((await createPod({ name: "a", generateName: "web-" })).json.metadata.name).toBe("a");
	});

	test("neither of them is Invalid", async () => {
		const { status, json } = await createPod({});
		expect([status, json.message]).toEqual([
			422,
			'Pod "" is invalid: metadata.name: Required value: name or generateName is required',
		]);
	});

	test("throws the dice again when a name is taken, eight times in all", async () => {
		const draws: number[] = [];
		const next = server.random.next.bind(server.random);
		server.random.next = () => draws.shift() ?? next();
		const taken = Array.from({ length: 5 }, () => 0);
		draws.push(...taken);
		expect((await createPod({ generateName: "web-" })).json.metadata.name).toBe("web-bbbbb");
		draws.push(...Array.from({ length: 7 }, () => taken).flat());
		const eighth = await createPod({ generateName: "web-" });
		expect([eighth.status, eighth.json.metadata.name]).toEqual([201, expect.not.stringContaining("bbbbb")]);
		draws.push(...Array.from({ length: 8 }, () => taken).flat());
		const refused = await createPod({ generateName: "web-" });
		expect(refused.json).toMatchObject({
			reason: "AlreadyExists",
			message: 'pods "web-bbbbb" already exists, the server was not able to generate a unique name for the object',
			details: { name: "web-bbbbb", kind: "pods", retryAfterSeconds: 1 },
			code: 409,
		});
		expect(refused.headers["retry-after"]).toBe("1");
	});
});

describe("create", () => {
	test("of a taken name is AlreadyExists, and says when the old one is going", async () => {
		await createPod({ name: "a", finalizers: ["x.io/f"] });
		const { json } = await createPod({ name: "a" });
		expect(json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message: 'pods "a" already exists',
			reason: "AlreadyExists",
			details: { name: "a", kind: "pods" },
			code: 409,
		});
		await server.request("DELETE", `${PODS}/a`);
		expect((await createPod({ name: "a" })).json.message).toBe('object is being deleted: pods "a" already exists');
	});

	test("in a missing namespace is NotFound, in a dying one Forbidden with a cause", async () => {
		const create = (namespace: string): Promise<TestResponse> =>
			server.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
				body: { metadata: { name: "a" }, spec: POD_SPEC },
			});
		expect((await create("gone")).json.message).toBe('namespaces "gone" not found');
		await server.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "dying" } } });
		await server.request("DELETE", "/api/v1/namespaces/dying");
		const { json } = await create("dying");
		expect(json).toMatchObject({
			code: 403,
			message: 'pods "a" is forbidden: unable to create new content in namespace dying because it is being terminated',
			details: {
				causes: [
					{
						reason: "NamespaceTerminating",
						message: "namespace dying is being terminated",
						field: "metadata.namespace",
					},
				],
			},
		});
	});

	test.each([
		["Services", SERVICES, { spec: SERVICE_SPEC }, { loadBalancer: {} }],
		["Pods", PODS, { spec: POD_SPEC }, { phase: "Pending", qosClass: "BestEffort" }],
		["Namespaces", "/api/v1/namespaces", {}, { phase: "Active" }],
	])("resets the status of %s", async (_, path, body, status) => {
		const sent = {
			...body,
			metadata: { name: "a" },
			status: { phase: "Failed", loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
		};
		expect((await server.request("POST", path, { body: sent })).json.status).toEqual(status);
	});

	test("keeps the status that a Node comes with", async () => {
		const body = { metadata: { name: "n1" }, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } };
		expect((await server.request("POST", "/api/v1/nodes", { body })).json.status).toMatchObject(body.status);
	});

	test.each([
		["PUT", SERVICES],
		["PATCH", SERVICES],
		["POST", `${SERVICES}/web`],
		["POST", "/api/v1/services"],
		["DELETE", "/api/v1/services"],
		["DELETE", "/api/v1/namespaces"],
		["OPTIONS", SERVICES],
		["OPTIONS", `${SERVICES}/web`],
		["PUT", `${PODS}/web/binding`],
		["GET", `${PODS}/web/eviction`],
		["DELETE", `${PODS}/web/status`],
		["GET", "/api/v1/namespaces/default/finalize"],
		["PATCH", "/api/v1/namespaces/default/finalize"],
	])("%s %s is not allowed", async (method, path) => {
		const revision = server.store.revision;
		const { status, json } = await server.request(method, path, { body: {} });
		expect([status, json.reason, json.message]).toEqual([
			405,
			"MethodNotAllowed",
			expect.stringMatching(/^[a-z]+ is not supported on resources of kind "[a-z]+"$/),
		]);
		expect(server.store.revision).toBe(revision);
	});
});

describe("dryRun", () => {
	const body = { metadata: { name: "web" }, spec: { ...SERVICE_SPEC, type: "NodePort" } };

	test("answers with what would be stored, without a resourceVersion, and stores nothing", async () => {
		const revision = server.store.revision;
		const { status, json } = await server.request("POST", `${SERVICES}?dryRun=All`, { body });
		expect(status).toBe(201);
		expect(json.metadata).toEqual({
			name: "web",
			namespace: "default",
			uid: expect.any(String),
			creationTimestamp: "2026-01-01T00:00:00Z",
			managedFields: expect.any(Array),
		});
		// Nothing is claimed, so the address and the port are not real ones.
		expect(json.spec).toMatchObject({ clusterIP: "10.96.0.0", ports: [{ nodePort: 32769 }] });
		expect(server.store.revision).toBe(revision);
	});

	test("refuses what a real write would refuse", async () => {
		await server.request("POST", SERVICES, { body });
		expect((await server.request("POST", `${SERVICES}?dryRun=All`, { body })).json.reason).toBe("AlreadyExists");
		const bad = { metadata: { name: "b" }, spec: { ports: [] } };
		expect((await server.request("POST", `${SERVICES}?dryRun=All`, { body: bad })).json.reason).toBe("Invalid");
	});

	test.each(["Some", "all", "true"])("of %j is Invalid", async (value) => {
		const { status, json } = await server.request("POST", `${SERVICES}?dryRun=${value}`, { body });
		expect([status, json.message]).toEqual([
			422,
			`CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["${value}"]: supported values: "All"`,
		]);
	});
});
