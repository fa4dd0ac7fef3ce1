/** The engine over an etcd whose every answer the test gives, on virtual time. */
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Write } from "../../store/entry.ts";
import { KeyLayout } from "../../store/etcd/key-layout.ts";
import { Store } from "../../store/store.ts";
import { View } from "../../store/view.ts";
import { metadataOf } from "../../testing/api-objects.ts";
import { RecordingMetrics } from "../../testing/recording-metrics.ts";
import { silentLogger } from "../../testing/silent.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { WatchEvents } from "./etcd-client.ts";
import { EtcdEngine } from "./etcd-engine.ts";
import { EtcdError } from "./etcd-error.ts";
import { ValueReader } from "./etcd-state.ts";
import { EventLeases } from "./event-leases.ts";
import type { KeyValue, RangeResponse, TxnResponse, WatchedEvent, WatchResponse } from "./messages.ts";
import { STORED_SPACES, storedValue } from "./stored-values.ts";

const SPACE = "/registry/configmaps/";
const START = { clusterId: 7n, revision: 100 };

function object(name: string): KubeObject {
	return { apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(name) };
}

const put = (name: string): Write => ({ kind: "put", space: SPACE, key: `default/${name}`, object: object(name) });

function keyValue(name: string, modRevision: number, value = storedValue(object(name))): KeyValue {
	const key = `${SPACE}default/${name}`;
	return { key, value, createRevision: modRevision, modRevision, version: 1, lease: 0n };
}

/** Calls wait until the test answers them, oldest first. */
class HeldClient {
	readonly ranges: ((answer: RangeResponse | Error) => void)[] = [];
	readonly txns: ((answer: TxnResponse | Error) => void)[] = [];
	/** Watches that are open, with the revision that each starts from. */
	readonly watches: { readonly startRevision: number; readonly events: WatchEvents; isCanceled: boolean }[] = [];

	range(): Promise<RangeResponse> {
		return held(this.ranges);
	}

	txn(): Promise<TxnResponse> {
		return held(this.txns);
	}

	async watch({ startRevision }: { readonly startRevision: number }, events: WatchEvents) {
		const watch = { startRevision, events, isCanceled: false };
		this.watches.push(watch);
		const cancel = (): void => {
			watch.isCanceled = true;
			events.end(new EtcdError("Canceled", "canceled", true));
		};
		return { write: () => undefined, cancel };
	}
}

function held<T>(waiting: ((answer: T | Error) => void)[]): Promise<T> {
	return new Promise((resolve, reject) => {
		waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
	});
}

class World {
	readonly clock: VirtualClock = new VirtualClock();
	readonly client: HeldClient = new HeldClient();
	readonly metrics: RecordingMetrics = new RecordingMetrics();
	readonly view: View = new View(START.revision);
	readonly engine: EtcdEngine;
	readonly store: Store;
	readonly stopping: AbortController = new AbortController();

	constructor() {
		const { client, clock, metrics } = this;
		const ports = { clock, metrics, log: silentLogger };
		const leases = new EventLeases({ grantLease: () => Promise.resolve(1n) }, clock);
		const layout = new KeyLayout("/registry", STORED_SPACES);
		this.engine = new EtcdEngine({ client, layout, reader: new ValueReader(ports), leases, ...ports }, START);
		this.store = new Store(this.view, this.engine);
		void this.engine.run(this.stopping.signal);
	}

	/** With its watch open. */
	static async start(): Promise<World> {
		const world = new World();
		await world.clock.settle();
		world.sends();
		return world;
	}

	sends(...events: readonly WatchedEvent[]): void {
		this.watch({ events });
	}

	watch(response: Partial<WatchResponse>): void {
		const quiet = {
			header: START,
			isCanceled: false,
			compactRevision: 0,
			cancelReason: "",
			isFragment: false,
			events: [],
		};
		this.client.watches.at(-1)?.events.response({ ...quiet, ...response });
	}

	answersRange(revision: number, kvs: readonly KeyValue[] = []): void {
		this.client.ranges.shift()?.({ header: { ...START, revision }, kvs, more: false });
	}

	answersTxn(revision: number, answer: Partial<TxnResponse> = {}): void {
		const responses = [{ kind: "put" }] as const;
		this.client.txns.shift()?.({ header: { ...START, revision }, succeeded: true, responses, ...answer });
	}

	/** What has become of it, when all that can happen has. */
	async now<T>(work: Promise<T>): Promise<T | string> {
		let state: T | string = "waits";
		work.then(
			(value) => {
				state = value;
			},
			(error: unknown) => {
				state = String(error);
			},
		);
		await this.clock.settle();
		return state;
	}
}

const event = (name: string, revision: number): WatchedEvent => ({ kind: "put", kv: keyValue(name, revision) });

describe("EtcdEngine", () => {
	test("a write is answered when the watch has brought it, and not before", async () => {
		const world = await World.start();
		const written = world.store.commit([put("a")]);
		await world.clock.settle();
		world.answersTxn(101);
		expect(await world.now(written)).toBe("waits");
		world.sends(event("a", 101));
		expect(await world.now(written)).toMatchObject({ kind: "committed", revision: 101 });
	});

	test("a conflict is answered when what it conflicts with can be read", async () => {
		const world = await World.start();
		const written = world.store.commit([put("a")], [{ space: SPACE, key: "default/a", expected: 0 }]);
		await world.clock.settle();
		const responses = [{ kind: "range", kvs: [keyValue("a", 101)] }] as const;
		world.answersTxn(101, { succeeded: false, responses });
		expect(await world.now(written)).toBe("waits");
		world.sends(event("a", 101));
		expect(await world.now(written)).toMatchObject({ kind: "conflict", actual: { modRevision: 101 } });
	});

	test("the newest state is there when the watch is where etcd was when it was asked", async () => {
		const world = await World.start();
		const reached = world.engine.reach();
		world.answersRange(102);
		world.sends(event("a", 101));
		expect(await world.now(reached)).toBe("waits");
		// A key of somebody else: nothing changes here but the revision.
		world.sends({ kind: "put", kv: { ...keyValue("a", 102), key: "/other" } });
		expect(await world.now(reached)).toBeUndefined();
		expect([world.view.revision, world.store.space(SPACE).size]).toEqual([102, 1]);
	});

	test("those who ask while a question is under way share the next one", async () => {
		const world = await World.start();
		const asked = [world.engine.reach(), world.engine.reach(), world.engine.reach()];
		expect(world.client.ranges).toHaveLength(1);
		world.answersRange(100);
		await world.clock.settle();
		expect(await Promise.all(asked.map((each) => world.now(each)))).toEqual([undefined, "waits", "waits"]);
		expect(world.client.ranges).toHaveLength(1);
		world.answersRange(100);
		expect(await world.now(Promise.all(asked))).toHaveLength(3);
	});

	test("a watch that brings nothing is begun again, and who waited for it is told 504", async () => {
		const world = await World.start();
		const reached = world.engine.reach().then(
			() => "reached",
			({ code }: { readonly code: number }) => code,
		);
		world.answersRange(105);
		await world.clock.advance(5_000);
		expect(await world.now(reached)).toBe(504);
		expect(world.client.watches.map(({ startRevision, isCanceled }) => [startRevision, isCanceled])).toEqual([
			[101, true],
			[101, false],
		]);
	});

	test("a watch that breaks off goes on behind the last whole revision, and nothing comes twice", async () => {
		const world = await World.start();
		world.sends(event("a", 101));
		world.watch({ events: [event("b", 102)], isFragment: true });
		world.client.watches[0]?.events.end(new EtcdError("Unavailable", "broken", true));
		await world.clock.advance(1_000);
		expect(world.client.watches[1]?.startRevision).toBe(102);
		world.sends(event("a", 101), event("b", 102));
		expect(world.view.revision).toBe(102);
		expect(world.metrics.values.get("sliceplane_etcd_reconnects_total")).toBe(1);
	});

	test("what is compacted before it was seen is replaced by the whole state", async () => {
		const world = await World.start();
		world.sends(event("gone", 101));
		world.watch({ isCanceled: true, compactRevision: 150 });
		await world.clock.settle();
		world.answersRange(160, [keyValue("a", 155)]);
		await world.clock.advance(1_000);
		expect([world.view.revision, world.view.compacted]).toEqual([160, 160]);
		expect(world.store.space(SPACE).get("default/gone")).toBeUndefined();
		expect(world.client.watches[1]?.startRevision).toBe(161);
	});

	test("an own object is taken as it was given, with what it shares; another's is read", async () => {
		const world = await World.start();
		const shared = Object.freeze({ a: "b" });
		const given = { ...object("a"), data: shared };
		const written = world.store.commit([{ kind: "put", space: SPACE, key: "default/a", object: given }]);
		await world.clock.settle();
		world.sends({ kind: "put", kv: keyValue("a", 101, storedValue(given)) }, event("b", 102));
		world.answersTxn(101);
		await world.now(written);
		expect(world.store.space(SPACE).get("default/a")?.object).toHaveProperty("data", shared);
		expect(world.store.space(SPACE).get("default/b")?.object.metadata.resourceVersion).toBe("102");
	});

	test("a value that cannot be read is as if nothing were there", async () => {
		const world = await World.start();
		world.sends(event("a", 101));
		world.sends({ kind: "put", kv: keyValue("a", 102, new Uint8Array([1])) });
		expect(world.store.space(SPACE).get("default/a")).toBeUndefined();
		expect(world.metrics.values.get(`apiserver_storage_decode_errors_total{resource=${SPACE}}`)).toBe(1);
	});

	test("a write whose outcome is not known is an error, and is sent once", async () => {
		const world = await World.start();
		const written = world.store.commit([put("a")]);
		await world.clock.settle();
		world.client.txns.shift()?.(new EtcdError("Unavailable", "Connection dropped", true));
		expect(await world.now(written)).toContain("rpc error: code = Unavailable");
		expect(world.client.txns).toHaveLength(0);
	});

	test("is a problem when etcd does not answer, and none when it does again", async () => {
		const world = await World.start();
		expect(world.engine.problem).toBeUndefined();
		await world.clock.advance(5_000);
		world.client.ranges.shift()?.(new EtcdError("DeadlineExceeded", "late", true));
		await world.clock.settle();
		expect(world.engine.problem).toBe("etcd does not answer");
		await world.clock.advance(5_000);
		world.answersRange(100);
		await world.clock.settle();
		expect(world.engine.problem).toBeUndefined();
	});

	test.each([
		[{ ...START, clusterId: 8n }, "etcd is another one than at the start"],
		[{ ...START, revision: 99 }, "etcd went back to revision 99 from 100"],
	])("%s ends it: nothing is believed, and nothing written, from then on", async (header, why) => {
		const world = await World.start();
		const reached = world.engine.reach();
		world.client.ranges.shift()?.({ header, kvs: [], more: false });
		expect(await world.now(reached)).toContain(why);
		expect(await world.now(world.store.commit([put("a")]))).toContain("start this server again");
		expect(world.client.txns).toHaveLength(0);
		expect(world.engine.problem).toBe(why);
	});
});
