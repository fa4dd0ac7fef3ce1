/** Reads YAML bodies: short ones here, long ones in a thread that is there while there is something to read. */
import { Worker } from "node:worker_threads";
import { builtScript } from "../built-script.ts";
import { FairQueue } from "./fair-queue.ts";
import { type ParsedYaml, parsedJson, parseYaml } from "./yaml.ts";
import type { FromYaml, ToYaml } from "./yaml-worker.ts";

/** Characters of a text that is read at once: the worst of them take 10 ms. */
const SHORT_LENGTH_MAX = 1024;
/** Characters of a text: far more than people write, and what takes long to read grows faster than its length. */
const LENGTH_MAX = 256 * 1024;
/** Time for one text: a plain one of the full length takes one second. The thread is ended with what takes longer. */
const TEXT_MS_MAX = 5_000;
/** Texts that one user may have waiting, while those of others have their turns. */
const WAITING_MAX = 8;
/** A thread with nothing to read ends after this. */
const IDLE_MS_MAX = 10_000;

export type ReadYaml =
	| ParsedYaml
	/** It was not looked at. */
	| { readonly kind: "too-long"; readonly lengthMax: number }
	| { readonly kind: "too-many"; readonly waitingMax: number }
	/** It was not read to its end. */
	| { readonly kind: "too-slow"; readonly msMax: number };

interface Waiting {
	readonly asked: ToYaml;
	resolve(answer: FromYaml | Extract<ReadYaml, { kind: "too-slow" }>): void;
	reject(error: Error): void;
}

export class YamlReader {
	#thread: Worker | undefined;
	#idle: NodeJS.Timeout | undefined;
	#waiting = new FairQueue<Waiting>(WAITING_MAX);
	/** What the thread reads. */
	#current: Waiting | undefined;
	#late: NodeJS.Timeout | undefined;
	readonly #textMsMax: number;

	/** @param textMsMax For tests. */
	constructor(textMsMax: number = TEXT_MS_MAX) {
		this.#textMsMax = textMsMax;
	}

	/**
	 * As `parseYaml`; rejects when the thread ends before it has answered.
	 *
	 * @param who Has turns of their own.
	 */
	async parse(text: string, who: string, repeated?: string[]): Promise<ReadYaml> {
		if (text.length <= SHORT_LENGTH_MAX) return parseYaml(text, repeated);
		const json = parsedJson(text);
		if (json !== undefined) return { kind: "ok", value: json };
		if (text.length > LENGTH_MAX) return { kind: "too-long", lengthMax: LENGTH_MAX };
		const answer = await this.#ask(who, { text, mayRepeat: repeated !== undefined });
		if ("kind" in answer) return answer;
		repeated?.push(...answer.repeated);
		return answer.parsed;
	}

	/** Ends the thread; what waits for it is rejected. */
	async close(): Promise<void> {
		const thread = this.#letGo();
		this.#rejectAll(new Error("the reader of YAML was closed"));
		await thread?.terminate();
	}

	#ask(who: string, asked: ToYaml): Promise<FromYaml | Extract<ReadYaml, { kind: "too-slow" | "too-many" }>> {
		return new Promise((resolve, reject) => {
			if (!this.#waiting.add(who, { asked, resolve, reject })) {
				resolve({ kind: "too-many", waitingMax: WAITING_MAX });
				return;
			}
			if (this.#current === undefined) this.#readNext();
		});
	}

	#readNext(): void {
		clearTimeout(this.#late);
		clearTimeout(this.#idle);
		this.#current = this.#waiting.next();
		if (this.#current === undefined) {
			this.#idle = setTimeout(() => void this.close(), IDLE_MS_MAX).unref();
			return;
		}
		this.#late = setTimeout(() => this.#giveUp(), this.#textMsMax).unref();
		this.#thread ??= this.#started();
		this.#thread.postMessage(this.#current.asked);
	}

	/** There is no other way to stop it. */
	#giveUp(): void {
		void this.#letGo()?.terminate();
		this.#current?.resolve({ kind: "too-slow", msMax: this.#textMsMax });
		this.#readNext();
	}

	#letGo(): Worker | undefined {
		clearTimeout(this.#late);
		clearTimeout(this.#idle);
		const thread = this.#thread;
		this.#thread = undefined;
		return thread;
	}

	#started(): Worker {
		const thread = new Worker(builtScript(import.meta.url, "./yaml-worker.js"));
		// A process that has nothing else to do need not wait for it.
		thread.unref();
		thread.on("message", (answer: FromYaml) => {
			if (this.#thread !== thread) return;
			this.#current?.resolve(answer);
			this.#readNext();
		});
		const ended = (error: Error): void => {
			if (this.#thread !== thread) return;
			this.#letGo();
			this.#rejectAll(error);
		};
		thread.on("error", ended);
		thread.on("exit", () => ended(new Error("the thread that reads YAML has ended")));
		return thread;
	}

	#rejectAll(error: Error): void {
		const waiting = this.#waiting;
		this.#waiting = new FairQueue(WAITING_MAX);
		for (let each = this.#current; each !== undefined; each = waiting.next()) each.reject(error);
		this.#current = undefined;
	}
}
