/** What passes while it is open, and waits while it is closed. */
export class Gate {
	#opened: Promise<void> | undefined;
	#open: () => void = () => undefined;

	get isClosed(): boolean {
		return this.#opened !== undefined;
	}

	close(): void {
		this.#opened ??= new Promise((resolve) => (this.#open = resolve));
	}

	open(): void {
		this.#opened = undefined;
		this.#open();
	}

	/** Resolves when the gate is open, or the signal aborts. */
	async passed(signal?: AbortSignal): Promise<void> {
		while (this.#opened !== undefined && signal?.aborted !== true) {
			const opened = this.#opened;
			await (signal === undefined ? opened : Promise.race([opened, aborted(signal)]));
		}
	}
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve();
		else signal.addEventListener("abort", () => resolve(), { once: true });
	});
}
