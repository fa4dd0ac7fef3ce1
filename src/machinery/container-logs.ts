/**
 * What simulated containers have printed: their start, the requests they answered, their stop.
 *
 * Each container keeps its last lines, and all containers together a bounded number of bytes; those that were
 * silent for longest go first.
 */
import type { Gauge, Metrics } from "../kernel/metrics.ts";

export interface LogLine {
	/** Wall milliseconds. */
	readonly atMs: number;
	/** Without its line end. */
	readonly text: string;
}

export interface ContainerLogLimits {
	readonly bytesPerContainerMax: number;
	readonly bytesMax: number;
	/** Longer lines are cut. */
	readonly lineLengthMax: number;
}

export const DEFAULT_LOG_LIMITS: ContainerLogLimits = {
	bytesPerContainerMax: 64 * 1024,
	bytesMax: 32 * 1024 * 1024,
	lineLengthMax: 4096,
};

interface Log {
	lines: LogLine[];
	bytes: number;
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
		const log = this.#logs.get(key) ?? { lines: [], bytes: 0, followers: new Set() };
		const kept = { ...line, text: line.text.slice(0, this.#limits.lineLengthMax) };
		log.lines.push(kept);
		this.#grow(log, kept.text.length + LINE_BYTES);
		while (log.bytes > this.#limits.bytesPerContainerMax) this.#dropFirst(log);
		// Moves to the end: it is the one that spoke last.
		this.#logs.delete(key);
		this.#put(podUID, key, log);
		this.#forgetSilent();
		for (const follower of [...log.followers]) follower(kept);
	}

	lines(podUID: string, container: string): readonly LogLine[] {
		return this.#logs.get(keyOf(podUID, container))?.lines ?? [];
	}

	/** Calls `follower` with each new line, and with undefined when there will be no more. Returns how to stop. */
	follow(podUID: string, container: string, follower: (line: LogLine | undefined) => void): () => void {
		const key = keyOf(podUID, container);
		const log = this.#logs.get(key) ?? { lines: [], bytes: 0, followers: new Set() };
		this.#put(podUID, key, log);
		log.followers.add(follower);
		return () => log.followers.delete(follower);
	}

	/** The containers have ended: followers are told, what was printed stays. */
	end(podUID: string): void {
		for (const [, log] of this.#ofPod(podUID)) {
			for (const follower of [...log.followers]) follower(undefined);
			log.followers.clear();
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

	#grow(log: Log, by: number): void {
		log.bytes += by;
		this.#bytes += by;
		this.#size.set(this.#bytes);
	}

	#dropFirst(log: Log): void {
		const first = log.lines.shift();
		if (first !== undefined) this.#grow(log, -(first.text.length + LINE_BYTES));
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
		this.#grow(log, -log.bytes);
		for (const follower of log.followers) follower(undefined);
	}
}

function keyOf(podUID: string, container: string): string {
	return `${podUID}/${container}`;
}
