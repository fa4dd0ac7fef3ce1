/** Pods by the node that they are bound to. */
import type { Pod } from "../api/types/core.ts";
import type { Informer } from "../machinery/informer.ts";

const BY_NODE = "byNode";

export class PodsByNode {
	readonly #pods: Informer<Pod>;

	constructor(pods: Informer<Pod>) {
		this.#pods = pods;
		pods.addIndex(BY_NODE, ({ spec }) => ((spec.nodeName ?? "") === "" ? [] : [spec.nodeName ?? ""]));
	}

	on(nodeName: string): readonly Pod[] {
		return this.#pods.index(BY_NODE, nodeName);
	}
}
