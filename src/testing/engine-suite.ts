/**
 * What every engine promises, whatever keeps its log. Run it over each of them.
 *
 * What can be seen of an engine is seen through its store: revisions, preconditions, watches, pages, and what is there
 * when it is opened again.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KubeObject } from "../api/types/meta.ts";
import { CryptoRandom } from "../edge/crypto-random.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { Place, Precondition, Revision, Write } from "../store/entry.ts";
import type { Store } from "../store/store.ts";
import { meta } from "./builders.ts";
import { checkHistory } from "./history/check-history.ts";
import { HistoryRecorder, MARK } from "./history/history-recorder.ts";
import { SeededRandom } from "./seeded.ts";

export interface EngineUnderTest {
	/** Opens it. What was written before is there again, when it is kept. */
	open(): Promise<OpenedEngine>;
	/** Whether what is written outlives the store. */
	readonly isKept: boolean;
	/** Removes all that it has made. */
	remove?(): Promise<void>;
}

export interface OpenedEngine {
	/** All on the same engine: what one writes, the others show. */
	readonly stores: readonly Store[];
	close(): Promise<void>;
}

const CONFIG_MAPS = "/registry/configmaps/";
const SECRETS = "/registry/secrets/";
const SPACES = [SECRETS, CONFIG_MAPS] as const;
const KEYS = ["default/a", "default/b", "other/a"] as const;
const CLIENTS = 8;
const STEPS = 40;
const BATCH_MAX = 5;

function put(key: string, mark = "x", space: string = CONFIG_MAPS): Write {
	const [namespace = "", name = ""] = key.split("/");
	const kind = space === CONFIG_MAPS ? "ConfigMap" : "Secret";
	const object: KubeObject = {
		apiVersion: "v1",
		kind,
		metadata: meta(name, { namespace, labels: { [MARK]: mark } }),
	};
	return { kind: "put", space, key, object };
}

const remove = (key: string): Write => ({ kind: "delete", space: CONFIG_MAPS, key });
const at = (key: string, expected: Revision): Precondition => ({ space: CONFIG_MAPS, key, expected });

function listed(store: Store, revision?: Revision, prefix = ""): string {
	const range = store.space(CONFIG_MAPS).range({ prefix, ...(revision === undefined ? {} : { revision }) });
	if (range.kind === "compacted") return "compacted";
	return range.entries.map(({ key, object }) => `${key}=${object.metadata.labels?.[MARK]}`).join(" ");
}

/** Relative to `from`: engines begin at numbers of their own. */
function watched(store: Store, after: Revision, limit = 100): string {
	const batch = store.space(CONFIG_MAPS).readAfter(after, limit, store.revision);
	if (batch.kind === "compacted") return "compacted";
	const events = batch.events.map(({ kind, revision, current }) => `${kind} ${current.key}@+${revision - after}`);
	return [...events, `through +${batch.through - after}`].join(", ");
}

export function engineSuite(make: () => EngineUnderTest): void {
	let engine: EngineUnderTest;
	let opened: OpenedEngine;

	beforeEach(async () => {
		engine = make();
		opened = await engine.open();
	});
	afterEach(async () => {
		await opened.close();
		await engine.remove?.();
	});

	const first = (): Store => assertDefined(opened.stores[0], "a store");
	const reopen = async (): Promise<Store> => {
		await opened.close();
		opened = await engine.open();
		return first();
	};

	test("gives a commit one revision, whatever it writes, and the next one a higher", async () => {
		const from = first().revision;
		const one = await first().commit([put("a/1"), put("a/2"), put("a/1", "x", SECRETS)]);
		const two = await first().commit([put("a/3")]);
		expect([one, two].map((result) => result.kind === "committed" && result.revision - from)).toEqual([1, 2]);
		expect(watched(first(), from)).toBe("put a/1@+1, put a/2@+1, put a/3@+2, through +2");
		expect(first().space(SECRETS).get("a/1")?.modRevision).toBe(from + 1);
	});

	test("knows when each object was made, and written last", async () => {
		const from = first().revision;
		await first().commit([put("a/1")]);
		await first().commit([put("a/1", "y")]);
		expect(first().space(CONFIG_MAPS).get("a/1")).toMatchObject({
			createRevision: from + 1,
			modRevision: from + 2,
			object: { metadata: { resourceVersion: String(from + 2), labels: { [MARK]: "y" } } },
		});
		await first().commit([remove("a/1")]);
		await first().commit([put("a/1")]);
		expect(first().space(CONFIG_MAPS).get("a/1")).toMatchObject({ createRevision: from + 4, modRevision: from + 4 });
	});

	test("answers with what a commit has stored, and what it has deleted", async () => {
		const from = first().revision;
		const made = await first().commit([put("a/1"), put("a/2")]);
		expect(made).toMatchObject({ entries: [{ key: "a/1" }, { key: "a/2" }] });
		const gone = await first().commit([remove("a/2"), remove("a/none"), put("a/1", "y")]);
		expect(gone).toMatchObject({
			revision: from + 2,
			entries: [{ key: "a/2" }, undefined, { object: { metadata: { labels: { [MARK]: "y" } } } }],
		});
	});

	test("changes nothing when one precondition fails, and says which, and what is there", async () => {
		const from = first().revision;
		await first().commit([put("a/1")]);
		const result = await first().commit([put("a/2"), put("a/1", "y")], [at("a/2", 0), at("a/1", 0)]);
		expect(result).toMatchObject({ kind: "conflict", place: { key: "a/1" }, actual: { modRevision: from + 1 } });
		expect(listed(first())).toBe("a/1=x");
		expect(first().revision).toBe(from + 1);
	});

	test("takes a commit whose preconditions hold, also of places that it does not write", async () => {
		const from = first().revision;
		await first().commit([put("a/1")], [at("a/1", 0)]);
		await first().commit([put("a/2")], [at("a/1", from + 1), at("a/3", 0)]);
		await first().commit([remove("a/1")], [at("a/1", from + 1)]);
		expect(listed(first())).toBe("a/2=x");
	});

	test("lets one of many through that want the same", async () => {
		const asked = Array.from({ length: 16 }, (_, index) =>
			assertDefined(opened.stores[index % opened.stores.length], "store").commit(
				[put("a/1", `${index}`)],
				[at("a/1", 0)],
			),
		);
		const results = await Promise.all(asked);
		expect(results.filter(({ kind }) => kind === "committed")).toHaveLength(1);
		const won = results.findIndex(({ kind }) => kind === "committed");
		for (const result of results) {
			if (result.kind === "conflict") expect(result.actual?.object.metadata.labels?.[MARK]).toBe(`${won}`);
		}
	});

	test("shows a deletion as the last state, at the revision of the deletion", async () => {
		const from = first().revision;
		await first().commit([put("a/1", "last")]);
		await first().commit([remove("a/1")]);
		const batch = first()
			.space(CONFIG_MAPS)
			.readAfter(from + 1, 10, first().revision);
		const metadata = { resourceVersion: String(from + 2), labels: { [MARK]: "last" } };
		expect(batch).toMatchObject({ events: [{ kind: "delete", current: { object: { metadata } } }] });
	});

	test("keeps a page's revision readable while others write", async () => {
		await first().commit([put("a/1"), put("a/3"), put("b/1")]);
		const page = first().revision;
		await first().commit([put("a/2"), put("a/3", "y"), remove("b/1")]);
		expect(listed(first(), page)).toBe("a/1=x a/3=x b/1=x");
		expect(listed(first(), page, "a/")).toBe("a/1=x a/3=x");
		const next = first().space(CONFIG_MAPS).range({ prefix: "", start: "a/2", limit: 1, revision: page });
		expect(next).toMatchObject({ kind: "range", entries: [{ key: "a/3" }], remaining: 1 });
	});

	test("tells who asks for what was compacted so, and never gives a gap", async () => {
		const from = first().revision;
		for (const mark of ["1", "2", "3"]) await first().commit([put("a/1", mark)]);
		first().view.compact(from + 2);
		expect(watched(first(), from + 1)).toBe("compacted");
		expect(listed(first(), from + 1)).toBe("compacted");
		expect(watched(first(), from + 2)).toBe("put a/1@+1, through +1");
	});

	test("keeps every promise to clients that write, read and watch at once", async () => {
		const seed = Math.floor(new CryptoRandom().next() * 1_000_000);
		const recorder = new HistoryRecorder(SPACES);
		const stop = recorder.follow(first());
		await trouble(opened.stores, recorder, seed);
		stop();
		expect({ seed, broken: checkHistory(recorder.history()) }).toEqual({ seed, broken: [] });
	});

	if (!make().isKept) return;
	test("is what it was when it is opened again, and goes on from there", async () => {
		const seed = Math.floor(new CryptoRandom().next() * 1_000_000);
		const recorder = new HistoryRecorder(SPACES);
		recorder.follow(first());
		const resumed = recorder.watch("resumed", CONFIG_MAPS, first().revision);
		for (let round = 0; round < 3; round++) {
			await trouble(opened.stores, recorder, seed + round);
			const { revision } = first();
			const store = await reopen();
			expect(store.revision).toBeGreaterThanOrEqual(revision);
			recorder.follow(store);
			for (const key of KEYS) await recorder.read("after", store, { space: CONFIG_MAPS, key });
			// The past may be gone, if that is said; what is told has no gap.
			resumed(store, Number.MAX_SAFE_INTEGER);
		}
		expect({ seed, broken: checkHistory(recorder.history()) }).toEqual({ seed, broken: [] });
	});
}

/** Clients that each do one thing after another, by a seed of their own, and watchers that read now and then. */
async function trouble(stores: readonly Store[], recorder: HistoryRecorder, seed: number): Promise<void> {
	const clients = Array.from({ length: CLIENTS }, (_, index) => {
		const store = assertDefined(stores[index % stores.length], "store");
		return client(`client ${index}`, store, recorder, new SeededRandom(seed * CLIENTS + index));
	});
	await Promise.all(clients);
	// Whoever looks at one of the stores from now on sees what was done by all.
	await Promise.all(stores.map((store) => store.reach()));
}

async function client(name: string, store: Store, recorder: HistoryRecorder, random: SeededRandom): Promise<void> {
	const choose = <T>(choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)] as T;
	let watch = recorder.watch(name, choose(SPACES), store.revision);
	for (let step = 0; step < STEPS; step++) {
		const place: Place = { space: choose(SPACES), key: choose(KEYS) };
		const entry = await recorder.read(name, store, place);
		const other: Place = { space: choose(SPACES), key: `other/${choose(["b", "c"])}` };
		const writes: Write[] = [
			random.next() < 0.2 ? { kind: "delete", ...place } : put(place.key, `${name}.${step}`, place.space),
		];
		if (random.next() < 0.5) writes.push(put(other.key, `${name}.${step}`, other.space));
		const preconditions = random.next() < 0.7 ? [{ ...place, expected: entry?.modRevision ?? 0 }] : [];
		await recorder.commit(name, store, writes, preconditions);
		if (random.next() < 0.3) watch(store, 1 + Math.floor(random.next() * BATCH_MAX));
		if (random.next() < 0.05) watch = recorder.watch(`${name} ${step}`, choose(SPACES), store.revision);
	}
	watch(store, Number.MAX_SAFE_INTEGER);
}
