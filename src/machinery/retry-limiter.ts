import { TokenBucket } from "./token-bucket.ts";

/**
 * How long a failed key waits before its next try: the longer of an exponential delay of its own
 * and a token bucket that all keys of the queue share. (client-go's default controller limiter.)
 */
export interface RetryLimits {
	/** Delay after the first failure; doubles with each further one in a row. */
	readonly firstDelayMs: number;
	readonly delayMsMax: number;
	readonly perSecond: number;
	readonly burst: number;
}

/** client-go's defaults: 5 ms to 1000 s per key, 10 per second with bursts of 100 over all keys. */
export const DEFAULT_RETRY_LIMITS: RetryLimits = { firstDelayMs: 5, delayMsMax: 1_000_000, perSecond: 10, burst: 100 };

/** Counts failures in a row by key. A key without failures takes no memory. */
export class RetryLimiter<Key> {
	readonly #limits: RetryLimits;
	readonly #bucket: TokenBucket;
	readonly #failures = new Map<Key, number>();

	constructor(limits: RetryLimits = DEFAULT_RETRY_LIMITS) {
		this.#limits = limits;
		this.#bucket = new TokenBucket(limits.perSecond, limits.burst);
	}

	/** Counts one more failure of `key` and returns how long it has to wait. */
	delayMs(key: Key, nowMs: number): number {
		const failures = this.failures(key);
		this.#failures.set(key, failures + 1);
		const exponentialMs = Math.min(this.#limits.firstDelayMs * 2 ** failures, this.#limits.delayMsMax);
		return Math.max(exponentialMs, this.#bucket.take(nowMs));
	}

	failures(key: Key): number {
		return this.#failures.get(key) ?? 0;
	}

	forget(key: Key): void {
		this.#failures.delete(key);
	}
}
