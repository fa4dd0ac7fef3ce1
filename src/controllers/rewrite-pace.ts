/** Keeps servers that see one object otherwise from rewriting it against each other without a pause. */

const REST_MS_MIN = 500;
const REST_MS_MAX = 30_000;

export class RewritePace {
	#wroteMs = Number.NEGATIVE_INFINITY;
	#pauseMs: number = REST_MS_MIN;

	/** How long to wait before a write; 0 lets one through, and counts it. A write soon after the last doubles the pause. */
	restMs(nowMs: number): number {
		const sinceMs = nowMs - this.#wroteMs;
		if (sinceMs < this.#pauseMs) return this.#pauseMs - sinceMs;
		this.#pauseMs = sinceMs < 2 * this.#pauseMs ? Math.min(REST_MS_MAX, this.#pauseMs * 2) : REST_MS_MIN;
		this.#wroteMs = nowMs;
		return 0;
	}
}
