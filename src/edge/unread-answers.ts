/**
 * Answers that clients have not read yet. They are kept until they are read, so each has a time for a sign of life, and
 * all together have a size; beyond it those go whose clients have been silent for longest.
 */
import type { ServerResponse } from "node:http";
import type { Counter, Gauge, Metrics } from "../kernel/metrics.ts";

export interface UnreadLimits {
	/** Bytes over all connections. */
	readonly unreadBytesMax: number;
	/** A client that takes nothing for so long is cut off. */
	readonly silentMs: number;
}

interface Held {
	readonly bytes: number;
	readonly late: NodeJS.Timeout;
	readonly closed: () => void;
}

export class UnreadAnswers {
	readonly #limits: UnreadLimits;
	/** In order of their last sign of life, the oldest first. */
	readonly #held = new Map<ServerResponse, Held>();
	readonly #gauge: Gauge | undefined;
	readonly #cut: Counter | undefined;
	#bytes = 0;

	constructor(limits: UnreadLimits, metrics?: Metrics) {
		this.#limits = limits;
		this.#gauge = metrics?.gauge({
			name: "sliceplane_apiserver_unread_bytes",
			help: "Bytes of answers that clients have not read yet.",
		});
		this.#cut = metrics?.counter({
			name: "sliceplane_apiserver_unread_answers_cut_total",
			help: "Connections that were cut, for their clients did not read.",
		});
	}

	/** From now on until it is closed, or released. */
	hold(response: ServerResponse, bytes: number): void {
		if (this.#held.has(response)) return;
		const late = setTimeout(() => this.#end(response), this.#limits.silentMs).unref();
		const closed = (): void => this.release(response);
		response.once("close", closed);
		this.#held.set(response, { bytes, late, closed });
		this.#count(bytes);
		this.#makeRoom();
	}

	/** Its client has taken some. */
	isAlive(response: ServerResponse): void {
		const held = this.#held.get(response);
		if (held === undefined) return;
		this.#held.delete(response);
		this.#held.set(response, held);
		held.late.refresh();
	}

	release(response: ServerResponse): void {
		const held = this.#held.get(response);
		if (held === undefined) return;
		clearTimeout(held.late);
		response.off("close", held.closed);
		this.#held.delete(response);
		this.#count(-held.bytes);
	}

	/** What has just come is not what goes. */
	#makeRoom(): void {
		for (const response of this.#held.keys()) {
			if (this.#bytes <= this.#limits.unreadBytesMax || this.#held.size === 1) return;
			this.#end(response);
		}
	}

	#end(response: ServerResponse): void {
		this.release(response);
		this.#cut?.add(1);
		response.destroy();
	}

	#count(bytes: number): void {
		this.#bytes += bytes;
		this.#gauge?.set(this.#bytes);
	}
}
