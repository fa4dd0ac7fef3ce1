import { beforeEach, describe, expect, test } from "vitest";
import { TestServer } from "../../testing/test-server.ts";
import type { TestWatch } from "../../testing/test-watch.ts";

const PODS = "/api/v1/namespaces/default/pods";

let server: TestServer;
let start: number;

async function write(method: string, path: string, body: object): Promise<number> {
	const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
	const { status, json } = await server.request(method, path, { body, contentType });
	expect(status).toBeLessThan(300);
	return Number(json.metadata.resourceVersion);
}

const create = (name: string, labels: object = {}): Promise<number> =>
	write("POST", PODS, { metadata: { name, labels }, spec: { containers: [{ name: "c", image: "i" }] } });
const label = (name: string, labels: object): Promise<number> =>
	write("PATCH", `${PODS}/${name}`, { metadata: { labels } });

const watch = (query: string, path = PODS): Promise<TestWatch> => server.watch(`${path}?watch=true&${query}`);

beforeEach(async () => {
	server = await TestServer.start();
	await create("a");
	await create("b", { app: "web" });
	start = server.store.revision;
});

describe("where a watch starts", () => {
	const Initial = ["ADDED a@105", "ADDED b@106"];

	test.each([
		["resourceVersion unset", "", Initial],
		["resourceVersion 0", "resourceVersion=0", Initial],
		["a version", "resourceVersion=105", ["ADDED b@106"]],
		["the newest version", "resourceVersion=106", []],
		["unset, with bookmarks", "allowWatchBookmarks=true", [...Initial, "BOOKMARK @106"]],
		["0, with bookmarks", "resourceVersion=0&allowWatchBookmarks=1", [...Initial, "BOOKMARK @106"]],
		["a version, with bookmarks", "resourceVersion=105&allowWatchBookmarks=1", ["ADDED b@106"]],
		["a limit, which is ignored", "limit=1", Initial],
		["a selector", "labelSelector=app", ["ADDED b@106"]],
		["a name", "fieldSelector=metadata.name%3Da&resourceVersion=0", ["ADDED a@105"]],
		[
			"a streaming list",
			"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
			[...Initial, "BOOKMARK @106"],
		],
		[
			"a streaming list of any state",
			"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0",
			[...Initial, "BOOKMARK @106"],
		],
		[
			"a streaming list that is not older than a version",
			"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=105",
			[...Initial, "BOOKMARK @106"],
		],
		["a streaming list without bookmarks", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan", Initial],
		[
			"no initial events, from a version",
			"sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=105",
			["ADDED b@106"],
		],
		["no initial events, from now", "sendInitialEvents=false&resourceVersionMatch=NotOlderThan", []],
	])("%s: first what is there by its rule, then what comes", async (_, query, first) => {
		const open = await watch(query);
		expect(await open.told()).toEqual(first);
		await create("c", { app: "web" });
		const isOfA = query.includes("metadata.name");
		expect((await open.told()).slice(first.length)).toEqual(isOfA ? [] : ["ADDED c@107"]);
		expect(open.isEnded).toBe(false);
		open.close();
	});

	test("the end of the initial events is marked on the bookmark, and only there", async () => {
		const open = await watch("allowWatchBookmarks=true&timeoutSeconds=300");
		await server.clock.advance(61_000);
		const bookmarks = open.events.filter(({ type }) => type === "BOOKMARK").map(({ object }) => object);
		expect(bookmarks).toEqual([
			{
				kind: "Pod",
				apiVersion: "v1",
				metadata: {
					resourceVersion: "106",
					creationTimestamp: null,
					annotations: { "k8s.io/initial-events-end": "true" },
				},
			},
			{ kind: "Pod", apiVersion: "v1", metadata: { resourceVersion: "106", creationTimestamp: null } },
		]);
		open.close();
	});

	test("a version yet to come is accepted, and waited for", async () => {
		const open = await watch(`resourceVersion=${start + 1}`);
		await create("c");
		expect(await open.told()).toEqual([]);
		await create("d");
		expect(await open.told()).toEqual([`ADDED d@${start + 2}`]);
		open.close();
	});

	test("a version that is forgotten is one ERROR event, and the end", async () => {
		server.store.view.compact(start);
		const open = await watch("resourceVersion=104");
		await open.told();
		expect(open.events).toEqual([
			{
				type: "ERROR",
				object: {
					kind: "Status",
					apiVersion: "v1",
					metadata: {},
					status: "Failure",
					message: `too old resource version: 104 (${start})`,
					reason: "Expired",
					code: 410,
				},
			},
		]);
		expect(open.isEnded).toBe(true);
		open.close();
	});

	test("of a namespace that is not there is empty, and open", async () => {
		const open = await watch("", "/api/v1/namespaces/none/pods");
		expect(await open.told()).toEqual([]);
		expect(open.isEnded).toBe(false);
		open.close();
	});

	const Invalid = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: ';
	test.each([
		[
			"sendInitialEvents=true",
			422,
			`${Invalid}Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
		],
		[
			"sendInitialEvents=false",
			422,
			`${Invalid}Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
		],
		[
			"resourceVersionMatch=NotOlderThan&resourceVersion=5",
			422,
			`${Invalid}Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`,
		],
		[
			"sendInitialEvents=true&resourceVersionMatch=Exact",
			422,
			`${Invalid}Unsupported value: "Exact": supported values: "NotOlderThan"`,
		],
		["resourceVersion=x", 400, 'invalid resource version: "x": must be a number'],
		["timeoutSeconds=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax: timeoutSeconds must be a whole number'],
		["labelSelector=a+b", 400, expect.stringContaining("unable to parse requirement")],
		["fieldSelector=spec.foo%3D1", 400, "field label not supported: spec.foo"],
	])("?%s is refused before the stream begins", async (query, code, message) => {
		const { status, json } = await server.request("GET", `${PODS}?watch=true&${query}`);
		expect([status, json.message]).toEqual([code, message]);
	});

	test.each(["watch=true", "watch=1", "watch=", "watch", "watch=yes"])("?%s is a watch", async (query) => {
		const open = await server.watch(`${PODS}?${query}`);
		expect(open.headers["content-type"]).toBe("application/json");
		open.close();
	});

	test.each(["watch=false", "watch=0", "watch=False", ""])("?%s is a list", async (query) => {
		expect((await server.request("GET", `${PODS}?${query}`)).json.kind).toBe("PodList");
	});
});

describe("what a watch tells", () => {
	test("is every change of its resource, in the order of versions", async () => {
		const open = await watch(`resourceVersion=${start}`);
		await create("c");
		await write("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
		await label("c", { x: "y" });
		await server.request("DELETE", `${PODS}/a`);
		expect(await open.told()).toEqual([`ADDED c@${start + 1}`, `MODIFIED c@${start + 3}`, `DELETED a@${start + 4}`]);
		const [added] = open.events;
		expect(added?.object).toMatchObject({ kind: "Pod", apiVersion: "v1", spec: { containers: [{ name: "c" }] } });
		open.close();
	});

	test("through a selector: entering is ADDED, leaving is DELETED with the old state and the new version", async () => {
		const open = await watch(`resourceVersion=${start}&labelSelector=app%3Dweb`);
		await label("a", { app: "web" });
		await label("a", { more: "yes" });
		await label("a", { app: "other" });
		await label("a", { app: "still-other" });
		await server.request("DELETE", `${PODS}/a`);
		await server.request("DELETE", `${PODS}/b`);
		expect(await open.told()).toEqual([
			`ADDED a@${start + 1}`,
			`MODIFIED a@${start + 2}`,
			`DELETED a@${start + 3}`,
			`DELETED b@${start + 6}`,
		]);
		expect(open.events[2]?.object.metadata).toMatchObject({ labels: { app: "web", more: "yes" } });
		open.close();
	});

	test("of a field selector follows the field", async () => {
		const open = await watch(`resourceVersion=${start}&fieldSelector=status.phase%3DRunning`);
		await write("PATCH", `${PODS}/a/status`, { status: { phase: "Running" } });
		await write("PATCH", `${PODS}/a/status`, { status: { phase: "Failed" } });
		expect(await open.told()).toEqual([`ADDED a@${start + 1}`, `DELETED a@${start + 2}`]);
		open.close();
	});

	test("of a deprecated kind has a warning in its headers", async () => {
		const open = await watch("", "/api/v1/endpoints");
		expect(open.headers["warning"]).toEqual([
			'299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
		]);
		open.close();
	});
});

describe("the end of a watch", () => {
	test("comes with timeoutSeconds, after a last bookmark", async () => {
		const open = await watch(`resourceVersion=${start}&allowWatchBookmarks=1&timeoutSeconds=70`);
		await server.clock.advance(59_000);
		expect(await open.told()).toEqual([]);
		await server.clock.advance(1_000);
		expect(await open.told()).toEqual([`BOOKMARK @${start}`]);
		await write("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
		await server.clock.advance(8_000);
		expect(await open.told()).toEqual([`BOOKMARK @${start}`, `BOOKMARK @${start + 1}`]);
		expect(open.isEnded).toBe(false);
		await server.clock.advance(2_000);
		expect(open.isEnded).toBe(true);
		expect(server.api.watches).toBe(0);
	});

	test.each(["", "timeoutSeconds=0", "timeoutSeconds=-5"])("?%s is after half an hour to an hour", async (query) => {
		const open = await watch(query);
		await server.clock.advance(1_799_000);
		expect(open.isEnded).toBe(false);
		await server.clock.advance(1_801_000);
		expect(open.isEnded).toBe(true);
	});

	test("without bookmarks asked for none is sent", async () => {
		const open = await watch(`resourceVersion=${start}&timeoutSeconds=200`);
		await server.clock.advance(200_000);
		expect([open.isEnded, await open.told()]).toEqual([true, []]);
	});

	test("when the client goes, nothing is left of it", async () => {
		const open = await watch("allowWatchBookmarks=1");
		expect(server.api.watches).toBe(1);
		open.close();
		expect(server.api.watches).toBe(0);
		const before = open.frames.length;
		await create("c");
		await server.clock.advance(3_600_000);
		expect(open.frames).toHaveLength(before);
	});
});

describe("a watch that is opened while others write", () => {
	test("misses nothing and tells nothing twice, whenever it begins", async () => {
		const writes = Array.from({ length: 20 }, (_, index) => create(`p${index}`));
		const opened = Array.from({ length: 5 }, () => watch(""));
		const watches = await Promise.all(opened);
		await Promise.all(writes);
		for (const open of watches) {
			const told = await open.told();
			expect(new Set(told).size).toBe(told.length);
			expect(told).toHaveLength(22);
			open.close();
		}
	});
});
