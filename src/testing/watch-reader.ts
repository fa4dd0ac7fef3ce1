/** Reads a watch of an ApiClient in the background, so that a test can ask for the next events. */
import type { KubeObject } from "../api/types/meta.ts";
import { assert } from "../kernel/assert.ts";
import type { WatchEvent } from "../machinery/api-client.ts";

export class WatchReader<T extends KubeObject> {
	/** Events so far, without bookmarks. */
	readonly events: Exclude<WatchEvent<T>, { readonly type: "BOOKMARK" }>[] = [];
	/** Settles when the watch ends: with undefined, or with the error that ended it. */
	readonly ended: Promise<unknown>;
	#arrived: () => void = () => undefined;
	#isOver = false;

	constructor(watch: AsyncIterable<readonly WatchEvent<T>[]>) {
		this.ended = this.#read(watch)
			.then(
				() => undefined,
				(error: unknown) => error,
			)
			.finally(() => {
				this.#isOver = true;
				this.#arrived();
			});
	}

	/** The first `count` events, as `ADDED web@105`. Rejects when the watch ends before. */
	async told(count: number): Promise<readonly string[]> {
		while (this.events.length < count) {
			assert(!this.#isOver, `The watch ended after ${this.events.length} of ${count} events`);
			await new Promise<void>((resolve) => (this.#arrived = resolve));
		}
		return this.events
			.slice(0, count)
			.map(({ type, object: { metadata } }) => `${type} ${metadata.name}@${metadata.resourceVersion}`);
	}

	async #read(watch: AsyncIterable<readonly WatchEvent<T>[]>): Promise<void> {
		for await (const batch of watch) {
			assert(batch.length > 0, "A batch of a watch is empty");
			for (const event of batch) if (event.type !== "BOOKMARK") this.events.push(event);
			this.#arrived();
		}
	}
}
