/**
 * What containers have printed; simulated ones print their start, the requests they answered, their stop.
 *
 * Each container keeps the last lines of its last run and of the one before, and all containers together a bounded
 * number of bytes; those that were silent for longest go first.
 */
import type { Gauge, Metrics } from "../kernel/metrics.ts";

export interface LogLine {
	/** Wall milliseconds. */
	readonly atMs: number;
	/** Without its line end. */
	readonly text: string;
}

/** `current`: the one that runs, or ran last. */
export type LogRun = "current" | "previous";

export interface ContainerLogLimits {
	readonly bytesPerRunMax: number;
	readonly bytesMax: number;
	/** Longer lines are cut. */
	readonly lineLengthMax: number;
}

export const DEFAULT_LOG_LIMITS: ContainerLogLimits = {
	bytesPerRunMax: 64 * 1024,
	bytesMax: 32 * 1024 * 1024,
	lineLengthMax: 4096,
};

interface RunLines {
	readonly lines: LogLine[];
	bytes: number;
}

interface Log {
	current: RunLines;
	previous: RunLines;
	readonly followers: Set<(line: LogLine | undefined) => void>;
}

/** A line costs its text and about this much beside it. */
const LINE_BYTES = 64;

export class ContainerLogs {
	/** By Pod uid and container; in order of the last line, oldest first. */
	readonly #logs = new Map<string, Log>();
	/** Keys of `#logs` by Pod uid: thousands of Pods may go at once. */
	readonly #keysOfPod = new Map<string, Set<string>>();
	readonly #limits: ContainerLogLimits;
	readonly #size: Gauge;
	#bytes = 0;

	constructor(metrics: Metrics, limits: ContainerLogLimits = DEFAULT_LOG_LIMITS) {
		this.#limits = limits;
		this.#size = metrics.gauge({ name: "sliceplane_container_logs_bytes", help: "Lines of simulated containers." });
	}

	append(podUID: string, container: string, line: LogLine): void {
		const key = keyOf(podUID, container);
		const log = this.#logs.get(key) ?? newLog();
		const { current } = log;
		const kept = { ...line, text: line.text.slice(0, this.#limits.lineLengthMax) };
		current.lines.push(kept);
		this.#grow(current, kept.text.length + LINE_BYTES);
		while (current.bytes > this.#limits.bytesPerRunMax) this.#dropFirst(current);
		// Moves to the end: it is the one that spoke last.
		this.#logs.delete(key);
		this.#put(podUID, key, log);
		this.#forgetSilent();
		for (const follower of [...log.followers]) follower(kept);
	}

	lines(podUID: string, container: string, run: LogRun = "current"): readonly LogLine[] {
		return this.#logs.get(keyOf(podUID, container))?.[run].lines ?? [];
	}

	/** The container is started again: what it has printed is of its previous run from now on. */
	startAgain(podUID: string, container: string): void {
		const log = this.#logs.get(keyOf(podUID, container));
		if (log === undefined) return;
		this.#grow(log.previous, -log.previous.bytes);
		log.previous = log.current;
		log.current = { lines: [], bytes: 0 };
	}

	/** Calls `follower` with each new line, and with undefined when there will be no more. Returns how to stop. */
	follow(podUID: string, container: string, follower: (line: LogLine | undefined) => void): () => void {
		const key = keyOf(podUID, container);
		const log = this.#logs.get(key) ?? newLog();
		this.#put(podUID, key, log);
		log.followers.add(follower);
		return () => log.followers.delete(follower);
	}

	/** The containers, or this one, have ended: followers are told, what was printed stays. */
	end(podUID: string, container?: string): void {
		const only = container === undefined ? undefined : keyOf(podUID, container);
		for (const [key, log] of this.#ofPod(podUID)) {
			if (only !== undefined && key !== only) continue;
			const followers = [...log.followers];
			log.followers.clear();
			for (const follower of followers) follower(undefined);
		}
	}

	/** The Pod is gone, and its lines with it. */
	forget(podUID: string): void {
		this.end(podUID);
		for (const [key, log] of this.#ofPod(podUID)) this.#remove(key, log);
	}

	#ofPod(podUID: string): readonly (readonly [key: string, log: Log])[] {
		return [...(this.#keysOfPod.get(podUID) ?? [])].flatMap((key) => {
			const log = this.#logs.get(key);
			return log === undefined ? [] : [[key, log] as const];
		});
	}

	#put(podUID: string, key: string, log: Log): void {
		this.#logs.set(key, log);
		const keys = this.#keysOfPod.get(podUID);
		if (keys === undefined) this.#keysOfPod.set(podUID, new Set([key]));
		else keys.add(key);
	}

	#grow(run: RunLines, by: number): void {
		run.bytes += by;
		this.#bytes += by;
		this.#size.set(this.#bytes);
	}

	#dropFirst(run: RunLines): void {
		const first = run.lines.shift();
		if (first !== undefined) this.#grow(run, -(first.text.length + LINE_BYTES));
	}

	#forgetSilent(): void {
		for (const [key, log] of this.#logs) {
			if (this.#bytes <= this.#limits.bytesMax) return;
			this.#remove(key, log);
		}
	}

	#remove(key: string, log: Log): void {
		this.#logs.delete(key);
		const podUID = key.slice(0, key.indexOf("/"));
		const keys = this.#keysOfPod.get(podUID);
		keys?.delete(key);
		if (keys?.size === 0) this.#keysOfPod.delete(podUID);
		for (const run of [log.current, log.previous]) this.#grow(run, -run.bytes);
		for (const follower of log.followers) follower(undefined);
	}
}

function newLog(): Log {
	return { current: { lines: [], bytes: 0 }, previous: { lines: [], bytes: 0 }, followers: new Set() };
}

function keyOf(podUID: string, container: string): string {
	return `${podUID}/${container}`;
}
