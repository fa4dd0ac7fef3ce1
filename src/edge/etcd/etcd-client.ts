/** etcd's API, as much of it as a store needs: typed, timed and counted. */
import type { Clock } from "../../kernel/clock.ts";
import type { Counter, Histogram, Metrics } from "../../kernel/metrics.ts";
import type { Revision } from "../../store/entry.ts";
import type { EtcdChannel, EtcdStream, StreamEvents } from "./etcd-channel.ts";
import { EtcdError } from "./etcd-error.ts";
import {
	decodeLeaseGrantResponse,
	decodeRangeResponse,
	decodeTxnResponse,
	decodeWatchResponse,
	encodeCompactionRequest,
	encodeLeaseGrantRequest,
	encodeRangeRequest,
	encodeTxnRequest,
	encodeWatchRequest,
	type RangeRequest,
	type RangeResponse,
	type TxnRequest,
	type TxnResponse,
	type WatchCreateRequest,
	type WatchResponse,
} from "./messages.ts";

export interface WatchEvents extends Pick<StreamEvents, "end"> {
	response(response: WatchResponse): void;
}

/** etcd itself gives up on what it cannot agree on after about 7 s, and says so. */
const READ_MS = 10_000;
const WRITE_MS = 10_000;
const COMPACT_MS = 60_000;

type Operation = "range" | "txn" | "compact" | "lease-grant";

export class EtcdClient {
	readonly #channel: EtcdChannel;
	readonly #clock: Clock;
	readonly #durations: Histogram;
	readonly #requests: Counter;
	readonly #errors: Counter;

	constructor(channel: EtcdChannel, { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }) {
		this.#channel = channel;
		this.#clock = clock;
		const labelNames = ["operation"];
		this.#durations = metrics.histogram({
			name: "etcd_request_duration_seconds",
			help: "Time of requests to etcd by operation.",
			labelNames,
			buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
		});
		this.#requests = metrics.counter({
			name: "etcd_requests_total",
			help: "Requests to etcd by operation.",
			labelNames,
		});
		this.#errors = metrics.counter({
			name: "etcd_request_errors_total",
			help: "Requests to etcd that failed, by operation.",
			labelNames,
		});
	}

	/** Linearizable: nothing that was acknowledged before it is missing. */
	async range(request: RangeRequest, deadlineMs: number = READ_MS): Promise<RangeResponse> {
		const options = { deadlineMs, isRepeatable: true };
		return decodeRangeResponse(await this.#call("range", "KV/Range", encodeRangeRequest(request), options));
	}

	/** Never sent twice. */
	async txn(request: TxnRequest): Promise<TxnResponse> {
		const options = { deadlineMs: WRITE_MS, isRepeatable: false };
		return decodeTxnResponse(await this.#call("txn", "KV/Txn", encodeTxnRequest(request), options));
	}

	async compact(revision: Revision): Promise<void> {
		const options = { deadlineMs: COMPACT_MS, isRepeatable: false };
		await this.#call("compact", "KV/Compact", encodeCompactionRequest(revision), options);
	}

	/** The number of a new lease. */
	async grantLease(ttlSeconds: number): Promise<bigint> {
		const options = { deadlineMs: WRITE_MS, isRepeatable: false };
		const request = encodeLeaseGrantRequest(ttlSeconds);
		return decodeLeaseGrantResponse(await this.#call("lease-grant", "Lease/LeaseGrant", request, options));
	}

	async watch(request: WatchCreateRequest, events: WatchEvents): Promise<EtcdStream> {
		const stream = await this.#channel.open("/etcdserverpb.Watch/Watch", {
			message(bytes) {
				const response = decoded(bytes);
				if (response instanceof EtcdError) events.end(response);
				else events.response(response);
			},
			end: (error) => events.end(error),
		});
		stream.write(encodeWatchRequest(request));
		return stream;
	}

	async #call(
		operation: Operation,
		method: string,
		request: Uint8Array,
		options: { readonly deadlineMs: number; readonly isRepeatable: boolean },
	): Promise<Uint8Array> {
		const labels = { operation };
		const startedMs = this.#clock.monotonicMs();
		this.#requests.add(1, labels);
		try {
			return await this.#channel.call(`/etcdserverpb.${method}`, request, options);
		} catch (error) {
			this.#errors.add(1, labels);
			throw error;
		} finally {
			this.#durations.observe((this.#clock.monotonicMs() - startedMs) / 1_000, labels);
		}
	}
}

/** What comes over a stream belongs to no call that could reject. */
function decoded(bytes: Uint8Array): WatchResponse | EtcdError {
	try {
		return decodeWatchResponse(bytes);
	} catch (error) {
		return new EtcdError("Internal", `a response that cannot be read: ${String(error)}`, true);
	}
}
