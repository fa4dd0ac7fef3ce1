/** What a component logged, with the time since its start. */
import type { Clock } from "../../kernel/clock.ts";
import type { LogFields, Logger } from "../../kernel/logger.ts";

export interface LogLine {
	/** Milliseconds since the component started. */
	readonly atMs: number;
	readonly text: string;
}

/** Lines kept of one life of a component. */
const LINES_MAX = 10_000;

export class ComponentLog implements Logger {
	readonly lines: LogLine[] = [];
	readonly #clock: Clock;
	readonly #startedMs: number;

	constructor(clock: Clock) {
		this.#clock = clock;
		this.#startedMs = clock.monotonicMs();
	}

	/** Every decision of every controller: nobody asks for them by text. */
	debug(): void {}

	info(message: string, fields?: LogFields): void {
		this.#add(message, fields);
	}

	warn(message: string, fields?: LogFields): void {
		this.#add(message, fields);
	}

	error(message: string, fields?: LogFields): void {
		this.#add(message, fields);
	}

	#add(message: string, { error, ...fields }: LogFields = {}): void {
		const words = [message, JSON.stringify(fields), error instanceof Error ? error.message : ""];
		this.lines.push({ atMs: this.#clock.monotonicMs() - this.#startedMs, text: words.join(" ") });
		if (this.lines.length > LINES_MAX) this.lines.shift();
	}
}
