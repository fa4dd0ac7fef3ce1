/**
 * What the store should hold and have told: a plain record of every commit, made without the store's own code.
 *
 * Readers of the plane are compared with it.
 */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Revision, Write } from "../../store/entry.ts";

export interface ModelEvent {
	readonly revision: Revision;
	readonly key: string;
	readonly isDeletion: boolean;
	/** With the revision as its resourceVersion; of a deletion the last state. */
	readonly object: KubeObject;
	/** What it replaced. */
	readonly previous: KubeObject | undefined;
}

/** The objects of one resource, now and at every revision. */
export class ModelSpace {
	/** Oldest first. */
	readonly log: ModelEvent[] = [];
	readonly current: Map<string, KubeObject> = new Map();

	/** Objects by key as of the revision. */
	at(revision: Revision): ReadonlyMap<string, KubeObject> {
		if (this.#lastRevision() <= revision) return this.current;
		const objects = new Map(this.current);
		for (let index = this.log.length - 1; index >= 0; index--) {
			const event = this.log[index];
			if (event === undefined || event.revision <= revision) break;
			if (event.previous === undefined) objects.delete(event.key);
			else objects.set(event.key, event.previous);
		}
		return objects;
	}

	/** Index of the first event after the revision. */
	firstAfter(revision: Revision): number {
		let index = this.log.length;
		while (index > 0 && (this.log[index - 1]?.revision ?? 0) > revision) index--;
		return index;
	}

	#lastRevision(): Revision {
		return this.log.at(-1)?.revision ?? 0;
	}
}

export class ClusterModel {
	revision: Revision;
	/** Nothing is known of what was before: it starts with the store, and goes on with each compaction. */
	compacted: Revision;
	readonly #spaces = new Map<string, ModelSpace>();

	constructor(start: Revision) {
		this.revision = start;
		this.compacted = start;
	}

	space({ storagePrefix }: { readonly storagePrefix: string }): ModelSpace {
		let space = this.#spaces.get(storagePrefix);
		if (space === undefined) {
			space = new ModelSpace();
			this.#spaces.set(storagePrefix, space);
		}
		return space;
	}

	/** @returns What each write did; a deletion of what is not there did nothing. */
	apply(revision: Revision, writes: readonly Write[]): readonly (ModelEvent & { readonly space: string })[] {
		this.revision = revision;
		return writes.flatMap((write) => {
			const space = this.space({ storagePrefix: write.space });
			const previous = space.current.get(write.key);
			const written = write.kind === "put" ? write.object : (write.last ?? previous);
			if (written === undefined || (write.kind === "delete" && previous === undefined)) return [];
			const object = { ...written, metadata: { ...written.metadata, resourceVersion: String(revision) } };
			if (write.kind === "put") space.current.set(write.key, object);
			else space.current.delete(write.key);
			const event = { revision, key: write.key, isDeletion: write.kind === "delete", object, previous };
			space.log.push(event);
			return [{ ...event, space: write.space }];
		});
	}
}
