/** How many Pods each node runs, of which workloads, and what they ask of it. */
import type { Demand, HostPort } from "../plan/workloads/pod-demand.ts";
import type { NodeLoad } from "../plan/workloads/scheduling.ts";

interface Bound {
	readonly nodeName: string;
	readonly group: string;
	readonly demand: Demand | undefined;
}

interface Total extends Demand {
	readonly requests: Map<string, bigint>;
	readonly ports: Set<HostPort>;
}

export class NodeLoads {
	/** By uid of the Pod. */
	readonly #bound = new Map<string, Bound>();
	readonly #counts = new Map<string, number>();
	/** By name of the node; those whose Pods ask for nothing are not there. */
	readonly #totals = new Map<string, Total>();

	has(uid: string): boolean {
		return this.#bound.has(uid);
	}

	put(uid: string, nodeName: string, group: string, demand?: Demand): void {
		if (this.#bound.has(uid)) return;
		this.#bound.set(uid, { nodeName, group, demand });
		this.#add(nodeName, 1);
		this.#add(siblingKey(nodeName, group), 1);
		if (demand !== undefined) this.#take(nodeName, demand);
	}

	/** Whether the Pod was counted. */
	remove(uid: string): boolean {
		const bound = this.#bound.get(uid);
		if (bound === undefined) return false;
		this.#bound.delete(uid);
		this.#add(bound.nodeName, -1);
		this.#add(siblingKey(bound.nodeName, bound.group), -1);
		if (bound.demand !== undefined) this.#giveBack(bound.nodeName, bound.demand);
		return true;
	}

	on(nodeName: string, group: string): NodeLoad {
		return {
			count: this.#counts.get(nodeName) ?? 0,
			siblings: this.#counts.get(siblingKey(nodeName, group)) ?? 0,
			demand: this.#totals.get(nodeName),
		};
	}

	#take(nodeName: string, { requests, ports }: Demand): void {
		const total = this.#totals.get(nodeName) ?? { requests: new Map(), ports: new Set() };
		this.#totals.set(nodeName, total);
		for (const [name, nanos] of requests) total.requests.set(name, (total.requests.get(name) ?? 0n) + nanos);
		for (const port of ports) total.ports.add(port);
	}

	/** Ports are told apart by identity, so that two Pods that were put on one port by hand count twice. */
	#giveBack(nodeName: string, { requests, ports }: Demand): void {
		const total = this.#totals.get(nodeName);
		if (total === undefined) return;
		for (const [name, nanos] of requests) {
			const rest = (total.requests.get(name) ?? 0n) - nanos;
			if (rest === 0n) total.requests.delete(name);
			else total.requests.set(name, rest);
		}
		for (const port of ports) total.ports.delete(port);
		if (total.requests.size === 0 && total.ports.size === 0) this.#totals.delete(nodeName);
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
