/** One worker loop for every controller: take a key, reconcile it, retry what failed. */
import { hasReason } from "../api/status.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Brings the world of one key closer to what is wanted. Told which key, never what happened to it. */
export interface Reconciler<Key = string> {
	readonly name: string;
	/** Rejects to be tried again with back-off; with a {@link TerminalError} to be left alone. */
	reconcile(key: Key, signal: AbortSignal): Promise<Outcome>;
	/** How the log names a key that is no string. */
	describe?(key: Key): string;
}

export type Outcome =
	| { readonly kind: "settled" }
	/** Nothing failed, but come back after a time, such as when a Pod becomes available. */
	| { readonly kind: "recheck"; readonly afterMs: number; readonly why: string };

export const SETTLED: Outcome = { kind: "settled" };

/** A failure that trying again cannot mend: only an event can. */
export class TerminalError extends Error {
	override readonly name = "TerminalError";
}

/** Requeues of one key in a row before it is dropped; upstream's number for its endpoint controllers. */
export const RETRIES_MAX = 15;

export interface WorkerOptions {
	readonly workers: number;
	/** After so many requeues in a row a key is dropped until its next event. 0: never. Default {@link RETRIES_MAX}. */
	readonly retriesMax?: number;
	readonly clock: Clock;
	readonly log: Logger;
	readonly signal: AbortSignal;
}

/** Works until `signal` aborts, then stops the queue and resolves when every worker is done. Never rejects. */
export async function runWorkers<Key>(
	queue: WorkQueue<Key>,
	reconciler: Reconciler<Key>,
	options: WorkerOptions,
): Promise<void> {
	const { signal } = options;
	const stop = (): void => queue.stop();
	if (signal.aborted) return stop();
	signal.addEventListener("abort", stop, { once: true });
	await Promise.all(Array.from({ length: options.workers }, () => runWorker(queue, reconciler, options)));
	signal.removeEventListener("abort", stop);
}

/** A worker whose keys never wait for I/O gives way to sockets after so much work. */
const TURN_MS_MAX = 10;

async function runWorker<Key>(
	queue: WorkQueue<Key>,
	reconciler: Reconciler<Key>,
	options: WorkerOptions,
): Promise<void> {
	const { clock } = options;
	let turnStartedMs = clock.monotonicMs();
	for (;;) {
		const key = await queue.take();
		if (key === undefined) return;
		await processKey(queue, reconciler, key, options);
		queue.done(key);
		if (clock.monotonicMs() - turnStartedMs < TURN_MS_MAX) continue;
		await clock.yield();
		turnStartedMs = clock.monotonicMs();
	}
}

async function processKey<Key>(
	queue: WorkQueue<Key>,
	reconciler: Reconciler<Key>,
	key: Key,
	{ clock, log, signal, retriesMax = RETRIES_MAX }: WorkerOptions,
): Promise<void> {
	const startedMs = clock.monotonicMs();
	const shown = (): string => reconciler.describe?.(key) ?? String(key);
	try {
		const outcome = await reconciler.reconcile(key, signal);
		queue.forget(key);
		if (outcome.kind === "recheck") queue.addAfter(key, outcome.afterMs);
		log.debug("Reconciled", {
			controller: reconciler.name,
			key: shown(),
			outcome: outcome.kind,
			tookMs: clock.monotonicMs() - startedMs,
		});
	} catch (error) {
		if (signal.aborted) return;
		const fields = { controller: reconciler.name, key: shown(), attempt: queue.requeues(key) + 1, error };
		if (error instanceof TerminalError) {
			queue.forget(key);
			log.error("Reconcile failed for good", fields);
		} else if (retriesMax > 0 && queue.requeues(key) >= retriesMax) {
			queue.forget(key);
			log.error("Reconcile failed too often and was given up", fields);
		} else {
			queue.addRateLimited(key);
			// Somebody wrote first: that is how optimistic concurrency works, not a fault.
			const level = hasReason(error, "Conflict") ? "debug" : "warn";
			log[level]("Reconcile failed and will be retried", fields);
		}
	}
}
