import { beforeEach, describe, expect, test } from "vitest";
import { delayedStore } from "../../testing/delayed-engine.ts";
import { type AnswerJson, type TestResponse, TestServer } from "../../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const TYPES = {
	json: "application/json-patch+json",
	merge: "application/merge-patch+json",
	strategic: "application/strategic-merge-patch+json",
} as const;

let server: TestServer;
let web: AnswerJson;

async function start(options: Parameters<typeof TestServer.start>[0] = {}): Promise<void> {
	server = await TestServer.start(options);
	const body = {
		metadata: { name: "web", labels: { a: "1" } },
		spec: {
			ports: [
				{ name: "a", port: 80 },
				{ name: "b", port: 81 },
			],
		},
	};
	web = (await server.request("POST", SERVICES, { body })).json;
}
beforeEach(() => start());

const patch = (type: keyof typeof TYPES, body: unknown, path = `${SERVICES}/web`): Promise<TestResponse> =>
	server.request("PATCH", path, { body, contentType: TYPES[type] });

const portsOf = ({ spec = {} }: AnswerJson): readonly string[] =>
	(spec["ports"] as readonly { name?: string; port: number }[]).map(({ name = "", port }) => `${name}:${port}`);

describe("PATCH", () => {
	test.each([
		["merge", "replaces lists", { spec: { ports: [{ port: 90 }] } }, [":90"]],
		[
			"strategic",
			"merges lists by their key",
			{ spec: { ports: [{ port: 90, name: "c" }] } },
			["c:90", "a:80", "b:81"],
		],
		["strategic", "deletes an item on request", { spec: { ports: [{ $patch: "delete", port: 81 }] } }, ["a:80"]],
		[
			"strategic",
			"does what kubectl apply sends when a port changes",
			{
				spec: {
					"$setElementOrder/ports": [{ port: 80 }, { port: 82 }],
					ports: [
						{ name: "b", port: 82 },
						{ $patch: "delete", port: 81 },
					],
				},
			},
			["a:80", "b:82"],
		],
		[
			"json",
			"applies its operations in order",
			[
				{ op: "remove", path: "/spec/ports/0" },
				{ op: "replace", path: "/spec/ports/0/name", value: "z" },
			],
			["z:81"],
		],
	] as const)("of type %s %s", async (type, _, body, ports) => {
		const { status, json } = await patch(type, body);
		expect([status, [...portsOf(json)].sort()]).toEqual([200, [...ports].sort()]);
	});

	test.each([
		["merge", "a list", [1], 400],
		["merge", "broken JSON", "{", 400],
		["merge", "nothing", "", 400],
		["strategic", "a string", '"x"', 400],
		["json", "an object", {}, 400],
		["json", "an unknown operation", [{ op: "zap", path: "/a" }], 422],
		["json", "a missing path", [{ op: "remove", path: "/spec/nope" }], 422],
		["json", "a test that fails", [{ op: "test", path: "/kind", value: "Pod" }], 422],
		[
			"json",
			"too many operations",
			Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "x" })),
			413,
		],
		["merge", "a wrong type", { spec: { ports: "x" } }, 400],
		["merge", "another name", { metadata: { name: "b" } }, 400],
		["merge", "no name", { metadata: { name: null } }, 400],
		["merge", "another namespace", { metadata: { namespace: "x" } }, 400],
		["merge", "another kind", { kind: "Pod" }, 400],
		["merge", "metadata that is gone", { metadata: null }, 400],
		["merge", "what breaks a rule", { spec: { ports: [{ port: 0 }] } }, 422],
		["merge", "another uid", { metadata: { uid: "other" } }, 409],
	] as const)("of type %s with %s changes nothing", async (type, _, body, code) => {
		const { status, json } = await patch(type, body);
		expect([status, json.kind, json.code]).toEqual([code, "Status", code]);
		expect((await server.request("GET", `${SERVICES}/web`)).json).toEqual(web);
	});

	test("with too many operations says how many are allowed", async () => {
		const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "Service" }));
		const { json } = await patch("json", operations);
		expect([json.reason, json.message]).toEqual([
			"RequestEntityTooLarge",
			"Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
		]);
	});

	/** Who owns the fields has changed too. */
	const tracked = { managedFields: expect.any(Array) };

	test("cannot change what the server owns", async () => {
		const { json } = await patch("merge", {
			metadata: {
				creationTimestamp: null,
				generation: 5,
				deletionTimestamp: "2020-01-01T00:00:00Z",
				labels: { b: "2" },
			},
			status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
		});
		const metadata = {
			...web.metadata,
			labels: { a: "1", b: "2" },
			resourceVersion: String(server.store.revision),
			...tracked,
		};
		expect([json.metadata, json.status]).toEqual([metadata, web.status]);
	});

	test.each([
		["merge", (version: string) => ({ metadata: { resourceVersion: version, labels: { x: "y" } } })],
		[
			"json",
			(version: string) => [
				{ op: "replace", path: "/metadata/resourceVersion", value: version },
				{ op: "add", path: "/metadata/labels/x", value: "y" },
			],
		],
	] as const)("of type %s takes a resourceVersion in it for a precondition", async (type, body) => {
		const old = web.metadata.resourceVersion ?? "";
		expect((await patch(type, body(old))).status).toBe(200);
		const stale = await patch(type, body(old));
		expect([stale.status, stale.json.reason]).toEqual([409, "Conflict"]);
	});

	test("of a Lease needs no resourceVersion", async () => {
		const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
		await server.request("POST", leases, { body: { metadata: { name: "l" } } });
		const { status } = await patch("merge", { spec: { holderIdentity: "me" } }, `${leases}/l`);
		expect(status).toBe(200);
	});

	test("many at once, without a version, all come through", async () => {
		await start({ store: delayedStore(100) });
		const keys = Array.from({ length: 8 }, (_, index) => `k${index}`);
		const answers = await Promise.all(keys.map((key) => patch("merge", { metadata: { labels: { [key]: "x" } } })));
		expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
		const { json } = await server.request("GET", `${SERVICES}/web`);
		expect(Object.keys(json.metadata.labels ?? {}).sort()).toEqual(["a", ...keys]);
	});

	test("many at once that mean one version: one comes through", async () => {
		await start({ store: delayedStore(100) });
		const { resourceVersion } = web.metadata;
		const answers = await Promise.all(
			["x", "y", "z"].map((by) => patch("merge", { metadata: { resourceVersion, labels: { by } } })),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
	});

	test("dryRun answers with the result and stores nothing", async () => {
		const { status, json } = await patch("merge", { metadata: { labels: { b: "2" } } }, `${SERVICES}/web?dryRun=All`);
		expect([status, json.metadata]).toEqual([200, { ...web.metadata, labels: { a: "1", b: "2" }, ...tracked }]);
		expect((await server.request("GET", `${SERVICES}/web`)).json).toEqual(web);
	});
});

describe("scale", () => {
	let deployment: AnswerJson;
	beforeEach(async () => {
		const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
		const spec = { replicas: 1, selector: { matchLabels: { app: "web" } }, template };
		deployment = (await server.request("POST", DEPLOYMENTS, { body: { metadata: { name: "web" }, spec } })).json;
	});
	const Scale = `${DEPLOYMENTS}/web/scale`;

	test("is built from the workload", async () => {
		const { name, namespace, uid, resourceVersion, creationTimestamp } = deployment.metadata;
		expect((await server.request("GET", Scale)).json).toEqual({
			kind: "Scale",
			apiVersion: "autoscaling/v1",
			metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
			spec: { replicas: 1 },
			status: { replicas: 0, selector: "app=web" },
		});
	});

	test("PUT without a Content-Type, as kubectl sends it, sets the size and raises the generation", async () => {
		const scale = (await server.request("GET", Scale)).json;
		const { status, json } = await server.request("PUT", Scale, { body: { ...scale, spec: { replicas: 3 } } });
		expect([status, json.kind, json.spec]).toEqual([200, "Scale", { replicas: 3 }]);
		const parent = (await server.request("GET", `${DEPLOYMENTS}/web`)).json;
		expect([parent.spec, parent.metadata.generation]).toEqual([{ ...deployment.spec, replicas: 3 }, 2]);
	});

	test.each([
		[
			"a negative size",
			{ spec: { replicas: -1 } },
			422,
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0",
		],
		["an old version", { metadata: { resourceVersion: "1" }, spec: { replicas: 2 } }, 409, "has been modified"],
		["another uid", { metadata: { uid: "other" }, spec: { replicas: 2 } }, 409, "UID in precondition: other"],
		["a wrong type", { spec: { replicas: "2" } }, 400, "cannot unmarshal"],
		[
			"a Deployment",
			{ kind: "Deployment", apiVersion: "apps/v1", spec: { replicas: 2 } },
			400,
			"cannot be handled as a Scale",
		],
	])("PUT of %s is refused", async (_, body, code, text) => {
		const { status, json } = await server.request("PUT", Scale, { body });
		expect([status, json.message]).toEqual([code, expect.stringContaining(text)]);
		expect((await server.request("GET", `${DEPLOYMENTS}/web`)).json).toEqual(deployment);
	});

	test("patches at once, without a version, all come through", async () => {
		const labelled = patch("merge", { metadata: { labels: { x: "y" } } }, `${DEPLOYMENTS}/web`);
		const sized = patch("merge", { spec: { replicas: 4 } }, Scale);
		expect((await Promise.all([labelled, sized])).map(({ status }) => status)).toEqual([200, 200]);
		const { json } = await server.request("GET", `${DEPLOYMENTS}/web`);
		expect([json.spec?.["replicas"], json.metadata.labels]).toEqual([4, { x: "y" }]);
	});
});
