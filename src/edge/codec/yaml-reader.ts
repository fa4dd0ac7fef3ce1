/** Reads YAML bodies: short ones here, long ones in a thread that is there while there is something to read. */
import { Worker } from "node:worker_threads";
import { assertDefined } from "../../kernel/assert.ts";
import { builtScript } from "../built-script.ts";
import { type ParsedYaml, parsedJson, parseYaml } from "./yaml.ts";
import type { FromYaml, ToYaml } from "./yaml-worker.ts";

/** Characters of a text that is read at once: the worst of them take 20 ms. */
const SHORT_LENGTH_MAX = 4 * 1024;
/** Characters of a text. The worst take four microseconds each to read. */
const LENGTH_MAX = 512 * 1024;
/** A thread with nothing to read ends after this. */
const IDLE_MS_MAX = 10_000;

export type ReadYaml =
	| ParsedYaml
	/** It was not looked at. */
	| { readonly kind: "too-long"; readonly lengthMax: number };

interface Waiting {
	resolve(answer: FromYaml): void;
	reject(error: Error): void;
}

export class YamlReader {
	#thread: Worker | undefined;
	#idle: NodeJS.Timeout | undefined;
	readonly #waiting = new Map<number, Waiting>();
	#asked = 0;

	/** As `parseYaml`; rejects when the thread ends before it has answered. */
	async parse(text: string, repeated?: string[]): Promise<ReadYaml> {
		if (text.length <= SHORT_LENGTH_MAX) return parseYaml(text, repeated);
		const json = parsedJson(text);
		if (json !== undefined) return { kind: "ok", value: json };
		if (text.length > LENGTH_MAX) return { kind: "too-long", lengthMax: LENGTH_MAX };
		const answer = await this.#ask(text, repeated !== undefined);
		repeated?.push(...answer.repeated);
		return answer.parsed;
	}

	/** Ends the thread; what waits for it is rejected. */
	async close(): Promise<void> {
		clearTimeout(this.#idle);
		const thread = this.#thread;
		this.#thread = undefined;
		await thread?.terminate();
		this.#rejectAll(new Error("the reader of YAML was closed"));
	}

	#ask(text: string, mayRepeat: boolean): Promise<FromYaml> {
		clearTimeout(this.#idle);
		this.#thread ??= this.#started();
		const id = this.#asked++;
		this.#thread.postMessage({ id, text, mayRepeat } satisfies ToYaml);
		return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
	}

	#started(): Worker {
		const thread = new Worker(builtScript(import.meta.url, "./yaml-worker.js"));
		// A process that has nothing else to do need not wait for it.
		thread.unref();
		thread.on("message", (answer: FromYaml) => this.#answered(answer));
		const ended = (error: Error): void => {
			if (this.#thread !== thread) return;
			this.#thread = undefined;
			this.#rejectAll(error);
		};
		thread.on("error", ended);
		thread.on("exit", () => ended(new Error("the thread that reads YAML has ended")));
		return thread;
	}

	#answered(answer: FromYaml): void {
		assertDefined(this.#waiting.get(answer.id), "who asked").resolve(answer);
		this.#waiting.delete(answer.id);
		if (this.#waiting.size > 0) return;
		this.#idle = setTimeout(() => void this.close(), IDLE_MS_MAX).unref();
	}

	#rejectAll(error: Error): void {
		const waiting = [...this.#waiting.values()];
		this.#waiting.clear();
		for (const { reject } of waiting) reject(error);
	}
}
