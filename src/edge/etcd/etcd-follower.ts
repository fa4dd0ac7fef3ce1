/**
 * Follows etcd: every revision, in order, whatever happens to the connection.
 *
 * It watches all keys of etcd, not only those of the store, so that every revision comes as an event. The other way to
 * learn that a revision brought nothing of ours is to ask for the watch's progress, and etcd before 3.4.25 and 3.5.8
 * tells of progress ahead of events that are still under way.
 *
 * @see https://github.com/etcd-io/etcd/issues/15220
 */
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Counter, Metrics } from "../../kernel/metrics.ts";
import type { Revision } from "../../store/entry.ts";
import { RevisionAssembler } from "../../store/etcd/revisions.ts";
import type { EtcdStream } from "./etcd-channel.ts";
import type { EtcdClient } from "./etcd-client.ts";
import type { WatchedEvent, WatchResponse } from "./messages.ts";

export interface Followed {
	/** The last revision that has been taken. */
	revision(): Revision;
	take(revision: Revision, events: readonly WatchedEvent[]): void;
	/** Revisions after the last one are compacted: starts anew from the whole state. */
	restart(): Promise<void>;
}

interface FollowerPorts {
	readonly client: Pick<EtcdClient, "watch">;
	readonly clock: Clock;
	readonly log: Logger;
	readonly metrics: Metrics;
}

/** The smallest key, and, as an end, "no end". */
const ALL_KEYS = { key: "\u0000", rangeEnd: "\u0000" } as const;
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 2_000;

/** Why a watch is over. */
type Ending = { readonly kind: "compacted" } | { readonly kind: "lost"; readonly error: unknown };

interface Revised extends WatchedEvent {
	readonly revision: Revision;
}

export class EtcdFollower {
	readonly #ports: FollowerPorts;
	readonly #followed: Followed;
	readonly #reconnects: Counter;
	#stream: EtcdStream | undefined;
	#isFollowing = false;

	constructor(ports: FollowerPorts, followed: Followed) {
		this.#ports = ports;
		this.#followed = followed;
		this.#reconnects = ports.metrics.counter({
			name: "sliceplane_etcd_reconnects_total",
			help: "Watches of etcd that broke off and were begun again.",
		});
	}

	/** A watch is open, as far as one can know. */
	get isFollowing(): boolean {
		return this.#isFollowing;
	}

	/** The watch brings nothing, and should: it is begun again. */
	renew(): void {
		this.#stream?.cancel();
	}

	/** Works until `signal` aborts. Never rejects. */
	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		signal.addEventListener("abort", () => this.#stream?.cancel(), { once: true });
		let pauseMs = PAUSE_MS_MIN;
		while (!signal.aborted) {
			const before = this.#followed.revision();
			const ending = await this.#follow(signal);
			this.#isFollowing = false;
			if (signal.aborted) return;
			this.#reconnects.add();
			if (ending.kind === "compacted") await this.#restart();
			else log.warn("Lost the watch of etcd; it is begun again", { error: ending.error });
			pauseMs = this.#followed.revision() > before ? PAUSE_MS_MIN : Math.min(PAUSE_MS_MAX, pauseMs * 2);
			await clock.sleep(pauseMs, signal).catch(() => undefined);
		}
	}

	async #restart(): Promise<void> {
		try {
			await this.#followed.restart();
		} catch (error) {
			this.#ports.log.warn("Failed to list what etcd holds; it is tried again", { error });
		}
	}

	/** Resolves when the watch is over. */
	async #follow(signal: AbortSignal): Promise<Ending> {
		const assembler = new RevisionAssembler<Revised>();
		let end: (ending: Ending) => void = () => undefined;
		const ended = new Promise<Ending>((resolve) => {
			end = resolve;
		});
		try {
			this.#stream = await this.#ports.client.watch(
				{ ...ALL_KEYS, startRevision: this.#followed.revision() + 1 },
				{
					response: (response) => {
						const ending = this.#taken(response, assembler);
						if (ending !== undefined) end(ending);
					},
					end: (error) => end({ kind: "lost", error }),
				},
			);
			if (signal.aborted) this.#stream.cancel();
			return await ended;
		} catch (error) {
			return { kind: "lost", error };
		} finally {
			this.#stream?.cancel();
			this.#stream = undefined;
		}
	}

	/** Takes what a response brings. Returns why the watch is over, if it is. */
	#taken(response: WatchResponse, assembler: RevisionAssembler<Revised>): Ending | undefined {
		if (response.compactRevision > 0) return { kind: "compacted" };
		if (response.isCanceled) return { kind: "lost", error: new Error(response.cancelReason) };
		this.#isFollowing = true;
		try {
			const events = response.events.map((event) => ({ ...event, revision: event.kv.modRevision }));
			for (const whole of assembler.add(events, response.isFragment)) {
				if (whole.revision > this.#followed.revision()) this.#followed.take(whole.revision, whole.events);
			}
			return undefined;
		} catch (error) {
			return { kind: "lost", error };
		}
	}
}
