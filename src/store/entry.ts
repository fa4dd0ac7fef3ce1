/** What the store keeps, and the words for changing it. */
import type { KubeObject } from "../api/types/meta.ts";

/**
 * Cluster-wide count of commits. It never goes back, not even over a restart. Kubernetes shows it as
 * `resourceVersion`, an opaque string; only the API server turns one into the other.
 */
export type Revision = number;

/** Where an object lives: the storage prefix of its resource, and `namespace/name` or `name` below it. */
export interface Place {
	/** `/registry/pods/` */
	readonly space: string;
	/** `default/web-1` */
	readonly key: string;
}

export interface Entry {
	readonly key: string;
	/** Frozen all the way down; its `metadata.resourceVersion` is `modRevision`. */
	readonly object: KubeObject;
	readonly createRevision: Revision;
	readonly modRevision: Revision;
}

/** An entry, and the space that it is in. */
export interface PlacedEntry {
	readonly space: string;
	readonly entry: Entry;
}

export type Write =
	/** The object's resourceVersion is ignored: the commit's revision replaces it. */
	| ({ readonly kind: "put"; readonly object: KubeObject } & Place)
	/** `last` is shown to watchers as the final state, when it differs from the stored one. */
	| ({ readonly kind: "delete"; readonly last?: KubeObject } & Place);

/** Holds if the place's `modRevision` is `expected`; 0 means that nothing may be there. */
export interface Precondition extends Place {
	readonly expected: Revision;
}

export interface Commit {
	readonly writes: readonly Write[];
	readonly preconditions: readonly Precondition[];
}

export type StoreEvent =
	| {
			readonly kind: "put";
			readonly revision: Revision;
			readonly current: Entry;
			readonly previous: Entry | undefined;
	  }
	| {
			readonly kind: "delete";
			readonly revision: Revision;
			/** The last state, with the revision of the deletion as its resourceVersion. */
			readonly current: Entry;
			readonly previous: Entry;
	  };

/** The object as of `revision`: the same data, with its resourceVersion set. */
export function stamped(object: KubeObject, revision: Revision): KubeObject {
	return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
