/** So many at once, in the order in which they came. */
import { ApiError } from "../../api/status.ts";

export class Places {
	readonly #atOnceMax: number;
	readonly #waitingMax: number;
	#inside = 0;
	#waiting: (() => void)[] = [];
	#idle: (() => void)[] = [];

	constructor(atOnceMax: number, waitingMax: number) {
		this.#atOnceMax = atOnceMax;
		this.#waitingMax = waitingMax;
	}

	/** Those inside, and those that wait. */
	get size(): number {
		return this.#inside + this.#waiting.length;
	}

	/** @throws {ApiError} `TooManyRequests` */
	enter(): Promise<void> | undefined {
		if (this.#inside < this.#atOnceMax) {
			this.#inside++;
			return undefined;
		}
		if (this.#waiting.length >= this.#waitingMax) {
			const why = `${this.#waitingMax} writes wait for etcd already: try again later`;
			throw new ApiError("TooManyRequests", why, { details: { retryAfterSeconds: 1 } });
		}
		return new Promise((resolve) => this.#waiting.push(resolve));
	}

	leave(): void {
		const next = this.#waiting.shift();
		if (next !== undefined) {
			next();
			return;
		}
		this.#inside--;
		if (this.#inside > 0) return;
		for (const resolve of this.#idle) resolve();
		this.#idle = [];
	}

	whenEmpty(): Promise<void> {
		if (this.#inside === 0) return Promise.resolve();
		return new Promise((resolve) => this.#idle.push(resolve));
	}
}
