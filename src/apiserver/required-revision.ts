/** Readers that say how new the state must be wait for it, and so do those who want the newest. */
import { tooLargeResourceVersion } from "../api/status.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Revision } from "../store/entry.ts";
import type { Store } from "../store/store.ts";

interface Ports {
	readonly store: Store;
	readonly clock: Clock;
}

/**
 * Does what wants the newest state: where other servers write to the same store, when everything is there that any of
 * them had acknowledged before. At once where nobody else writes.
 * @throws {ApiError} `Timeout` and others, when the store cannot come to know.
 */
export function upToDate<T>({ store }: Pick<Ports, "store">, work: () => Promise<T>): Promise<T> {
	const reached = store.reach();
	return reached === undefined ? work() : reached.then(work);
}

/** How long a reader that is ahead of the server waits for it. */
const FUTURE_WAIT_MS = 3_000;

/** @throws {ApiError} `Timeout` when the store does not come to `revision` in time. */
export async function requireRevision(ports: Ports, revision: Revision, signal?: AbortSignal): Promise<void> {
	const { store } = ports;
	if (store.revision < revision) await reachedOrLate(ports, revision, signal);
	if (store.revision < revision) throw tooLargeResourceVersion(revision, store.revision);
}

/** Resolves when the store has the revision, the time is over, or the reader has gone. */
function reachedOrLate({ store, clock }: Ports, revision: Revision, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const over = new AbortController();
		const finish = (): void => {
			stop();
			over.abort();
			signal?.removeEventListener("abort", finish);
			resolve();
		};
		const stop = store.onCommit(() => {
			if (store.revision >= revision) finish();
		});
		signal?.addEventListener("abort", finish, { once: true });
		clock.sleep(FUTURE_WAIT_MS, over.signal).then(finish, () => undefined);
	});
}
