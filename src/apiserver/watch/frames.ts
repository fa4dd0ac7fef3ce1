/**
 * The byte frames of one kind of watcher: same resource, same selection, same form of objects.
 *
 * Members of a group are cursors. Whoever reads first at a cursor makes the frames, the others get the same
 * bytes; a member that lags reads at its own cursor and pays for itself alone. Nothing is buffered.
 */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Revision } from "../../store/entry.ts";
import type { Space } from "../../store/space.ts";
import type { Selection } from "../selection.ts";
import { type ObjectEvent, transition } from "./transition.ts";

/** Turns an event into the bytes of one frame, line end included. */
export type EncodeEvent = (event: ObjectEvent) => Uint8Array;
export type EncodeBookmark = (revision: Revision, isInitialEventsEnd: boolean) => Uint8Array;

export interface FrameEncoding {
	readonly event: EncodeEvent;
	readonly bookmark: EncodeBookmark;
}

export interface Frame {
	readonly revision: Revision;
	readonly bytes: Uint8Array;
}

export type FrameBatch =
	| { readonly kind: "frames"; readonly frames: readonly Frame[]; readonly through: Revision }
	| { readonly kind: "compacted"; readonly oldest: Revision };

/** Events read in one go; the next turn reads on. */
const EVENTS_PER_READ_MAX = 500;
/** Cursors at which members usually stand together; older ones are made again when asked. */
const SHARED_READS_MAX = 4;

export class WatchGroup {
	readonly #space: Space;
	readonly #selection: Selection;
	readonly #encoding: FrameEncoding;
	readonly #reads = new Map<Revision, FrameBatch>();
	#readsAsOf: Revision = -1;

	constructor(space: Space, selection: Selection, encoding: FrameEncoding) {
		this.#space = space;
		this.#selection = selection;
		this.#encoding = encoding;
	}

	get encoding(): FrameEncoding {
		return this.#encoding;
	}

	/** The frames after `cursor`. @param revision The newest revision of the store. */
	read(cursor: Revision, revision: Revision): FrameBatch {
		if (this.#readsAsOf !== revision) this.#reads.clear();
		this.#readsAsOf = revision;
		const known = this.#reads.get(cursor);
		if (known !== undefined) return known;
		const made = this.#make(cursor, revision);
		if (this.#reads.size < SHARED_READS_MAX) this.#reads.set(cursor, made);
		return made;
	}

	/** ADDED frames of everything that is selected now; each is made when it is asked for. */
	initialFrames(): Iterable<Uint8Array> {
		const prefix = this.#selection.namespace === "" ? "" : `${this.#selection.namespace}/`;
		const range = this.#space.range({ prefix, filter: ({ object }) => this.#selection.matches(object) });
		const objects: readonly KubeObject[] = range.kind === "range" ? range.entries.map(({ object }) => object) : [];
		return this.#added(objects);
	}

	*#added(objects: readonly KubeObject[]): Iterable<Uint8Array> {
		for (const object of objects) yield this.#encoding.event({ type: "ADDED", object: this.#selection.shown(object) });
	}

	#make(cursor: Revision, revision: Revision): FrameBatch {
		const batch = this.#space.readAfter(cursor, EVENTS_PER_READ_MAX, revision);
		if (batch.kind === "compacted") return batch;
		const frames: Frame[] = [];
		for (const storeEvent of batch.events) {
			const event = transition(storeEvent, this.#selection);
			if (event !== undefined) frames.push({ revision: storeEvent.revision, bytes: this.#encoding.event(event) });
		}
		return { kind: "frames", frames, through: batch.through };
	}
}
