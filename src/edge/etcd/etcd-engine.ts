/**
 * The engine that has etcd as its log, which others may write, too.
 *
 *     append   one transaction; answered when the watch has brought its revision
 *     reach    one linearizable read of the current revision, shared by all who wait; done when the watch is there
 *
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/2340-Consistent-reads-from-cache
 */
import { ApiError, tooLargeResourceVersion } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { assert, assertDefined } from "../../kernel/assert.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Gauge, Metrics } from "../../kernel/metrics.ts";
import type { AppendResult, Engine, LogSink, ResetSink } from "../../store/engine.ts";
import type { Commit, Place, Revision, Write } from "../../store/entry.ts";
import type { KeyLayout } from "../../store/etcd/key-layout.ts";
import { RevisionWaiters } from "../../store/etcd/revision-waiters.ts";
import type { EtcdClient } from "./etcd-client.ts";
import { apiErrorOf, EtcdError } from "./etcd-error.ts";
import { EtcdFollower } from "./etcd-follower.ts";
import { readState, type ValueReader } from "./etcd-state.ts";
import type { EventLeases } from "./event-leases.ts";
import type { Header, Op, TxnRequest, TxnResponse, WatchedEvent } from "./messages.ts";
import { OwnWrites } from "./own-writes.ts";
import { Places } from "./places.ts";
import { SharedTurn } from "./shared-turn.ts";

export interface EtcdEnginePorts {
	readonly client: Pick<EtcdClient, "range" | "txn" | "watch">;
	readonly layout: KeyLayout;
	readonly reader: ValueReader;
	readonly leases: EventLeases;
	readonly clock: Clock;
	readonly log: Logger;
	readonly metrics: Metrics;
}

const EVENTS = "/registry/events/";
/** How long one waits for the watch to bring what etcd has; a real server's reads take as long. */
const SEEN_MS = 3_000;
const READ_REVISION_MS = 3_000;
/** How often those who wait for too long are found, and etcd is asked whether it is there. */
const SWEEP_MS = 500;
const PROBE_MS = 5_000;
/** Transactions that are sent at once, and those that wait for a turn. */
const IN_FLIGHT_MAX = 256;
const WAITING_MAX = 10_000;

export class EtcdEngine implements Engine {
	readonly #ports: EtcdEnginePorts;
	readonly #clusterId: bigint;
	readonly #own: OwnWrites = new OwnWrites();
	readonly #waiters: RevisionWaiters = new RevisionWaiters();
	readonly #newest: SharedTurn<Header>;
	readonly #follower: EtcdFollower;
	readonly #places: Places;
	readonly #inFlight: Gauge;
	#revision: Revision;
	#sink: LogSink | undefined;
	#reset: ResetSink | undefined;
	#isAnswering = true;
	/** Why this engine is of no more use. */
	#broken: string | undefined;

	/** @param start What the view of the store begins with. */
	constructor(ports: EtcdEnginePorts, start: Header) {
		this.#ports = ports;
		this.#revision = start.revision;
		this.#clusterId = start.clusterId;
		this.#places = new Places(IN_FLIGHT_MAX, WAITING_MAX);
		this.#newest = new SharedTurn(() => this.#readNewest());
		this.#follower = new EtcdFollower(ports, {
			revision: () => this.#revision,
			take: (revision, events) => this.#take(revision, events),
			restart: () => this.#restart(),
		});
		this.#inFlight = ports.metrics.gauge({
			name: "sliceplane_etcd_transactions_in_flight",
			help: "Transactions that were sent to etcd, or wait for a turn, and are not answered.",
		});
	}

	/** Why the store does not answer; undefined when it does. */
	get problem(): string | undefined {
		if (this.#broken !== undefined) return this.#broken;
		if (!this.#isAnswering) return "etcd does not answer";
		return this.#follower.isFollowing ? undefined : "the watch of etcd is not open";
	}

	tail(from: Revision, sink: LogSink, reset: ResetSink): void {
		assert(this.#sink === undefined, "tail() twice");
		assert(from === this.#revision, "A view that is not the start");
		this.#sink = sink;
		this.#reset = reset;
	}

	/** Follows etcd until `signal` aborts. Never rejects. */
	async run(signal: AbortSignal): Promise<void> {
		await Promise.all([this.#follower.run(signal), this.#sweep(signal), this.#probe(signal)]);
	}

	async append(commit: Commit): Promise<AppendResult> {
		this.#requireWhole();
		await this.#places.enter();
		this.#inFlight.set(this.#places.size);
		const own = this.#own.begin(commit.writes, ({ space, key }) => this.#ports.layout.keyOf({ space, key }));
		try {
			const before = this.#revision;
			const response = await this.#committed(commit, own.values);
			this.#check(response.header, before);
			await this.#seen(response.header.revision);
			return resultOf(commit, response);
		} catch (error) {
			throw apiErrorOf(error);
		} finally {
			own.end();
			this.#places.leave();
			this.#inFlight.set(this.#places.size);
		}
	}

	/** @throws {ApiError} `Timeout` when the watch does not come to where etcd is. */
	async reach(): Promise<void> {
		this.#requireWhole();
		try {
			const { revision } = await this.#newest.ask();
			await this.#seen(revision);
		} catch (error) {
			throw apiErrorOf(error);
		}
	}

	/** Resolves when no transaction is under way. */
	whenIdle(): Promise<void> {
		return this.#places.whenEmpty();
	}

	/** Rejects with an EtcdError. */
	async #committed(commit: Commit, values: readonly (Uint8Array | undefined)[]): Promise<TxnResponse> {
		const hasEvents = commit.writes.some(({ kind, space }) => kind === "put" && space === EVENTS);
		const { client, leases } = this.#ports;
		if (!hasEvents) return client.txn(this.#requestOf(commit, values));
		try {
			return await client.txn(this.#requestOf(commit, values, await leases.lease()));
		} catch (error) {
			// Nothing was written: the lease is gone with an older state of etcd.
			if (!(error instanceof EtcdError && error.code === "NotFound")) throw error;
			leases.forget();
			return client.txn(this.#requestOf(commit, values, await leases.lease()));
		}
	}

	#requestOf(
		{ writes, preconditions }: Commit,
		values: readonly (Uint8Array | undefined)[],
		lease?: bigint,
	): TxnRequest {
		const { layout } = this.#ports;
		return {
			compare: preconditions.map((precondition) => ({
				key: layout.keyOf(precondition),
				target: "mod",
				equals: precondition.expected,
			})),
			success: writes.map((write, index): Op => {
				const key = layout.keyOf(write);
				if (write.kind === "delete") return { kind: "delete", key };
				const value = assertDefined(values[index], "value of a put");
				return { kind: "put", key, value, ...(lease !== undefined && write.space === EVENTS ? { lease } : {}) };
			}),
			failure: preconditions.map((place): Op => {
				return { kind: "range", range: { key: layout.keyOf(place), keysOnly: true } };
			}),
		};
	}

	async #readNewest(): Promise<Header> {
		const before = this.#revision;
		const { key } = this.#ports.layout.range;
		try {
			const { header } = await this.#ports.client.range({ key, keysOnly: true }, READ_REVISION_MS);
			this.#isAnswering = true;
			this.#check(header, before);
			return header;
		} catch (error) {
			this.#isAnswering = false;
			throw error;
		}
	}

	/** @param before What was shown when etcd was asked. @throws {ApiError} */
	#check({ clusterId, revision }: Header, before: Revision): void {
		if (clusterId !== this.#clusterId) this.#broken ??= "etcd is another one than at the start";
		else if (revision < before) this.#broken ??= `etcd went back to revision ${revision} from ${before}`;
		this.#requireWhole();
	}

	/** @throws {ApiError} When etcd has gone back behind what was shown already: nothing here can be believed then. */
	#requireWhole(): void {
		if (this.#broken === undefined) return;
		throw new ApiError("InternalError", `Internal error occurred: ${this.#broken}: start this server again`);
	}

	/** Resolves when the view has the revision. */
	#seen(revision: Revision): Promise<void> {
		if (this.#revision >= revision) return Promise.resolve();
		return this.#waiters.until(revision, this.#ports.clock.monotonicMs());
	}

	#take(revision: Revision, events: readonly WatchedEvent[]): void {
		const writes = events.flatMap((event) => this.#writeOf(event) ?? []);
		assertDefined(this.#sink, "the sink of tail()")(revision, writes);
		this.#revision = revision;
		this.#waiters.reached(revision);
	}

	#writeOf({ kind, kv }: WatchedEvent): Write | undefined {
		const place: Place | undefined = this.#ports.layout.placeOf(kv.key);
		if (place === undefined) return undefined;
		const object: KubeObject | undefined =
			kind === "put" ? (this.#own.objectOf(kv) ?? this.#ports.reader.read(place, kv)) : undefined;
		return object === undefined ? { kind: "delete", ...place } : { kind: "put", ...place, object };
	}

	async #restart(): Promise<void> {
		const { client, layout, reader, log } = this.#ports;
		const { revision, clusterId, entries } = await readState(client, layout, reader);
		this.#check({ revision, clusterId }, this.#revision);
		log.warn("etcd has forgotten what came after the last revision known; watchers start anew", {
			from: this.#revision,
			revision,
		});
		assertDefined(this.#reset, "the reset of tail()")(revision, entries);
		this.#revision = revision;
		this.#waiters.reached(revision);
	}

	/** Whoever has waited for too long for the watch is told so, and the watch begun again. */
	async #sweep(signal: AbortSignal): Promise<void> {
		const { clock } = this.#ports;
		while (!signal.aborted) {
			await clock.sleep(SWEEP_MS, signal).catch(() => undefined);
			const late = this.#waiters.expire(clock.monotonicMs() - SEEN_MS, (revision) =>
				tooLargeResourceVersion(revision, this.#revision),
			);
			if (late > 0) this.#follower.renew();
		}
		this.#waiters.expire(Number.POSITIVE_INFINITY, () => new EtcdError("Unavailable", "the store is closed", true));
	}

	/** Readiness must be known before somebody asks. */
	async #probe(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			await this.#ports.clock.sleep(PROBE_MS, signal).catch(() => undefined);
			if (!signal.aborted) await this.#newest.ask().catch(() => undefined);
		}
	}
}

function resultOf({ writes, preconditions }: Commit, response: TxnResponse): AppendResult {
	const { revision } = response.header;
	if (response.succeeded) {
		const isChanged = response.responses.some(
			(each) => each.kind === "put" || (each.kind === "delete" && each.deleted > 0),
		);
		assert(writes.length > 0, "A commit must write at least one key");
		return { kind: isChanged ? "appended" : "unchanged", revision };
	}
	const place = preconditions.find(({ expected }, index) => {
		const found = response.responses[index];
		const actual = found?.kind === "range" ? (found.kvs[0]?.modRevision ?? 0) : 0;
		return actual !== expected;
	});
	return { kind: "conflict", place: assertDefined(place, "precondition that does not hold") };
}
