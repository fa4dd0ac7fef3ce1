/** Turns of the event loop that large requests share: each of them goes one step, and one of them in each turn. */
import type { Clock } from "../../kernel/clock.ts";

export class Turns {
	readonly #clock: Pick<Clock, "yield">;
	#last: Promise<void> = Promise.resolve();

	constructor(clock: Pick<Clock, "yield">) {
		this.#clock = clock;
	}

	/** Ends when all that asked before have gone their step, and others were served after each. */
	next(): Promise<void> {
		this.#last = this.#last.then(() => this.#clock.yield());
		return this.#last;
	}
}
