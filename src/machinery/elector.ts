/** Drives the election over an ApiClient: tries to lead, goes on leading, and says when that is over. */
import { LEASES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Gauge, Metrics } from "../kernel/metrics.ts";
import type { Random } from "../kernel/random.ts";
import type { ApiClient } from "./api-client.ts";
import {
	answered,
	begin,
	type ElectionAnswer,
	type ElectionOptions,
	type ElectionRequest,
	type ElectionState,
	type ElectionStep,
	type Instant,
	isLeading,
	RETRY_JITTER,
	released,
} from "./leader-election.ts";

export interface ElectorPorts {
	/** For the Lease alone: its requests wait for nobody else's. */
	readonly client: ApiClient;
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly metrics: Metrics;
}

export interface ElectorOptions extends ElectionOptions {
	readonly namespace: string;
	/** Told who leads, when that changes and it is another one. */
	readonly standsBy?: (holder: string) => void;
}

/** Less than that is too little for some clocks to show that time has passed. */
const WAIT_MS_MIN = 1;

export class Elector {
	readonly #ports: ElectorPorts;
	readonly #options: ElectorOptions;
	readonly #status: Gauge;
	#state: ElectionState = {};
	/** Of the leader that was told of last. */
	#told = "";

	constructor(ports: ElectorPorts, options: ElectorOptions) {
		this.#ports = ports;
		this.#options = options;
		this.#status = ports.metrics.gauge({
			name: "leader_election_master_status",
			help: "1 for the leader, 0 for who stands by.",
			labelNames: ["name"],
		});
		this.#status.set(0, { name: options.name });
	}

	/** Asked before every write: false from the renew deadline on, whether or not somebody has noticed. */
	get isLeading(): boolean {
		return isLeading(this.#state, this.#now(), this.#options);
	}

	/** Resolves when it leads. Rejects when `signal` aborts first. */
	async acquire(signal: AbortSignal): Promise<void> {
		const { clock, random } = this.#ports;
		const { retryPeriodMs } = this.#options;
		for (;;) {
			signal.throwIfAborted();
			await this.#attempt(signal);
			if (this.isLeading) break;
			this.#tellLeader();
			await clock.sleep(retryPeriodMs * (1 + random.next() * RETRY_JITTER), signal);
		}
		this.#status.set(1, { name: this.#options.name });
	}

	/** Goes on leading until `signal` aborts; resolves early, with the reason, when the lead is lost. */
	async hold(signal: AbortSignal): Promise<string | undefined> {
		const { clock } = this.#ports;
		const { retryPeriodMs, name } = this.#options;
		while (!signal.aborted) {
			await clock.sleep(Math.max(WAIT_MS_MIN, Math.min(retryPeriodMs, this.#leftMs())), signal).catch(() => undefined);
			if (signal.aborted) return undefined;
			await this.#attempt(signal);
			if (this.#state.lost === undefined) continue;
			this.#status.set(0, { name });
			return this.#state.lost;
		}
		return undefined;
	}

	/** When all work is done: the next one need not wait. Never rejects. */
	async release(): Promise<void> {
		const { client, log } = this.#ports;
		const lease = released(this.#state, this.#now(), this.#options);
		if (lease === undefined) return;
		this.#state = { ...this.#state, lost: "it was released" };
		this.#status.set(0, { name: this.#options.name });
		await this.#inTime(this.#limitMs(), new AbortController().signal, (signal) =>
			client.update(LEASES, lease, { signal }),
		).catch((error: unknown) => log.info("The Lease was not released", { lease: this.#options.name, error }));
	}

	async #attempt(signal: AbortSignal): Promise<void> {
		let step: ElectionStep = begin(this.#state, this.#now(), this.#options);
		this.#state = step.state;
		while (step.request !== undefined && !signal.aborted) {
			const { request } = step;
			const asked = this.#now();
			const answer = await this.#ask(request, signal);
			step = answered(this.#state, request, answer, { asked, now: this.#now() }, this.#options);
			this.#state = step.state;
		}
	}

	async #ask(request: ElectionRequest, signal: AbortSignal): Promise<ElectionAnswer> {
		const { client, log } = this.#ports;
		const { namespace, name } = this.#options;
		const limitMs = Math.min(this.#limitMs(), this.#state.renewed === undefined ? Infinity : this.#leftMs());
		const send = (within: AbortSignal): Promise<Lease> => {
			if (request.kind === "get") return client.get(LEASES, { namespace, name }, within);
			if (request.kind === "create") return client.create(LEASES, namespace, request.lease, { signal: within });
			return client.update(LEASES, request.lease, { signal: within });
		};
		try {
			return { kind: "lease", lease: await this.#inTime(limitMs, signal, send) };
		} catch (error) {
			if (hasReason(error, "NotFound") && request.kind !== "create") return { kind: "missing" };
			if (hasReason(error, "Conflict") || hasReason(error, "AlreadyExists")) return { kind: "conflict" };
			if (!signal.aborted) log.warn("Asking for the Lease failed", { lease: `${namespace}/${name}`, error });
			return { kind: "failed" };
		}
	}

	/** client-go's limit: an attempt that hangs leaves time for another. */
	#limitMs(): number {
		return this.#options.renewDeadlineMs / 2;
	}

	async #inTime<T>(limitMs: number, signal: AbortSignal, send: (within: AbortSignal) => Promise<T>): Promise<T> {
		const over = new AbortController();
		const end = (): void => over.abort(signal.reason);
		signal.addEventListener("abort", end, { once: true });
		const done = new AbortController();
		this.#ports.clock.sleep(Math.max(0, limitMs), done.signal).then(
			() => over.abort(new Error(`no answer in ${limitMs} ms`)),
			() => undefined,
		);
		try {
			return await send(over.signal);
		} finally {
			done.abort();
			signal.removeEventListener("abort", end);
		}
	}

	/** Until the renew deadline. */
	#leftMs(): number {
		const { renewed } = this.#state;
		if (renewed === undefined) return 0;
		return renewed.monotonicMs + this.#options.renewDeadlineMs - this.#ports.clock.monotonicMs();
	}

	#now(): Instant {
		const { clock } = this.#ports;
		return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
	}

	#tellLeader(): void {
		const { holderIdentity: holder = "" } = this.#state.seen?.lease.spec ?? {};
		if (holder === this.#told) return;
		this.#told = holder;
		if (holder !== "") this.#options.standsBy?.(holder);
	}
}
