/**
 * Owners that were seen to go. When the definition of a custom resource goes with its objects nobody can be asked for
 * them any more, and yet what they owned is garbage.
 */
import type { KubeObject, OwnerReference } from "../api/types/meta.ts";
import { type GraphNode, isMeant } from "./object-graph.ts";

/** The oldest are forgotten first; each is looked for soon after it went. */
const REMEMBERED_MAX = 10_000;

export class AbsentOwners {
	/** By uid. */
	readonly #gone = new Map<string, GraphNode>();

	add({ resource, object }: GraphNode): void {
		const { apiVersion, kind, metadata } = object;
		const { name, namespace, uid, resourceVersion } = metadata;
		const identity = { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) };
		this.#gone.set(uid, { resource, object: { apiVersion, kind, metadata: identity } as KubeObject });
		if (this.#gone.size <= REMEMBERED_MAX) return;
		for (const oldest of this.#gone.keys()) {
			this.#gone.delete(oldest);
			return;
		}
	}

	/** It is there after all. */
	remove(uid: string): void {
		this.#gone.delete(uid);
	}

	has(reference: OwnerReference, dependent: KubeObject): boolean {
		const known = this.#gone.get(reference.uid);
		return known !== undefined && isMeant(known, reference, dependent);
	}
}
