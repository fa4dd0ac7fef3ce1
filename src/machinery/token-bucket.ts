/** Hands out permits at a steady rate, after an initial burst. It may be in debt: takers then wait. */
export class TokenBucket {
	readonly #perSecond: number;
	readonly #burst: number;
	#tokens: number;
	#filledAtMs = 0;

	constructor(perSecond: number, burst: number) {
		this.#perSecond = perSecond;
		this.#burst = burst;
		this.#tokens = burst;
	}

	/** Takes one token, now or in advance; returns in how many milliseconds it is there. */
	take(nowMs: number): number {
		this.#fill(nowMs);
		this.#tokens--;
		return this.#msUntil(0);
	}

	/** Takes one token if there is one; returns in how many milliseconds there will be one, 0 when it was taken. */
	takeNow(nowMs: number): number {
		this.#fill(nowMs);
		const waitMs = this.#msUntil(1);
		if (waitMs === 0) this.#tokens--;
		return waitMs;
	}

	#fill(nowMs: number): void {
		const filled = ((nowMs - this.#filledAtMs) / 1000) * this.#perSecond;
		this.#tokens = Math.min(this.#burst, this.#tokens + filled);
		this.#filledAtMs = nowMs;
	}

	#msUntil(tokens: number): number {
		return this.#tokens >= tokens ? 0 : ((tokens - this.#tokens) / this.#perSecond) * 1000;
	}
}
