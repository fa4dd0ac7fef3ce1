/**
 * Events are news, not state: each goes an hour after it was last written, as a DELETED event of watches.
 *
 * No time is kept for an Event. Which revision the store had an hour ago is enough: what was not written since
 * then is due. A plane under load also keeps no more than a number of them; the oldest go first.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Entry, Revision } from "../store/entry.ts";
import type { Store } from "../store/store.ts";

const SPACE = "/registry/events/";
/** `--event-ttl` of a real server, at its default. */
const LIFE_MS = 60 * 60 * 1000;
/** Events kept at a tick. */
const EVENTS_MAX = 20_000;
const TICK_MS = 30_000;
/** Events looked at in one tick; when there are more, the next tick comes soon. */
const SCANNED_MAX = 2_000;
const BUSY_TICK_MS = 1_000;

interface Checkpoint {
	readonly atMs: number;
	readonly revision: Revision;
}

export class EventExpiry {
	readonly #store: Store;
	readonly #clock: Clock;
	/** Oldest first; the first one is at most one tick older than an Event may be. */
	readonly #checkpoints: Checkpoint[] = [];
	/** Where the next scan starts; "" is the beginning. */
	#cursor = "";

	constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
		this.#store = store;
		this.#clock = clock;
	}

	/** Works until `signal` aborts. Never rejects. */
	async run(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			await this.#expire(Math.max(this.#horizon(), this.#overflowHorizon()));
			const delayMs = this.#cursor === "" ? TICK_MS : BUSY_TICK_MS;
			await this.#clock.sleep(delayMs, signal).catch(() => undefined);
		}
	}

	/** What was last written at this revision, or before, is due. */
	#horizon(): Revision {
		const nowMs = this.#clock.monotonicMs();
		const newest = this.#checkpoints.at(-1);
		if (newest === undefined || nowMs - newest.atMs >= TICK_MS) {
			this.#checkpoints.push({ atMs: nowMs, revision: this.#store.revision });
		}
		const isDue = (checkpoint: Checkpoint | undefined): boolean =>
			checkpoint !== undefined && nowMs - checkpoint.atMs >= LIFE_MS;
		while (isDue(this.#checkpoints[1])) this.#checkpoints.shift();
		const [oldest] = this.#checkpoints;
		return oldest !== undefined && isDue(oldest) ? oldest.revision : 0;
	}

	/** Written at this revision, or before, are those that are too many. */
	#overflowHorizon(): Revision {
		const space = this.#store.space(SPACE);
		const excess = space.size - EVENTS_MAX;
		const range = excess > 0 ? space.range({ prefix: "" }) : undefined;
		if (range?.kind !== "range") return 0;
		const revisions = range.entries.map(({ modRevision }) => modRevision).sort((a, b) => a - b);
		return revisions[excess - 1] ?? 0;
	}

	async #expire(horizon: Revision): Promise<void> {
		if (horizon === 0) return;
		const range = this.#store.space(SPACE).range({ prefix: "", start: this.#cursor, limit: SCANNED_MAX });
		const entries: readonly Entry[] = range.kind === "range" ? range.entries : [];
		const last = entries.at(-1);
		// The smallest key behind the last one.
		this.#cursor = entries.length < SCANNED_MAX || last === undefined ? "" : `${last.key}\u0000`;
		for (const { key, modRevision } of entries) {
			if (modRevision > horizon) continue;
			// One that was written meanwhile stays: the precondition fails.
			const place = { space: SPACE, key };
			await this.#store.commit([{ kind: "delete", ...place }], [{ ...place, expected: modRevision }]);
		}
	}
}
