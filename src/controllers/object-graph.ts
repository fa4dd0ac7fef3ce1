/** Who owns whom: what the garbage collector knows of every object. */
import type { Resource } from "../api/resource.ts";
import type { KubeObject, OwnerReference } from "../api/types/meta.ts";

export interface GraphNode {
	readonly resource: Resource;
	readonly object: KubeObject;
}

export class ObjectGraph {
	/** By uid. */
	readonly #nodes = new Map<string, GraphNode>();
	/** uids of dependents, by the uid of the owner; also of owners that are not, or no longer, there. */
	readonly #dependents = new Map<string, Set<string>>();

	get(uid: string): GraphNode | undefined {
		return this.#nodes.get(uid);
	}

	/** The objects of one resource. */
	of(resource: Resource): readonly GraphNode[] {
		return [...this.#nodes.values()].filter((node) => node.resource === resource);
	}

	put(resource: Resource, object: KubeObject): void {
		const { uid } = object.metadata;
		const known = this.#nodes.get(uid);
		this.#nodes.set(uid, { resource, object });
		if (known?.object.metadata.ownerReferences === object.metadata.ownerReferences) return;
		this.#unlink(uid, known?.object.metadata.ownerReferences);
		for (const owner of object.metadata.ownerReferences ?? []) this.#setOf(owner.uid).add(uid);
	}

	remove(object: KubeObject): void {
		const { uid } = object.metadata;
		this.#unlink(uid, this.#nodes.get(uid)?.object.metadata.ownerReferences);
		this.#nodes.delete(uid);
	}

	dependentsOf(uid: string): readonly GraphNode[] {
		const dependents: GraphNode[] = [];
		for (const dependent of this.#dependents.get(uid) ?? []) {
			const node = this.#nodes.get(dependent);
			if (node !== undefined) dependents.push(node);
		}
		return dependents;
	}

	#setOf(ownerUID: string): Set<string> {
		let dependents = this.#dependents.get(ownerUID);
		if (dependents === undefined) {
			dependents = new Set();
			this.#dependents.set(ownerUID, dependents);
		}
		return dependents;
	}

	#unlink(uid: string, owners: readonly OwnerReference[] | undefined): void {
		for (const owner of owners ?? []) {
			const dependents = this.#dependents.get(owner.uid);
			dependents?.delete(uid);
			if (dependents?.size === 0) this.#dependents.delete(owner.uid);
		}
	}
}

/** Group, kind and name must agree, and a namespaced owner must live where its dependent does. */
export function isMeant({ resource, object }: GraphNode, reference: OwnerReference, dependent: KubeObject): boolean {
	const [group = ""] = reference.apiVersion.includes("/") ? reference.apiVersion.split("/") : [];
	if (resource.kind !== reference.kind || resource.group !== group) return false;
	if (object.metadata.name !== reference.name) return false;
	return !resource.namespaced || object.metadata.namespace === dependent.metadata.namespace;
}
