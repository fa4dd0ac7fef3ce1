/**
 * Work that answers for the moment when it began, shared by all who ask before that.
 *
 *     a asks ─┐ turn 1 ........ a is answered
 *      b asks ──┐              └ turn 2 ........ b and c are answered
 *      c asks ────┐
 *
 * Who comes while a turn is under way cannot have its answer, which may be older than the question.
 */
export class SharedTurn<T> {
	readonly #work: () => Promise<T>;
	#isUnderWay = false;
	#next: Promise<T> | undefined;
	/** Begins the next turn; there is one who waits for it. */
	#begin: (() => void) | undefined;

	constructor(work: () => Promise<T>) {
		this.#work = work;
	}

	ask(): Promise<T> {
		if (!this.#isUnderWay) return this.#turn();
		this.#next ??= new Promise<void>((resolve) => {
			this.#begin = resolve;
		}).then(() => this.#turn());
		return this.#next;
	}

	async #turn(): Promise<T> {
		this.#isUnderWay = true;
		try {
			return await this.#work();
		} finally {
			this.#isUnderWay = false;
			this.#next = undefined;
			const begin = this.#begin;
			this.#begin = undefined;
			if (begin !== undefined) {
				// Until it has begun, others may share it no more than one that is under way.
				this.#isUnderWay = true;
				begin();
			}
		}
	}
}
