/** Objects by the uid of their controller, and by namespace those that have none. */
import { controllerOf } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import type { Informer } from "../machinery/informer.ts";

const BY_CONTROLLER = "byController";

export class OwnerIndex<T extends KubeObject> {
	readonly #informer: Informer<T>;

	constructor(informer: Informer<T>) {
		this.#informer = informer;
		informer.addIndex(BY_CONTROLLER, (object) => [controllerOf(object)?.uid ?? nobodyIn(object.metadata.namespace)]);
	}

	ownedBy(uid: string): readonly T[] {
		return this.#informer.index(BY_CONTROLLER, uid);
	}

	/** What a workload of this namespace and uid may claim: its own, and what is nobody's. */
	claimable({ metadata }: KubeObject): readonly T[] {
		const owned = this.ownedBy(metadata.uid);
		const orphans = this.#informer.index(BY_CONTROLLER, nobodyIn(metadata.namespace));
		return orphans.length === 0 ? owned : [...owned, ...orphans];
	}
}

/** uids have no slash. */
function nobodyIn(namespace = ""): string {
	return `nobody/${namespace}`;
}
