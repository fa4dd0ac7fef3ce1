/**
 * Counters on one etcd that two stores raise by compare and swap, while etcd is killed and ways to it are cut.
 *
 * A counter ends where the acknowledged raises have brought it, and no further than those whose outcome nobody was told
 * could have. No reader sees less than was acknowledged before it asked, whichever store it asks.
 */
import type { KubeObject } from "../../src/api/types/meta.ts";
import { assertDefined } from "../../src/kernel/assert.ts";
import type { Store } from "../../src/store/store.ts";
import { EtcdProcess } from "../../src/testing/etcd-process.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";
import { CutWay } from "../e2e/cut-way.ts";
import { openStore } from "../e2e/etcd-stores.ts";
import { eventually } from "../e2e/plane.ts";

export interface CounterRun {
	readonly acknowledged: number;
	/** Raises that ended with an error: done, or not. */
	readonly unknown: number;
	readonly reads: number;
	readonly problems: readonly string[];
}

const SPACE = "/registry/configmaps/";
const COUNTERS = 3;
const WRITERS = 12;
/** Raises that are acknowledged between two faults. */
const RAISES_PER_FAULT = 150;

interface Counter {
	readonly key: string;
	acknowledged: number;
	unknown: number;
}

/** What all who raise and read have in common. */
interface Run {
	readonly counters: readonly Counter[];
	readonly problems: string[];
	reads: number;
	isOver: boolean;
}

export async function sharedCounters(faults: number, seed: number): Promise<CounterRun> {
	const random = new SeededRandom(seed);
	const etcd = await EtcdProcess.start();
	const ways = [await CutWay.to(etcd.url), await CutWay.to(etcd.url)];
	const opened = await Promise.all(ways.map(({ url }) => openStore({ servers: [url] })));
	const counters = Array.from({ length: COUNTERS }, (_, index) => ({
		key: `default/c${index}`,
		acknowledged: 0,
		unknown: 0,
	}));
	const run: Run = { counters, problems: [], reads: 0, isOver: false };
	const workers = opened.flatMap(({ store }) =>
		Array.from({ length: WRITERS }, (_, index) =>
			work(run, store, assertDefined(counters[index % COUNTERS], "counter")),
		),
	);
	try {
		for (let fault = 0; fault < faults; fault++) {
			await raised(run);
			await cause(random, etcd, ways);
		}
		await raised(run);
	} finally {
		run.isOver = true;
		await Promise.all(workers);
	}
	for (const counter of counters) {
		for (const { store } of opened) run.problems.push(...(await endProblems(store, counter)));
	}
	await Promise.all(opened.map((each) => each.close()));
	for (const way of ways) way.close();
	await etcd.stop();
	const sum = (of: (counter: Counter) => number): number => counters.reduce((total, counter) => total + of(counter), 0);
	const [acknowledged, unknown] = [sum((each) => each.acknowledged), sum((each) => each.unknown)];
	return { acknowledged, unknown, reads: run.reads, problems: run.problems };
}

/** Kills etcd, or cuts the way of a store, for a moment. */
async function cause(random: SeededRandom, etcd: EtcdProcess, ways: readonly CutWay[]): Promise<void> {
	const way = ways[Math.floor(random.next() * (ways.length + 1))];
	if (way === undefined) {
		await etcd.kill();
		await etcd.restart();
		return;
	}
	way.cut();
	way.mend();
}

/** Resolves when there were so many more raises. */
async function raised({ counters }: Run): Promise<void> {
	const total = (): number => counters.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
	const before = total();
	await eventually(
		() => Promise.resolve(total() - before),
		(more) => more >= RAISES_PER_FAULT,
		{ what: "nothing was raised any more", withinMs: 60_000 },
	);
}

/** Reads and raises one counter, again and again. */
async function work(run: Run, store: Store, counter: Counter): Promise<void> {
	while (!run.isOver) {
		const least = counter.acknowledged;
		const value = await readCounter(store, counter).catch(() => undefined);
		if (value === undefined) continue;
		run.reads++;
		if (value.count < least) run.problems.push(`${counter.key}: read ${value.count} after ${least} were acknowledged`);
		const write = {
			kind: "put",
			space: SPACE,
			key: counter.key,
			object: counterObject(counter, value.count + 1),
		} as const;
		try {
			const result = await store.commit([write], [{ space: SPACE, key: counter.key, expected: value.revision }]);
			if (result.kind === "committed") counter.acknowledged++;
		} catch {
			counter.unknown++;
		}
	}
}

async function endProblems(store: Store, counter: Counter): Promise<readonly string[]> {
	const value = await eventually(
		() => readCounter(store, counter).catch(() => undefined),
		(found) => found !== undefined,
	);
	const count = value?.count ?? 0;
	const { key, acknowledged, unknown } = counter;
	if (count >= acknowledged && count <= acknowledged + unknown) return [];
	return [`${key}: ends at ${count}, of ${acknowledged} acknowledged and ${unknown} unknown`];
}

async function readCounter(
	store: Store,
	{ key }: Counter,
): Promise<{ readonly count: number; readonly revision: number }> {
	await store.reach();
	const entry = store.space(SPACE).get(key);
	return { count: Number(entry?.object.metadata.labels?.["count"] ?? 0), revision: entry?.modRevision ?? 0 };
}

function counterObject({ key }: Counter, count: number): KubeObject {
	const [namespace = "", name = ""] = key.split("/");
	const creationTimestamp = "2026-01-01T00:00:00Z";
	const labels = { count: String(count) };
	return {
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: { name, namespace, uid: "u", resourceVersion: "", creationTimestamp, labels },
	};
}
