/** The engine that has a real etcd as its log. */
import { cpSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ApiError } from "../../src/api/status.ts";
import type { KubeObject } from "../../src/api/types/meta.ts";
import type { EtcdStore, EtcdStoreOptions } from "../../src/edge/etcd/open-etcd-store.ts";
import type { Precondition, Write } from "../../src/store/entry.ts";
import type { Store } from "../../src/store/store.ts";
import { engineSuite } from "../../src/testing/engine-suite.ts";
import { EtcdProcess, etcdProblem } from "../../src/testing/etcd-process.ts";
import { sharedCounters } from "../load/shared-counters.ts";
import { openStore } from "./etcd-stores.ts";
import { eventually } from "./plane.ts";

const CONFIG_MAPS = "/registry/configmaps/";
const problem = etcdProblem();
if (problem !== undefined) process.stderr.write(`skipped: the engine on etcd: ${problem}\n`);

function object(name: string, mark = "a"): KubeObject {
	return {
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: {
			name,
			namespace: "default",
			uid: "u",
			resourceVersion: "",
			creationTimestamp: "2026-01-01T00:00:00Z",
			labels: { mark },
		},
	};
}

const put = (name: string, mark?: string): Write => {
	return { kind: "put", space: CONFIG_MAPS, key: `default/${name}`, object: object(name, mark) };
};
const remove = (name: string): Write => ({ kind: "delete", space: CONFIG_MAPS, key: `default/${name}` });
const at = (name: string, expected: number): Precondition => ({ space: CONFIG_MAPS, key: `default/${name}`, expected });

function watched(store: Store, after: number): string {
	const batch = store.space(CONFIG_MAPS).readAfter(after, 1_000, store.revision);
	if (batch.kind === "compacted") return "compacted";
	return batch.events.map(({ kind, current }) => `${kind} ${current.object.metadata.name}`).join(", ");
}

function marks(store: Store): string {
	const found = store.space(CONFIG_MAPS).range({ prefix: "" });
	if (found.kind !== "range") return found.kind;
	return found.entries.map(({ object: { metadata } }) => `${metadata.name}=${metadata.labels?.["mark"]}`).join(" ");
}

async function refused(work: Promise<unknown>): Promise<ApiError> {
	const error = await work.then(
		() => undefined,
		(reason: unknown) => reason,
	);
	if (error instanceof ApiError) return error;
	throw new Error(`want an ApiError, have ${String(error)}`);
}

describe.skipIf(problem !== undefined)("the etcd engine, with two stores on it,", () => {
	let etcd: EtcdProcess;
	let prefixes = 0;
	beforeAll(async () => {
		etcd = await EtcdProcess.start();
	});
	afterAll(() => etcd.stop());

	engineSuite(() => {
		const options = { servers: [etcd?.url ?? ""], prefix: `/suite-${++prefixes}` };
		return {
			isKept: true,
			open: async () => {
				const opened = await Promise.all([openStore(options), openStore(options)]);
				const close = async (): Promise<void> => {
					await Promise.all(opened.map((each) => each.close()));
				};
				return { stores: opened.map(({ store }) => store), close };
			},
		};
	});
});

describe.skipIf(problem !== undefined)("a store on etcd", () => {
	let etcd: EtcdProcess;
	let prefixes = 0;
	let opened: EtcdStore[] = [];
	beforeAll(async () => {
		etcd = await EtcdProcess.start();
	});
	afterEach(async () => {
		await Promise.all(opened.map((each) => each.close()));
		opened = [];
	});
	afterAll(() => etcd.stop());

	const freshPrefix = (): string => `/test-${++prefixes}`;
	async function open(options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> {
		const each = await openStore({ servers: [etcd.url], prefix: freshPrefix(), ...options });
		opened.push(each);
		return each;
	}

	test("writes what can be read at once, with etcd's revision", async () => {
		const { store } = await open();
		const before = store.revision;
		const made = await store.commit([put("a")], [at("a", 0)]);
		expect(made).toMatchObject({ kind: "committed", revision: before + 1 });
		const found = store.space(CONFIG_MAPS).get("default/a");
		expect(found).toMatchObject({ createRevision: before + 1, modRevision: before + 1 });
		expect(found?.object.metadata.resourceVersion).toBe(String(before + 1));
		expect(made.kind === "committed" && made.entries[0]).toBe(found);
	});

	test("a commit of several keys is one revision, and all or nothing", async () => {
		const { store } = await open();
		const before = store.revision;
		const made = await store.commit([put("b"), put("a"), remove("none")], [at("a", 0), at("b", 0)]);
		expect(made).toMatchObject({ kind: "committed", revision: before + 1 });
		expect(made.kind === "committed" && made.entries.map((entry) => entry?.key)).toEqual([
			"default/b",
			"default/a",
			undefined,
		]);
		const failed = await store.commit([put("c"), put("a", "b")], [at("c", 0), at("a", 0)]);
		expect(failed).toMatchObject({ kind: "conflict", place: { key: "default/a" }, actual: { key: "default/a" } });
		expect(marks(store)).toBe("a=a b=a");
	});

	test("to delete nothing changes nothing, and is no failure", async () => {
		const { store } = await open();
		await store.commit([put("a")]);
		const before = store.revision;
		const [made] = await Promise.all([store.commit([remove("none")]), store.commit([put("b")])]);
		expect(made.kind === "committed" && made.entries).toEqual([undefined]);
		expect(watched(store, before)).toBe("put b");
	});

	test("a delete shows the last stored state, with its own revision", async () => {
		const { store } = await open();
		await store.commit([put("a")]);
		const last = { ...object("a", "last"), metadata: { ...object("a", "last").metadata } };
		const gone = await store.commit([{ kind: "delete", space: CONFIG_MAPS, key: "default/a", last }]);
		expect(gone.kind === "committed" && gone.entries[0]?.object.metadata).toMatchObject({
			labels: { mark: "a" },
			resourceVersion: String(store.revision),
		});
	});

	test("another store on the same etcd has what was written, as soon as it asks", async () => {
		const prefix = freshPrefix();
		const [a, b] = [(await open({ prefix })).store, (await open({ prefix })).store];
		for (let round = 0; round < 20; round++) {
			const made = await a.commit([put("a", `m${round}`)]);
			await b.reach();
			expect(b.revision).toBeGreaterThanOrEqual(made.kind === "committed" ? made.revision : 0);
			expect(marks(b)).toBe(`a=m${round}`);
		}
		const stale = await b.commit([put("a", "x")], [at("a", 1)]);
		expect(stale).toMatchObject({ kind: "conflict", actual: { object: { metadata: { labels: { mark: "m19" } } } } });
	});

	test("keys of others move the revision, and nobody waits for more", async () => {
		const [mine, other] = [(await open()).store, (await open()).store];
		const made = await other.commit([put("foreign")]);
		await mine.reach();
		expect(mine.revision).toBe(made.kind === "committed" ? made.revision : 0);
		expect(marks(mine)).toBe("");
	});

	test("of many writers that want one revision, one wins", async () => {
		const prefix = freshPrefix();
		const stores = [(await open({ prefix })).store, (await open({ prefix })).store];
		const results = await Promise.all(
			Array.from({ length: 64 }, (_, index) =>
				(stores[index % 2] as Store).commit([put("a", `w${index}`)], [at("a", 0)]),
			),
		);
		expect(results.filter(({ kind }) => kind === "committed")).toHaveLength(1);
		for (const result of results) if (result.kind === "conflict") expect(result.actual?.key).toBe("default/a");
	});

	test("starts with what is there, and knows of no past", async () => {
		const prefix = freshPrefix();
		const first = await open({ prefix });
		for (let index = 0; index < 3; index++) await first.store.commit([put("a", `m${index}`)]);
		const { store } = await open({ prefix });
		expect(marks(store)).toBe("a=m2");
		expect(store.space(CONFIG_MAPS).get("default/a")?.createRevision).toBeLessThan(store.revision);
		expect(watched(store, store.revision - 1)).toBe("compacted");
	});

	test("reads more than one page, and a revision that is larger than a message", async () => {
		const prefix = freshPrefix();
		const first = await open({ prefix });
		const large = "x".repeat(10_000);
		for (let page = 0; page < 13; page++) {
			await first.store.commit(Array.from({ length: 100 }, (_, index) => put(`p${page}-${index}`, large)));
		}
		const second = await open({ prefix });
		expect(second.store.space(CONFIG_MAPS).size).toBe(1_300);
		expect(first.store.space(CONFIG_MAPS).size).toBe(1_300);
	});

	test("an object that is too large is refused in etcd's words", async () => {
		const { store } = await open();
		for (const bytes of [1_600_000, 4_000_000]) {
			const error = await refused(store.commit([put("a", "x".repeat(bytes))]));
			expect(error.status()).toMatchObject({ code: 500, message: "etcdserver: request is too large" });
		}
		expect(marks(store)).toBe("");
	});
});

test.skipIf(problem !== undefined)("two stores are one, while etcd is killed and ways to it are cut", async () => {
	const run = await sharedCounters(4, 1);
	expect(run.problems).toEqual([]);
	expect(run.acknowledged).toBeGreaterThan(500);
});

describe.skipIf(problem !== undefined)("a store whose etcd fails", () => {
	let etcd: EtcdProcess;
	let opened: EtcdStore;
	beforeAll(async () => {
		etcd = await EtcdProcess.start();
		opened = await openStore({ servers: [etcd.url] });
	});
	afterAll(async () => {
		await opened.close();
		await etcd.stop();
	});

	test("goes on where it was when etcd is killed and starts again", async () => {
		const { store } = opened;
		await store.commit([put("a")]);
		const before = store.revision;
		await etcd.kill();
		const startedMs = performance.now();
		const error = await refused(store.commit([put("b")]));
		expect([500, 503]).toContain(error.code);
		expect(performance.now() - startedMs).toBeLessThan(15_000);
		expect(opened.problem()).toBeDefined();
		await etcd.restart();
		await eventually(
			() => Promise.resolve(opened.problem()),
			(why) => why === undefined,
		);
		await store.commit([put("c")]);
		expect(watched(store, before)).toBe("put c");
	});

	test("writers that etcd is killed under are told of no write that is not there, and none is done twice", async () => {
		const { store } = opened;
		const acknowledged = new Set<string>();
		let isOver = false;
		const writers = Array.from({ length: 32 }, async (_, writer) => {
			for (let index = 0; !isOver; index++) {
				const name = `k${writer}-${index}`;
				const made = await store.commit([put(name)], [at(name, 0)]).catch(() => undefined);
				if (made?.kind === "committed") acknowledged.add(name);
				// Nobody else makes these names: a conflict would be a write that was done before.
				expect(made?.kind).not.toBe("conflict");
			}
		});
		await eventually(
			() => Promise.resolve(acknowledged.size),
			(size) => size > 200,
		);
		await etcd.kill();
		await etcd.restart();
		const before = acknowledged.size;
		await eventually(
			() => Promise.resolve(acknowledged.size),
			(size) => size > before + 200,
		);
		isOver = true;
		await Promise.all(writers);
		await store.reach();
		for (const name of acknowledged) {
			const found = store.space(CONFIG_MAPS).get(`default/${name}`);
			expect(found, name).toBeDefined();
			expect(found?.createRevision, name).toBe(found?.modRevision);
		}
	});

	test("etcd that is silent is an error in bounded time, for readers and writers", async () => {
		const { store } = opened;
		etcd.signal("SIGSTOP");
		try {
			const [read, written] = await Promise.all([
				refused(store.reach() ?? Promise.resolve()),
				refused(store.commit([put("s")])),
			]);
			expect(read.code).toBe(504);
			expect(written.code).toBe(504);
			expect(opened.problem()).toBeDefined();
		} finally {
			etcd.signal("SIGCONT");
		}
		await eventually(
			() => Promise.resolve(opened.problem()),
			(why) => why === undefined,
		);
	});

	test("etcd that goes back to an older state is found out, and nothing is answered from then on", async () => {
		const older = path.join(etcd.folder, "older");
		const data = path.join(etcd.folder, "data");
		await etcd.kill();
		cpSync(data, older, { recursive: true });
		await etcd.restart();
		const { store } = opened;
		await eventually(
			() => store.commit([put("later")]).then(({ kind }) => kind, String),
			(kind) => kind === "committed",
		);
		await etcd.kill();
		rmSync(data, { recursive: true });
		renameSync(older, data);
		await etcd.restart();
		const told = await eventually(
			() => (store.reach() ?? Promise.resolve()).then(() => "reached", String),
			(text) => text.includes("start this server again"),
		);
		expect(told).toContain("etcd went back to revision");
		expect((await refused(store.commit([put("x")]))).code).toBe(500);
		expect(opened.problem()).toContain("went back");
	});
});
