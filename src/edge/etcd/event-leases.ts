/** Events go by themselves: each is put with a lease, and those of about a minute share one. */
import type { Clock } from "../../kernel/clock.ts";
import type { EtcdClient } from "./etcd-client.ts";

/** `--event-ttl` of a real server, at its default. */
const LIFE_SECONDS = 60 * 60;
/** What a real server takes: a lease is given to what comes in this time, and to no more than so many Events. */
const SHARED_SECONDS = 60;
const SHARED_MAX = 1_000;

export class EventLeases {
	readonly #client: Pick<EtcdClient, "grantLease">;
	readonly #clock: Clock;
	#lease: Promise<bigint> | undefined;
	#untilMs = 0;
	#uses = 0;

	constructor(client: Pick<EtcdClient, "grantLease">, clock: Clock) {
		this.#client = client;
		this.#clock = clock;
	}

	/** A lease that lives for an hour at least. */
	lease(): Promise<bigint> {
		const nowMs = this.#clock.monotonicMs();
		this.#uses++;
		if (this.#lease !== undefined && nowMs < this.#untilMs && this.#uses <= SHARED_MAX) return this.#lease;
		this.#uses = 1;
		this.#untilMs = nowMs + SHARED_SECONDS * 1_000;
		const granted = this.#client.grantLease(LIFE_SECONDS + SHARED_SECONDS);
		this.#lease = granted;
		granted.catch(() => this.forget());
		return granted;
	}

	/** The lease is no longer good: the next one is new. */
	forget(): void {
		this.#lease = undefined;
	}
}
