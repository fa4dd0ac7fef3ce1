/** What happened in a run, as text: its hash over everything, and its end for people. */
import { createHash } from "node:crypto";

/** Lines kept for people. */
const LINES_MAX = 400;
/** Characters that wait to be hashed: many small pieces cost more than one. */
const PENDING_MAX = 65_536;

export class History {
	readonly #nowMs: () => number;
	readonly #hash = createHash("sha256");
	readonly #lines: string[] = [];
	#pending = "";

	constructor(nowMs: () => number) {
		this.#nowMs = nowMs;
	}

	/** @param more Goes into the hash alone. */
	add(text: string, more = ""): void {
		const line = `+${this.#nowMs()} ${text}`;
		this.#pending += `${line} ${more}\n`;
		if (this.#pending.length > PENDING_MAX) this.#flush();
		this.#lines.push(line);
		if (this.#lines.length > LINES_MAX * 2) this.#lines.splice(0, LINES_MAX);
	}

	/** The newest lines, oldest first. */
	end(count: number = LINES_MAX): readonly string[] {
		return this.#lines.slice(-count);
	}

	/** Of every line; nothing may be added afterwards. */
	hash(): string {
		this.#flush();
		return this.#hash.digest("hex");
	}

	#flush(): void {
		this.#hash.update(this.#pending);
		this.#pending = "";
	}
}
