/** One proxy for each node, and for each name under which a scenario has one started. */
import type { Node } from "../../api/types/core.ts";
import type { ScenarioProxy } from "./proxy.ts";

export type MakeProxy = (node: Node, startedAs: string) => ScenarioProxy;

export class Proxies {
	/** By name of the node, then by the name that the proxy was given. */
	readonly #proxies = new Map<string, Map<string, ScenarioProxy>>();

	get all(): readonly ScenarioProxy[] {
		return [...this.#proxies.values()].flatMap((byName) => [...byName.values()]);
	}

	/** @param names Names, besides its own, that a node's proxy was given. */
	add(node: Node, names: readonly string[], make: MakeProxy): void {
		const { name } = node.metadata;
		this.#proxies.set(name, new Map([...new Set([name, ...names])].map((each) => [each, make(node, each)])));
	}

	/** Of every node, or of one. */
	of(node: string | undefined): readonly ScenarioProxy[] {
		return node === undefined ? this.all : [...(this.#proxies.get(node)?.values() ?? [])];
	}

	get(node: string, startedAs: string = node): ScenarioProxy | undefined {
		return this.#proxies.get(node)?.get(startedAs);
	}
}
