/** An ApiClient whose process dies at one of its calls: from then on nothing gets out, and no answer comes back. */
import type { ApiClient } from "../machinery/api-client.ts";
import { type ClientCall, type Faults, FaultyClient } from "./faulty-client.ts";

export interface Death {
	/** The call at which it happens, counted from 1. */
	readonly atCall: number;
	readonly counts: "writes" | "calls";
	/** Whether the call itself still reaches the server, so that only its answer is lost. */
	readonly isSent: boolean;
}

const READS = new Set<ClientCall["verb"]>(["get", "list", "watch"]);

export class MortalClient extends FaultyClient {
	readonly #dying: Dying;

	constructor(client: ApiClient, death: Death) {
		const dying = new Dying(death);
		super(client, dying);
		this.#dying = dying;
	}

	get isDead(): boolean {
		return this.#dying.isDead;
	}

	/** Ends the calls that would wait for ever, once those who wait are told to stop. */
	bury(): void {
		this.#dying.bury();
	}
}

class Dying implements Faults {
	isDead = false;
	readonly #death: Death;
	#calls = 0;
	#end: (reason: Error) => void = () => undefined;
	readonly #silence: Promise<never>;

	constructor(death: Death) {
		this.#death = death;
		this.#silence = new Promise((_, reject) => (this.#end = reject));
		this.#silence.catch(() => undefined);
	}

	bury(): void {
		this.isDead = true;
		this.#end(new Error("the process is dead"));
	}

	async call<R>({ verb }: ClientCall, send: () => Promise<R>): Promise<R> {
		if (this.isDead) return this.#silence;
		if (!READS.has(verb) || this.#death.counts === "calls") this.#calls++;
		if (this.#calls < this.#death.atCall) {
			const answer = await send();
			return this.isDead ? this.#silence : answer;
		}
		this.isDead = true;
		if (this.#death.isSent) await send().catch(() => undefined);
		return this.#silence;
	}

	deliver(): boolean {
		return !this.isDead;
	}
}
