import { beforeEach, describe, expect, test } from "vitest";
import { memoryStore } from "../../store/store.ts";
import { TestServer } from "../../testing/test-server.ts";
import type { TestWatch } from "../../testing/test-watch.ts";
import { settle } from "../../testing/virtual-clock.ts";

const PODS = "/api/v1/namespaces/default/pods";

let server: TestServer;
let start: number;

const create = (name: string): Promise<unknown> =>
	server.request("POST", PODS, { body: { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } } });

const watch = (query = `resourceVersion=${start}`, accept?: string): Promise<TestWatch> =>
	server.watch(`${PODS}?watch=true&${query}`, accept === undefined ? {} : { headers: { accept } });

beforeEach(async () => {
	server = await TestServer.start();
	start = server.store.revision;
});

describe("fan-out", () => {
	test("gives the members of a group the same bytes, not copies", async () => {
		const [first, second] = [await watch(), await watch()];
		await create("a");
		await create("b");
		await settle();
		expect(first?.frames).toHaveLength(2);
		expect(second?.frames[0]).toBe(first?.frames[0]);
		expect(second?.frames[1]).toBe(first?.frames[1]);
	});

	test("makes the JSON of an object once, for readers and watchers of every selection", async () => {
		const watches = [
			await watch(),
			await watch("resourceVersion=0&labelSelector=!x"),
			await watch("resourceVersion=0"),
		];
		await create("a");
		await settle();
		await server.request("GET", `${PODS}/a`);
		await server.request("GET", PODS);
		expect(watches.map(({ frames }) => frames.length)).toEqual([1, 1, 1]);
		expect(server.metrics.values.get("sliceplane_object_encodings_total")).toBe(1);
	});

	test("gives other forms and other selections bytes of their own", async () => {
		const plain = await watch();
		const table = await watch(undefined, "application/json;as=Table;v=v1;g=meta.k8s.io");
		const none = await watch(`resourceVersion=${start}&labelSelector=x`);
		await create("a");
		await settle();
		expect([plain.events[0]?.object.kind, table.events[0]?.object.kind, none.frames.length]).toEqual([
			"Pod",
			"Table",
			0,
		]);
	});

	test("keeps apart those that differ in one selector, or in the namespace, alone", async () => {
		const query = `resourceVersion=${start}`;
		const watches = [
			await watch(query),
			await watch(`${query}&labelSelector=none`),
			await watch(`${query}&fieldSelector=metadata.name%3Db`),
			await watch(`${query}&fieldSelector=metadata.name%3Da`),
			await server.watch(`/api/v1/namespaces/kube-system/pods?watch=true&${query}`),
			await server.watch(`/api/v1/pods?watch=true&${query}`),
		];
		await create("a");
		await settle();
		expect(watches.map(({ frames }) => frames.length)).toEqual([1, 0, 0, 1, 0, 1]);
	});

	test("ends every frame with a newline, and has no other in it", async () => {
		const open = await watch();
		await create("a");
		await settle();
		const text = new TextDecoder().decode(open.frames[0]);
		expect([text.indexOf("\n"), text.startsWith('{"type":"ADDED","object":{')]).toEqual([text.length - 1, true]);
	});

	test("serves hundreds of watchers over several turns, each of them once", async () => {
		const watches = await Promise.all(Array.from({ length: 600 }, () => watch()));
		await create("a");
		await settle();
		expect(new Set(watches.map(({ frames }) => frames.length))).toEqual(new Set([1]));
		expect(server.api.watches).toBe(600);
		for (const open of watches) open.close();
		expect(server.api.watches).toBe(0);
	});
});

describe("a slow socket", () => {
	test("is told nothing more until it drains, and then everything, in order", async () => {
		const [slow, fast] = [await watch(), await watch()];
		slow.block();
		for (const name of ["a", "b", "c", "d"]) {
			await create(name);
			await settle();
		}
		expect(await slow.told()).toEqual([`ADDED a@${start + 1}`]);
		expect(await fast.told()).toHaveLength(4);
		slow.drain();
		expect(await slow.told()).toEqual(await fast.told());
		await create("e");
		expect(await slow.told()).toEqual(await fast.told());
	});

	test("gets the same bytes as the others when it comes back to where they stand", async () => {
		const [slow, fast] = [await watch(), await watch()];
		slow.block();
		await create("a");
		await settle();
		slow.drain();
		await create("b");
		await settle();
		expect(slow.frames[1]).toBe(fast.frames[1]);
	});

	test("that fills up again in the middle goes on from there", async () => {
		const [slow, fast] = [await watch(), await watch()];
		slow.block();
		for (const name of ["a", "b", "c", "d", "e"]) await create(name);
		for (const count of [1, 3, 5]) {
			expect(await slow.told()).toEqual((await fast.told()).slice(0, count));
			slow.drain(2);
		}
	});

	test("is told 410 and closed when it drains after the history has moved past it", async () => {
		const slow = await watch();
		slow.block();
		for (const name of ["a", "b", "c"]) {
			await create(name);
			await settle();
		}
		server.store.view.compact(start + 2);
		slow.drain();
		expect(await slow.told()).toEqual([`ADDED a@${start + 1}`, "ERROR 410 Expired"]);
		expect(slow.isEnded).toBe(true);
		await create("d");
		expect(await slow.told()).toHaveLength(2);
	});

	test("holds no history back: what the store forgets by its limits is gone for it too", async () => {
		const store = memoryStore(100, { historyBytesMax: 1e9, historyEventsMax: 10 });
		server = await TestServer.start({ store });
		start = store.revision;
		const slow = await watch();
		slow.block();
		for (let n = 0; n < 30; n++) await create(`p${n}`);
		await settle();
		expect(store.view.historyEvents).toBe(10);
		slow.drain();
		expect((await slow.told()).at(-1)).toBe("ERROR 410 Expired");
	});

	test("is sent no bookmark that would pass events it has not got", async () => {
		const slow = await watch(`resourceVersion=${start}&allowWatchBookmarks=1&timeoutSeconds=300`);
		slow.block();
		await create("a");
		await create("b");
		await server.clock.advance(61_000);
		expect(await slow.told()).toEqual([`ADDED a@${start + 1}`]);
		slow.drain();
		await server.clock.advance(60_000);
		expect(await slow.told()).toEqual([`ADDED a@${start + 1}`, `ADDED b@${start + 2}`, `BOOKMARK @${start + 2}`]);
		slow.close();
	});

	test("ends in time all the same", async () => {
		const slow = await watch(`resourceVersion=${start}&timeoutSeconds=30`);
		slow.block();
		await create("a");
		await create("b");
		await server.clock.advance(30_000);
		expect([slow.isEnded, server.api.watches]).toEqual([true, 0]);
	});
});
