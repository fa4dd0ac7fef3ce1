/**
 * Remembers what this process last wrote, to notice that the cache has not seen it yet.
 *
 * Planning over a stale cache would create slices twice. So a sync is refused until every slice that
 * was written is in the cache, at least at the generation that the write answered with.
 */
import { compareResourceVersions } from "../../api/resource-version.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { SERVICE_NAME_LABEL } from "../../api/well-known.ts";

/** The slice was deleted, and must not be seen again. */
const DELETION_EXPECTED = -1;

export class SliceTracker {
	/** Generations by uid, by Service. */
	readonly #services = new Map<string, Map<string, number>>();
	/** Uids whose deletion was seen while writes are under way, by Service. */
	readonly #overtaken = new Map<string, Set<string>>();
	/** By uid: slices as they were created, until the cache is known to have them or to have missed them. */
	readonly #unseen = new Map<string, EndpointSlice>();

	/**
	 * Writes for the Service begin; call what is returned when the last one is answered. Meanwhile deletions may be
	 * seen of slices whose write is not answered yet: remembering those would be waiting for what never comes.
	 */
	writing(serviceKey: string): () => void {
		this.#overtaken.set(serviceKey, new Set());
		return () => this.#overtaken.delete(serviceKey);
	}

	/** A create or an update answered with this slice. False when its deletion was seen before the answer. */
	wrote(slice: EndpointSlice): boolean {
		if (this.#overtaken.get(serviceKeyOf(slice))?.has(slice.metadata.uid) === true) return false;
		if (!this.has(slice)) this.#unseen.set(slice.metadata.uid, slice);
		this.#remember(slice, generationOf(slice));
		return true;
	}

	/** A delete of this slice succeeded. */
	deleted(slice: EndpointSlice): void {
		this.#remember(slice, DELETION_EXPECTED);
	}

	has(slice: EndpointSlice): boolean {
		return this.#generationsOf(slice)?.has(slice.metadata.uid) ?? false;
	}

	/**
	 * The slice counts for its Service no more, though it is not gone: somebody gave it another name or manager, or
	 * deletes it and a finalizer holds it. Waiting for it in the cache would be waiting for ever.
	 */
	lost(slice: EndpointSlice): void {
		this.#unseen.delete(slice.metadata.uid);
		this.#generationsOf(slice)?.delete(slice.metadata.uid);
		this.#overtaken.get(serviceKeyOf(slice))?.add(slice.metadata.uid);
	}

	/**
	 * The cache is as of `asOf` now: it has seen every write up to there. What was created by then and is not in it
	 * came and went while nobody watched, and no deletion of it will be told: it is forgotten.
	 *
	 * @returns Those slices, as they were created.
	 */
	missed(asOf: string, isCached: (slice: EndpointSlice) => boolean): readonly EndpointSlice[] {
		const due = [...this.#unseen.values()].filter(
			({ metadata }) => compareResourceVersions(metadata.resourceVersion, asOf) <= 0,
		);
		for (const { metadata } of due) this.#unseen.delete(metadata.uid);
		const missed = due.filter((slice) => !isCached(slice));
		for (const slice of missed) this.lost(slice);
		return missed;
	}

	/** Whether the slice is not known, or newer than what this process wrote. */
	isNews(slice: EndpointSlice): boolean {
		const tracked = this.#generationsOf(slice)?.get(slice.metadata.uid);
		return tracked === undefined || generationOf(slice) > tracked;
	}

	/** The cache has seen the slice go. Returns whether this process had deleted it, or never knew it. */
	sawDeletion(slice: EndpointSlice): boolean {
		this.#unseen.delete(slice.metadata.uid);
		const generations = this.#generationsOf(slice);
		const tracked = generations?.get(slice.metadata.uid);
		generations?.delete(slice.metadata.uid);
		this.#overtaken.get(serviceKeyOf(slice))?.add(slice.metadata.uid);
		return tracked === undefined || tracked === DELETION_EXPECTED;
	}

	/** Whether the cache lags behind what was written; `cached` are the Service's slices that are not being deleted. */
	isStale(serviceKey: string, cached: readonly EndpointSlice[]): boolean {
		const generations = this.#services.get(serviceKey);
		if (generations === undefined) return false;
		const seen = new Set<string>();
		for (const slice of cached) {
			const { uid } = slice.metadata;
			seen.add(uid);
			const tracked = generations.get(uid);
			if (tracked === DELETION_EXPECTED || (tracked !== undefined && tracked > generationOf(slice))) return true;
		}
		for (const [uid, generation] of generations) {
			if (generation !== DELETION_EXPECTED && !seen.has(uid)) return true;
		}
		return false;
	}

	forgetService(serviceKey: string): void {
		for (const uid of this.#services.get(serviceKey)?.keys() ?? []) this.#unseen.delete(uid);
		this.#services.delete(serviceKey);
	}

	#remember(slice: EndpointSlice, generation: number): void {
		const key = serviceKeyOf(slice);
		const generations = this.#services.get(key) ?? new Map<string, number>();
		this.#services.set(key, generations.set(slice.metadata.uid, generation));
	}

	#generationsOf(slice: EndpointSlice): Map<string, number> | undefined {
		return this.#services.get(serviceKeyOf(slice));
	}
}

function serviceKeyOf({ metadata }: EndpointSlice): string {
	return `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ""}`;
}

function generationOf(slice: EndpointSlice): number {
	return slice.metadata.generation ?? 0;
}
