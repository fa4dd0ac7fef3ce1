/** How many Pods each node runs, and of which workloads. */
import type { NodeLoad } from "../plan/workloads/scheduling.ts";

interface Bound {
	readonly nodeName: string;
	readonly group: string;
}

export class NodeLoads {
	/** By uid of the Pod. */
	readonly #bound = new Map<string, Bound>();
	readonly #counts = new Map<string, number>();

	put(uid: string, nodeName: string, group: string): void {
		if (this.#bound.has(uid)) return;
		this.#bound.set(uid, { nodeName, group });
		this.#add(nodeName, 1);
		this.#add(siblingKey(nodeName, group), 1);
	}

	/** Whether the Pod was counted. */
	remove(uid: string): boolean {
		const bound = this.#bound.get(uid);
		if (bound === undefined) return false;
		this.#bound.delete(uid);
		this.#add(bound.nodeName, -1);
		this.#add(siblingKey(bound.nodeName, bound.group), -1);
		return true;
	}

	on(nodeName: string, group: string): NodeLoad {
		return {
			count: this.#counts.get(nodeName) ?? 0,
			siblings: this.#counts.get(siblingKey(nodeName, group)) ?? 0,
		};
	}

	#add(key: string, by: number): void {
		const count = (this.#counts.get(key) ?? 0) + by;
		if (count === 0) this.#counts.delete(key);
		else this.#counts.set(key, count);
	}
}

/** Node names have no slash. */
function siblingKey(nodeName: string, group: string): string {
	return `${nodeName}/${group}`;
}
