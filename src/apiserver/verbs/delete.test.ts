import { beforeEach, describe, expect, test } from "vitest";
import { type AnswerJson, type TestResponse, TestServer } from "../../testing/test-server.ts";

const NS = "/api/v1/namespaces/default";
const PODS = `${NS}/pods`;
const SERVICES = `${NS}/services`;
const ENDPOINTS = `${NS}/endpoints`;
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const POD_SPEC = { containers: [{ name: "c", image: "i" }] };
const DEPLOYMENT_SPEC = {
	selector: { matchLabels: { a: "b" } },
	template: { metadata: { labels: { a: "b" } }, spec: POD_SPEC },
};

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

async function made(path: string, body: object): Promise<AnswerJson> {
	const { status, json } = await server.request("POST", path, { body });
	expect(status).toBe(201);
	return json;
}

const remove = (path: string, body?: object): Promise<TestResponse> => server.request("DELETE", path, { body });
const statusOf = async (path: string): Promise<number> => (await server.request("GET", path)).status;

describe("a finished delete", () => {
	test.each([
		["Pods", PODS, { spec: POD_SPEC }],
		["Services", SERVICES, { spec: { ports: [{ port: 80 }] } }],
	])("of %s answers with the last state", async (_, path, body) => {
		const object = await made(path, { ...body, metadata: { name: "a" } });
		const { status, json } = await remove(`${path}/a`);
		expect([status, json.kind, json.metadata.uid]).toEqual([200, object.kind, object.metadata.uid]);
		expect(json.metadata.resourceVersion).toBe(String(server.store.revision));
		expect(await statusOf(`${path}/a`)).toBe(404);
	});

	test.each([
		["endpoints", undefined, ENDPOINTS, {}],
		["deployments", "apps", DEPLOYMENTS, { spec: DEPLOYMENT_SPEC }],
	])("of %s answers with a Status that has the uid", async (kind, group, path, body) => {
		const { metadata } = await made(path, { ...body, metadata: { name: "a" } });
		expect((await remove(`${path}/a`)).json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Success",
			details: { name: "a", ...(group === undefined ? {} : { group }), kind, uid: metadata.uid },
		});
	});

	test("of what is not there is NotFound", async () => {
		const { json } = await remove(`${SERVICES}/gone`);
		expect([json.code, json.message]).toEqual([404, 'services "gone" not found']);
	});

	test("of a Service takes its Endpoints with it, and frees its address and port", async () => {
		const spec = { type: "NodePort", ports: [{ port: 80, nodePort: 30_001 }], clusterIP: "10.96.7.7" };
		await made(SERVICES, { metadata: { name: "web" }, spec });
		await made(ENDPOINTS, { metadata: { name: "web" } });
		const taken = { metadata: { name: "other" }, spec };
		expect((await server.request("POST", SERVICES, { body: taken })).status).toBe(422);
		const watch = await server.watch(`${ENDPOINTS}?watch=1&resourceVersion=${server.store.revision}`);
		await remove(`${SERVICES}/web`);
		expect(await statusOf(`${ENDPOINTS}/web`)).toBe(404);
		expect(await watch.told()).toEqual([`DELETED web@${server.store.revision}`]);
		watch.close();
		expect((await server.request("POST", SERVICES, { body: taken })).status).toBe(201);
	});
});

describe("preconditions", () => {
	test.each([
		[
			"uid",
			{ uid: "other" },
			(uid: string) =>
				`the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
		],
		[
			"resourceVersion",
			{ resourceVersion: "1" },
			(_: string, version: string) =>
				`the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${version}). The object might have been modified`,
		],
	])("another %s is Conflict, the right one deletes", async (field, preconditions, why) => {
		const { metadata } = await made(PODS, { metadata: { name: "a" }, spec: POD_SPEC });
		const { uid = "", resourceVersion = "" } = metadata;
		const { json } = await remove(`${PODS}/a`, { preconditions });
		const message = `Operation cannot be fulfilled on pods "a": ${why(uid, resourceVersion)}`;
		expect([json.code, json.reason, json.message]).toEqual([409, "Conflict", message]);
		const right = field === "uid" ? { uid } : { resourceVersion };
		expect((await remove(`${PODS}/a`, { preconditions: right })).status).toBe(200);
	});
});

describe("options of a delete", () => {
	test.each([
		[
			{ propagationPolicy: "Sideways" },
			422,
			'Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
		],
		[{ propagationPolicy: "Orphan", orphanDependents: true }, 422, "cannot be both set"],
		[{ dryRun: ["Some"] }, 422, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
		[{ gracePeriodSeconds: "5" }, 400, "cannot unmarshal string"],
		[{ gracePeriodSeconds: 1.5 }, 400, "gracePeriodSeconds"],
		[{ preconditions: { uid: 5 } }, 400, "cannot unmarshal number"],
		[{ orphanDependents: "yes" }, 400, "cannot unmarshal string"],
		[[], 400, "must be DeleteOptions"],
	])("%j are refused, and delete nothing", async (options, code, text) => {
		await made(PODS, { metadata: { name: "a" }, spec: POD_SPEC });
		const { status, json } = await remove(`${PODS}/a`, options);
		expect([status, json.message]).toEqual([code, expect.stringContaining(text)]);
		expect(await statusOf(`${PODS}/a`)).toBe(200);
	});

	test.each([
		["in the body", `${PODS}/a`, { dryRun: ["All"], propagationPolicy: "Background" }],
		["in the query", `${PODS}/a?dryRun=All`, undefined],
	])("dryRun %s deletes nothing", async (_, path, body) => {
		const object = await made(PODS, { metadata: { name: "a" }, spec: POD_SPEC });
		const { status, json } = await remove(path, body);
		expect([status, json.metadata.uid]).toEqual([200, object.metadata.uid]);
		expect((await server.request("GET", `${PODS}/a`)).json).toEqual(object);
	});

	test("come from the query when there is no body", async () => {
		await made(PODS, { metadata: { name: "a" }, spec: { ...POD_SPEC, nodeName: "n1" } });
		const { json } = await remove(`${PODS}/a?gracePeriodSeconds=7`);
		expect(json.metadata.deletionGracePeriodSeconds).toBe(7);
	});
});

describe("a graceful delete of a Pod", () => {
	const running = (spec: object = {}): Promise<AnswerJson> =>
		made(PODS, { metadata: { name: "p" }, spec: { ...POD_SPEC, nodeName: "n1", ...spec } });

	test("marks it with the time by which it must be gone", async () => {
		await running();
		const { status, json } = await remove(`${PODS}/p`);
		expect(status).toBe(200);
		expect(json.metadata).toMatchObject({
			deletionTimestamp: "2026-01-01T00:00:30Z",
			deletionGracePeriodSeconds: 30,
			generation: 2,
		});
		expect(await statusOf(`${PODS}/p`)).toBe(200);
	});

	test.each([
		["the Pod's own period", { terminationGracePeriodSeconds: 5 }, {}, 5],
		["the period asked for", { terminationGracePeriodSeconds: 5 }, { gracePeriodSeconds: 9 }, 9],
		["one second, when the period is negative", {}, { gracePeriodSeconds: -5 }, 1],
	])("waits %s", async (_, spec, options, seconds) => {
		await running(spec);
		expect((await remove(`${PODS}/p`, options)).json.metadata.deletionGracePeriodSeconds).toBe(seconds);
	});

	test.each([
		["no node runs it", {}, {}, undefined],
		["it has ended", { nodeName: "n1" }, {}, { phase: "Succeeded" }],
		["it has failed", { nodeName: "n1" }, {}, { phase: "Failed" }],
		["the period is 0", { nodeName: "n1" }, { gracePeriodSeconds: 0 }, undefined],
		["its own period is 0", { nodeName: "n1", terminationGracePeriodSeconds: 0 }, {}, undefined],
	])("removes it at once when %s", async (_, spec, options, status) => {
		await made(PODS, { metadata: { name: "p" }, spec: { ...POD_SPEC, ...spec } });
		if (status !== undefined) {
			const contentType = "application/merge-patch+json";
			await server.request("PATCH", `${PODS}/p/status`, { body: { status }, contentType });
		}
		await remove(`${PODS}/p`, options);
		expect(await statusOf(`${PODS}/p`)).toBe(404);
	});

	test("can only be made shorter by a second one", async () => {
		await running();
		await remove(`${PODS}/p`);
		await server.clock.advance(10_000);
		const longer = await remove(`${PODS}/p`, { gracePeriodSeconds: 60 });
		expect(longer.json.metadata.deletionTimestamp).toBe("2026-01-01T00:00:30Z");
		const again = await remove(`${PODS}/p`);
		expect(again.json.metadata).toEqual(longer.json.metadata);
		const shorter = await remove(`${PODS}/p`, { gracePeriodSeconds: 20 });
		expect(shorter.json.metadata).toMatchObject({
			deletionTimestamp: "2026-01-01T00:00:20Z",
			deletionGracePeriodSeconds: 20,
		});
		const past = await remove(`${PODS}/p`, { gracePeriodSeconds: 3 });
		expect(past.json.metadata).toMatchObject({
			deletionTimestamp: "2026-01-01T00:00:10Z",
			deletionGracePeriodSeconds: 1,
		});
		await remove(`${PODS}/p`, { gracePeriodSeconds: 0 });
		expect(await statusOf(`${PODS}/p`)).toBe(404);
	});
});

describe("finalizers", () => {
	test("hold an object until the last is gone, and removing it then is part of that update", async () => {
		const object = await made(DEPLOYMENTS, { metadata: { name: "d", finalizers: ["x.io/f"] }, spec: DEPLOYMENT_SPEC });
		const { status, json } = await remove(`${DEPLOYMENTS}/d`);
		expect([status, json.kind]).toEqual([200, "Deployment"]);
		expect(json.metadata).toMatchObject({
			deletionTimestamp: "2026-01-01T00:00:00Z",
			deletionGracePeriodSeconds: 0,
			generation: 2,
			finalizers: ["x.io/f"],
		});
		const again = await remove(`${DEPLOYMENTS}/d`);
		expect(again.json).toEqual(json);
		const watch = await server.watch(`${DEPLOYMENTS}?watch=1&resourceVersion=${server.store.revision}`);
		const body = { metadata: { finalizers: null } };
		const freed = await server.request("PATCH", `${DEPLOYMENTS}/d`, {
			body,
			contentType: "application/merge-patch+json",
		});
		expect([freed.status, freed.json.metadata.uid]).toEqual([200, object.metadata.uid]);
		expect(await statusOf(`${DEPLOYMENTS}/d`)).toBe(404);
		expect(await watch.told()).toEqual([`DELETED d@${server.store.revision}`]);
		watch.close();
	});

	test.each([
		["Orphan", { propagationPolicy: "Orphan" }, ["x.io/f", "orphan"]],
		["Foreground", { propagationPolicy: "Foreground" }, ["x.io/f", "foregroundDeletion"]],
		["Background", { propagationPolicy: "Background" }, ["x.io/f"]],
		["orphanDependents", { orphanDependents: true }, ["x.io/f", "orphan"]],
		["nothing", {}, ["x.io/f"]],
	])("%s asked for gives the finalizer that a garbage collector works on", async (_, options, finalizers) => {
		await made(DEPLOYMENTS, { metadata: { name: "d", finalizers: ["x.io/f"] }, spec: DEPLOYMENT_SPEC });
		expect((await remove(`${DEPLOYMENTS}/d`, options)).json.metadata.finalizers).toEqual(finalizers);
	});

	test.each([
		["finalizers", { orphanDependents: false }, 202],
		["finalizers", { propagationPolicy: "Background" }, 200],
		["nothing", { orphanDependents: false }, 200],
	])("with %s left, %j is answered %i", async (held, options, code) => {
		const finalizers = held === "nothing" ? [] : ["x.io/f"];
		await made(DEPLOYMENTS, { metadata: { name: "d", finalizers }, spec: DEPLOYMENT_SPEC });
		expect((await remove(`${DEPLOYMENTS}/d`, options)).status).toBe(code);
	});
});

describe("a delete of a Namespace", () => {
	const X = "/api/v1/namespaces/x";

	test("makes it Terminating, and /finalize removes it", async () => {
		await made("/api/v1/namespaces", { metadata: { name: "x" } });
		const { status, json } = await remove(X);
		expect([status, json.kind, json.status, json.spec]).toEqual([
			200,
			"Namespace",
			{ phase: "Terminating" },
			{ finalizers: ["kubernetes"] },
		]);
		expect(json.metadata.deletionTimestamp).toBe("2026-01-01T00:00:00Z");
		expect((await remove(X)).json).toEqual(json);
		const body = { ...json, metadata: { ...json.metadata, labels: { a: "b" } }, spec: { finalizers: [] } };
		const finalized = await server.request("PUT", `${X}/finalize`, { body });
		expect([finalized.status, finalized.json.metadata.labels]).toEqual([200, json.metadata.labels]);
		expect(await statusOf(X)).toBe(404);
	});

	test.each(["default", "kube-system", "kube-public"])("%s is Forbidden", async (name) => {
		const { json } = await remove(`/api/v1/namespaces/${name}`);
		expect([json.code, json.message]).toEqual([
			403,
			`namespaces "${name}" is forbidden: this namespace may not be deleted`,
		]);
	});
});

describe("deletecollection", () => {
	beforeEach(async () => {
		for (const [name, app] of [
			["a", "web"],
			["b", "web"],
			["c", "other"],
		] as const) {
			await made(PODS, { metadata: { name, labels: { app } }, spec: POD_SPEC });
		}
	});

	test.each([
		["everything", "", "a b c", ""],
		["a label selector", "?labelSelector=app%3Dweb", "a b", "c"],
		["a field selector", "?fieldSelector=metadata.name%3Dc", "c", "a b"],
		["nothing that matches", "?labelSelector=app%3Dnone", "", "a b c"],
		["a limit", "?limit=1", "a", "b c"],
		["dryRun", "?dryRun=All", "a b c", "a b c"],
	])("of %s answers with what matched, and leaves the rest", async (_, query, matched, left) => {
		const { status, json } = await remove(`${PODS}${query}`);
		expect([status, json.kind, (json.items ?? []).map(({ metadata }) => metadata.name).join(" ")]).toEqual([
			200,
			"PodList",
			matched,
		]);
		const rest = (await server.request("GET", PODS)).json.items ?? [];
		expect(rest.map(({ metadata }) => metadata.name).join(" ")).toBe(left);
	});

	test("takes options in its body", async () => {
		await remove(PODS, { propagationPolicy: "Orphan" });
		const { items = [] } = (await server.request("GET", PODS)).json;
		expect(items.map(({ metadata }) => metadata.finalizers)).toEqual([["orphan"], ["orphan"], ["orphan"]]);
	});

	test("with a bad selector deletes nothing", async () => {
		expect((await remove(`${PODS}?labelSelector=a+in+b`)).status).toBe(400);
		expect((await server.request("GET", PODS)).json.items).toHaveLength(3);
	});
});
