/**
 * Fan-out: after a commit, every watcher of the resources it touched gets its frames.
 *
 * A watcher is a cursor. A socket that is slow is skipped, at no cost of memory, until it drains; when the
 * kept history has moved past its cursor it is told 410 and closed. A few hundred sockets are served per turn
 * of the event loop, so that a large fan-out delays no request.
 */

import type { ApiError } from "../../api/status.ts";
import { expiredWatch } from "../../api/status.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Gauge, Metrics } from "../../kernel/metrics.ts";
import type { Revision } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";
import type { Selection } from "../selection.ts";
import { type Frame, type FrameEncoding, WatchGroup } from "./frames.ts";

/** Where a watcher's frames go: a response of HTTP. */
export interface FrameSink {
	/** Whether more may be written now; after false, `watcher.drained()` is called once more may. */
	write(frame: Uint8Array): boolean;
	end(): void;
}

const SOCKETS_PER_TURN = 250;

/** One open watch. */
export class Watcher {
	readonly group: WatchGroup;
	readonly sink: FrameSink;
	cursor: Revision;
	isBlocked = false;
	isClosed = false;
	/** What goes before all that commits bring. */
	#first: Iterator<Uint8Array> | undefined;

	constructor(group: WatchGroup, sink: FrameSink, cursor: Revision) {
		this.group = group;
		this.sink = sink;
		this.cursor = cursor;
	}

	write(bytes: Uint8Array): void {
		this.isBlocked = !this.sink.write(bytes);
	}

	/** Writes as much as the socket takes; the rest goes when it drains. */
	begin(frames: Iterable<Uint8Array>): void {
		this.#first = frames[Symbol.iterator]();
		this.hasBegun();
	}

	/** Whether the first frames are out; goes on with them while there is room. */
	hasBegun(): boolean {
		while (this.#first !== undefined && !this.isBlocked) {
			const next = this.#first.next();
			if (next.done === true) this.#first = undefined;
			else this.write(next.value);
		}
		return this.#first === undefined;
	}

	/** Writes until the socket is full; the cursor then stands at the last revision that went out whole. */
	send(frames: readonly Frame[], through: Revision): void {
		for (const { revision, bytes } of frames) {
			if (this.isBlocked && revision > this.cursor) return;
			this.write(bytes);
			this.cursor = revision;
		}
		this.cursor = through;
	}
}

export interface GroupKey {
	readonly space: string;
	readonly selection: Selection;
	/** Names the form of the objects: JSON, or a Table of some kind. */
	readonly form: string;
	readonly encoding: FrameEncoding;
}

export class WatchHub {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #encodeError: (error: ApiError) => Uint8Array;
	readonly #groups = new Map<string, { readonly group: WatchGroup; members: number }>();
	readonly #watchers = new Map<string, Set<Watcher>>();
	readonly #touched = new Set<string>();
	readonly #open: Gauge;
	#isPumping = false;

	constructor(
		ports: { readonly store: Store; readonly clock: Clock; readonly metrics: Metrics },
		encodeError: (error: ApiError) => Uint8Array,
	) {
		this.#store = ports.store;
		this.#clock = ports.clock;
		this.#encodeError = encodeError;
		this.#open = ports.metrics.gauge({
			name: "apiserver_longrunning_requests",
			help: "Open watches by resource.",
			labelNames: ["resource"],
		});
		this.#store.onCommit((spaces) => this.#touch(spaces));
	}

	/** Open watches, over all resources. */
	get size(): number {
		let count = 0;
		for (const watchers of this.#watchers.values()) count += watchers.size;
		return count;
	}

	/** Adds a watcher at `cursor`. It gets nothing before the next turn, so the caller may write first frames. */
	add(key: GroupKey, sink: FrameSink, cursor: Revision): Watcher {
		const id = groupId(key);
		const found = this.#groups.get(id) ?? {
			group: new WatchGroup(this.#store.space(key.space), key.selection, key.encoding),
			members: 0,
		};
		found.members++;
		this.#groups.set(id, found);
		const watcher = new Watcher(found.group, sink, cursor);
		const watchers = this.#watchersOf(key.space);
		watchers.add(watcher);
		this.#open.set(watchers.size, { resource: key.space });
		this.#touch(new Set([key.space]));
		return watcher;
	}

	remove(key: GroupKey, watcher: Watcher): void {
		if (watcher.isClosed) return;
		watcher.isClosed = true;
		const watchers = this.#watchersOf(key.space);
		watchers.delete(watcher);
		this.#open.set(watchers.size, { resource: key.space });
		const id = groupId(key);
		const found = this.#groups.get(id);
		if (found === undefined) return;
		found.members--;
		if (found.members === 0) this.#groups.delete(id);
	}

	/** Sends what a watcher has missed; called when its socket takes data again. */
	serve(watcher: Watcher): void {
		if (!watcher.hasBegun()) return;
		while (!watcher.isClosed && !watcher.isBlocked && watcher.cursor < this.#store.revision) {
			const batch = watcher.group.read(watcher.cursor, this.#store.revision);
			if (batch.kind === "compacted") {
				this.expire(watcher, batch.oldest);
				return;
			}
			watcher.send(batch.frames, batch.through);
		}
	}

	/** Tells the watcher that it starts from before `oldest`, and ends it. */
	expire(watcher: Watcher, oldest: Revision): void {
		watcher.write(this.#encodeError(expiredWatch(watcher.cursor, oldest)));
		watcher.isBlocked = true;
		watcher.sink.end();
	}

	/** The resource is no longer served as it was: its watchers get what they have missed, and end. */
	endAll(space: string): void {
		for (const watcher of this.#watchersOf(space)) {
			this.serve(watcher);
			watcher.isBlocked = true;
			watcher.sink.end();
		}
	}

	#watchersOf(space: string): Set<Watcher> {
		let watchers = this.#watchers.get(space);
		if (watchers === undefined) {
			watchers = new Set();
			this.#watchers.set(space, watchers);
		}
		return watchers;
	}

	#touch(spaces: ReadonlySet<string>): void {
		for (const space of spaces) {
			if ((this.#watchers.get(space)?.size ?? 0) > 0) this.#touched.add(space);
		}
		if (this.#touched.size === 0 || this.#isPumping) return;
		this.#isPumping = true;
		void this.#pump();
	}

	async #pump(): Promise<void> {
		await this.#clock.yield();
		while (this.#touched.size > 0) {
			const spaces = [...this.#touched];
			this.#touched.clear();
			for (const space of spaces) await this.#serveAll(space);
		}
		this.#isPumping = false;
	}

	async #serveAll(space: string): Promise<void> {
		let served = 0;
		for (const watcher of this.#watchersOf(space)) {
			this.serve(watcher);
			served++;
			if (served % SOCKETS_PER_TURN === 0) await this.#clock.yield();
		}
	}
}

function groupId({ space, selection, form }: GroupKey): string {
	return `${space} ${form} ${selection.id}`;
}
