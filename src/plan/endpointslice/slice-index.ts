/**
 * What the Pods of one Service mean to its slices, kept from plan to plan, so that a change of one Pod costs
 * what changes, not the size of the Service. Gives the same plans as a look at all Pods.
 */
import type { Node, Pod, Service } from "../../api/types/core.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { compareStrings, sortedBy } from "../../kernel/order.ts";
import { hasLiveAddress } from "../pod-facts.ts";
import { familiesOf } from "./families.ts";
import { GroupIndex } from "./group-index.ts";
import type { MissingNode, WantedEndpoints } from "./plan-family.ts";
import { type PodEntries, type PodEntry, RememberedEntries } from "./pod-entry.ts";
import { problemOf } from "./wanted-endpoints.ts";

type Nodes = { get(name: string): Node | undefined };

/** Holds for one Service object, and as long as the zones of Nodes stay what they are. */
export class SliceIndex {
	readonly service: Service;
	readonly #nodes: Nodes;
	readonly #entries: PodEntries;
	readonly #families: ReadonlyMap<IPFamily, FamilyIndex>;

	constructor(service: Service, nodes: Nodes, pods: Iterable<Pod>) {
		this.service = service;
		this.#nodes = nodes;
		this.#entries = new RememberedEntries(service);
		this.#families = new Map(familiesOf(service).map((family) => [family, new FamilyIndex(service, family)]));
		for (const pod of sortedBy(pods, ({ metadata }) => metadata.name)) this.put(pod);
	}

	/** A Pod that the Service selects is new, or has changed. */
	put(pod: Pod): void {
		this.remove(pod.metadata.name);
		if (!hasLiveAddress(pod)) return;
		const node = this.#nodes.get(pod.spec.nodeName ?? "");
		const entry = this.#entries.of(pod, node);
		const problem = problemOf(pod, node, this.service);
		for (const family of this.#families.values()) family.add(pod.metadata.name, entry, problem);
	}

	/** The Pod of this name is gone, or no longer selected. */
	remove(pod: string): void {
		for (const family of this.#families.values()) family.remove(pod);
	}

	wanted(family: IPFamily): WantedEndpoints {
		return this.#families.get(family)?.wanted() ?? { groups: new Map(), problems: [] };
	}
}

interface Place {
	readonly group: GroupIndex;
	readonly identity: string | undefined;
}

class FamilyIndex {
	readonly #service: Service;
	readonly #family: IPFamily;
	readonly #groups = new Map<string, GroupIndex>();
	/** By name of the Pod. */
	readonly #places = new Map<string, Place>();
	readonly #problems = new Map<string, MissingNode>();

	constructor(service: Service, family: IPFamily) {
		this.#service = service;
		this.#family = family;
	}

	add(pod: string, entry: PodEntry, problem: MissingNode | undefined): void {
		const { key } = entry.group;
		const group = this.#groups.get(key) ?? new GroupIndex(entry.group, this.#service);
		this.#groups.set(key, group);
		if (problem !== undefined) this.#problems.set(pod, problem);
		const found = problem === undefined ? entry.endpoint(this.#family) : undefined;
		group.add(pod, found);
		this.#places.set(pod, { group, identity: found?.identity });
	}

	remove(pod: string): void {
		const place = this.#places.get(pod);
		if (place === undefined) return;
		const { group, identity } = place;
		group.remove(pod, identity);
		if (group.firstPod === undefined) this.#groups.delete(group.key);
		this.#places.delete(pod);
		this.#problems.delete(pod);
	}

	wanted(): WantedEndpoints {
		const groups = [...this.#groups].sort(([, a], [, b]) => compareStrings(a.firstPod ?? "", b.firstPod ?? ""));
		return { groups: new Map(groups), problems: sortedBy(this.#problems.values(), ({ pod }) => pod) };
	}
}
