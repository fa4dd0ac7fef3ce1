/** Waiting for a state that other requests make. */
import type { Clock } from "../kernel/clock.ts";
import type { Revision } from "../store/entry.ts";
import type { Store } from "../store/store.ts";

interface Ports {
	readonly store: Store;
	readonly clock: Clock;
}

/** Resolves with true once the store is at `revision`, with false when `waitMs` or the signal ends first. */
export function revisionReached(
	{ store, clock }: Ports,
	revision: Revision,
	waitMs: number,
	signal?: AbortSignal,
): Promise<boolean> {
	if (store.revision >= revision) return Promise.resolve(true);
	return new Promise((resolve) => {
		const finish = (isReached: boolean): void => {
			stop();
			over.abort();
			resolve(isReached);
		};
		const over = new AbortController();
		const stop = store.onCommit(() => {
			if (store.revision >= revision) finish(true);
		});
		signal?.addEventListener("abort", () => finish(false), { once: true });
		clock.sleep(waitMs, over.signal).then(
			() => finish(store.revision >= revision),
			() => undefined,
		);
	});
}
