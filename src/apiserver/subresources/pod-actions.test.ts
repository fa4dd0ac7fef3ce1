import { beforeEach, describe, expect, test } from "vitest";
import { type TestResponse, TestServer } from "../../testing/test-server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const SUCCESS = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

const create = (name: string, spec: object = {}): Promise<TestResponse> =>
	server.request("POST", PODS, {
		body: { metadata: { name, labels: { a: "1" } }, spec: { containers: [{ name: "c", image: "i" }], ...spec } },
	});
const post = (path: string, body?: unknown): Promise<TestResponse> =>
	server.request("POST", `${PODS}/${path}`, { body });

describe("binding", () => {
	const toN1 = { target: { kind: "Node", name: "n1" } };

	test("sets the node and the condition, and adds the labels and annotations of the Binding", async () => {
		await create("p");
		const metadata = { name: "p", labels: { b: "2" }, annotations: { c: "3" } };
		const { status, json } = await post("p/binding", { apiVersion: "v1", kind: "Binding", metadata, ...toN1 });
		expect([status, json]).toEqual([201, SUCCESS]);
		const pod = (await server.request("GET", `${PODS}/p`)).json;
		expect(pod).toMatchObject({
			metadata: { labels: { a: "1", b: "2" }, annotations: { c: "3" }, generation: 1 },
			spec: { nodeName: "n1" },
			status: {
				phase: "Pending",
				conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
			},
		});
	});

	test("of a dry run binds nothing", async () => {
		const { json } = await create("p");
		expect((await post("p/binding?dryRun=All", toN1)).status).toBe(201);
		expect((await server.request("GET", `${PODS}/p`)).json).toEqual(json);
	});

	test.each([
		["is bound", { nodeName: "n0" }, toN1, 409, 'on pods/binding "p": pod p is already assigned to node "n0"'],
		[
			"is gated",
			{ schedulingGates: [{ name: "x.io/g" }] },
			toN1,
			409,
			'on pods/binding "p": pod p has non-empty .spec.schedulingGates',
		],
		["has another uid", {}, { metadata: { uid: "other" }, ...toN1 }, 409, "UID in precondition: other"],
		["is there, without a target", {}, {}, 400, "target.name: Required value"],
		["is there, without a body", {}, undefined, 400, "unrecognized"],
		["is there, with a wrong target", {}, { target: "n1" }, 400, "cannot unmarshal"],
		["is there, with another kind", {}, { kind: "Pod", ...toN1 }, 400, "cannot be handled as a Binding"],
		["is there, with another name", {}, { metadata: { name: "q" }, ...toN1 }, 400, "name in URL does not match"],
	])("of a pod that %s is refused", async (_, spec, body, code, text) => {
		const { json } = await create("p", spec);
		const answer = await post("p/binding", body);
		expect([answer.status, answer.json.message]).toEqual([code, expect.stringContaining(text)]);
		expect((await server.request("GET", `${PODS}/p`)).json).toEqual(json);
	});

	test("of a pod that is going, or gone, is refused", async () => {
		await create("p", { nodeName: "n0" });
		await server.request("DELETE", `${PODS}/p`);
		const going = await post("p/binding", toN1);
		expect(going.json.message).toContain("pod p is being deleted, cannot be assigned to a host");
		expect((await post("gone/binding", toN1)).status).toBe(404);
	});
});

describe("eviction", () => {
	const Eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };

	test("deletes the pod as a delete would, with the options in its body", async () => {
		await create("p", { nodeName: "n1" });
		const { status, json } = await post("p/eviction", { ...Eviction, deleteOptions: { gracePeriodSeconds: 7 } });
		expect([status, json]).toEqual([201, SUCCESS]);
		const pod = (await server.request("GET", `${PODS}/p`)).json;
		expect(pod.metadata.deletionGracePeriodSeconds).toBe(7);
	});

	test.each([
		["a precondition that fails", { ...Eviction, deleteOptions: { preconditions: { uid: "other" } } }, "p", 409],
		["another name", { ...Eviction, metadata: { name: "q" } }, "p", 400],
		["no name", {}, "p", 400],
		["a pod that is gone", { ...Eviction, metadata: { name: "gone" } }, "gone", 404],
		["a dry run", { ...Eviction, deleteOptions: { dryRun: ["All"] } }, "p", 201],
	])("with %s deletes nothing", async (_, body, name, code) => {
		await create("p");
		expect((await post(`${name}/eviction`, body)).status).toBe(code);
		expect((await server.request("GET", `${PODS}/p`)).status).toBe(200);
	});
});

describe("log", () => {
	const get = async (query: string): Promise<readonly [number, string]> => {
		const { status, text, json } = await server.request("GET", `${PODS}/p/log${query}`);
		return [status, status === 200 ? text : (json.message ?? "")];
	};
	const containers = ["app", "side"].map((name) => ({ name, image: "i" }));

	test("selects lines by container, number, time and bytes", async () => {
		const { json } = await create("p", { containers });
		const nowMs = server.clock.wallMs();
		for (const [ageS, text] of [
			[20, "old"],
			[5, "GET / 200"],
			[1, "new"],
		] as const) {
			server.logs.append(json.metadata.uid ?? "", "app", { atMs: nowMs - ageS * 1000, text });
		}
		expect(await get("?container=app")).toEqual([200, "old\nGET / 200\nnew\n"]);
		expect(await get("?container=app&tailLines=1")).toEqual([200, "new\n"]);
		expect(await get("?container=app&tailLines=0")).toEqual([200, ""]);
		expect(await get("?container=app&sinceSeconds=10")).toEqual([200, "GET / 200\nnew\n"]);
		expect(await get("?container=app&sinceTime=2025-12-31T23:59:58Z")).toEqual([200, "new\n"]);
		expect(await get("?container=app&limitBytes=6")).toEqual([200, "old\nGE"]);
		expect(await get("?container=app&tailLines=1&timestamps=true")).toEqual([200, "2025-12-31T23:59:59.000Z new\n"]);
		expect(await get("?container=side")).toEqual([200, ""]);
	});

	test.each([
		["", 400, "a container name must be specified for pod p, choose one of: [app side]"],
		["?container=x", 400, "container x is not valid for pod p"],
		["?container=app&previous=true", 400, 'previous terminated container "app" in pod "p" not found'],
		[
			"?container=app&tailLines=-1",
			422,
			'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
		],
		[
			"?container=app&tailLines=many",
			400,
			'strconv.ParseInt: parsing "many": invalid syntax: tailLines must be a whole number',
		],
	])("refuses %j by %i with a sentence", async (query, code, message) => {
		await create("p", { containers });
		expect(await get(query)).toEqual([code, message]);
	});

	const ended = { terminated: { exitCode: 1 } };
	const running = { running: { startedAt: "2026-01-01T00:00:00Z" } };
	const backingOff = { waiting: { reason: "CrashLoopBackOff" } };
	test.each([
		["one that runs again", { state: running, lastState: ended }, "new\n", "old\n"],
		["one in back-off", { state: backingOff, lastState: ended }, "new\n", "new\n"],
		["one that ended again", { state: ended, lastState: ended }, "new\n", "old\n"],
	])(
		"of %s is of its last run, and with `previous` of the one that ended last before",
		async (_, state, now, previous) => {
			const { json } = await create("p", { containers: containers.slice(0, 1) });
			const uid = json.metadata.uid ?? "";
			const atMs = server.clock.wallMs();
			server.logs.append(uid, "app", { atMs, text: "old" });
			server.logs.startAgain(uid, "app");
			server.logs.append(uid, "app", { atMs, text: "new" });
			const containerStatuses = [{ name: "app", image: "i", imageID: "", ready: false, restartCount: 1, ...state }];
			const body = { ...json, status: { phase: "Running", containerStatuses } };
			expect((await server.request("PUT", `${PODS}/p/status`, { body })).status).toBe(200);
			expect([await get(""), await get("?previous=true"), await get("?previous=true&follow=true")]).toEqual([
				[200, now],
				[200, previous],
				[200, previous],
			]);
		},
	);

	test("of a Pod that is not there is NotFound", async () => {
		expect(await get("")).toEqual([404, 'pods "p" not found']);
	});
});
