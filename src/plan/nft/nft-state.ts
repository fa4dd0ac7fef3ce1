/**
 * What the kernel has and what it should have, and the transactions that lead from one to the other.
 *
 * Nothing is read back from the kernel while all goes well: a change costs what the Services that it concerns cost.
 * After a transaction that failed, `adopt` takes what was found there, and the difference is brought in line.
 */
import { assertDefined } from "../../kernel/assert.ts";
import {
	type AffinitySet,
	type Container,
	isServiceChain,
	type NftElement,
	type NftObjects,
	NO_OBJECTS,
} from "./objects.ts";

/** As listed from the kernel. Rules of chains are not read: a chain that is found is written anew. */
export interface Listing {
	readonly elements: readonly NftElement[];
	readonly chains: readonly string[];
	readonly affinitySets: readonly AffinitySet[];
}

export interface Transaction {
	/** For `nft -f -`: all of it happens, or nothing. */
	readonly text: string;
	/** `namespace/name` of the Services that it brings up to date. */
	readonly services: readonly string[];
}

/**
 * How long a chain that nothing leads to is kept, empty: kernels before 6.2 still count a reference that went in the
 * same moment, and refuse the whole transaction. @see kubernetes/kubernetes#122604
 */
const IDLE_CHAIN_MS = 1_000;
const UNKNOWN_RULES = "?";

export class NftState {
	readonly #at: string;
	readonly #wanted = new Map<string, NftObjects>();
	/** Which Services want an element: the oldest has it. */
	readonly #claims = new Map<string, Map<string, NftElement>>();
	readonly #dirty = new Set<string>();
	/** Elements, chains and sets that were found and that no Service may want. */
	readonly #found: { elements: Set<string>; chains: Set<string>; sets: Set<string> } = {
		elements: new Set(),
		chains: new Set(),
		sets: new Set(),
	};
	/** Names of chains and affinity sets; each belongs to one Service. */
	readonly #wantedNames = new Set<string>();
	/** By container and key: the verdict in the kernel. */
	readonly #elements = new Map<string, string>();
	/** By name: the text of its rules in the kernel. */
	readonly #chains = new Map<string, string>();
	readonly #sets = new Map<string, number>();
	readonly #idle = new Map<string, number>();
	#planned: Planned | undefined;

	/** @param at `ip sliceplane`: family and table. */
	constructor(at: string) {
		this.#at = at;
	}

	/** Services whose rules are behind. */
	get pending(): number {
		return this.#dirty.size;
	}

	/** Takes the place of what the Service wanted before. `service` is `namespace/name`. */
	put(service: string, objects: NftObjects): void {
		const before = this.#wanted.get(service) ?? NO_OBJECTS;
		const now = new Set(objects.elements.map(refOf));
		for (const element of before.elements) if (!now.has(refOf(element))) this.#unclaim(service, element);
		for (const element of objects.elements) this.#claim(service, element);
		for (const { name } of before.chains) this.#found.chains.add(name);
		for (const { name } of before.affinitySets) this.#found.sets.add(name);
		for (const name of namesOf(before)) this.#wantedNames.delete(name);
		for (const name of namesOf(objects)) this.#wantedNames.add(name);
		if (objects === NO_OBJECTS) this.#wanted.delete(service);
		else this.#wanted.set(service, objects);
		this.#dirty.add(service);
	}

	/** When chains that nothing leads to may be deleted; undefined when there are none. */
	get dueMs(): number | undefined {
		return this.#idle.size === 0 ? undefined : Math.min(...this.#idle.values()) + IDLE_CHAIN_MS;
	}

	/** What every Service wants, whether the kernel has it or not. */
	get wanted(): ReadonlyMap<string, NftObjects> {
		return this.#wanted;
	}

	/** What was loaded: how many rules each chain of a Service has. */
	get ruleCounts(): ReadonlyMap<string, number> {
		return new Map([...this.#chains].map(([name, text]) => [name, text === "" ? 0 : text.split("\n").length]));
	}

	/** What was loaded, but for the verdicts of sets, which have none. */
	get elements(): readonly NftElement[] {
		return [...this.#elements].map(([ref, verdict]) => {
			const [container, key] = partsOf(ref);
			return { container, key, ...(verdict === "" ? {} : { verdict }) };
		});
	}

	remove(service: string): void {
		if (this.#wanted.has(service)) this.put(service, NO_OBJECTS);
	}

	/** The kernel has exactly this; every Service is looked at again. */
	adopt({ elements, chains, affinitySets }: Listing): void {
		this.#elements.clear();
		this.#chains.clear();
		this.#sets.clear();
		this.#idle.clear();
		for (const element of elements) {
			this.#elements.set(refOf(element), element.verdict ?? "");
			this.#found.elements.add(refOf(element));
		}
		for (const name of chains.filter(isServiceChain)) {
			this.#chains.set(name, UNKNOWN_RULES);
			this.#found.chains.add(name);
		}
		for (const { name, timeoutSeconds } of affinitySets) {
			this.#sets.set(name, timeoutSeconds);
			this.#found.sets.add(name);
		}
		for (const service of this.#wanted.keys()) this.#dirty.add(service);
	}

	/**
	 * The next step for at most `servicesMax` Services, or undefined when nothing is behind.
	 * Call {@link commit} when it was loaded, or `adopt` what is there when it was not.
	 *
	 * @param hasMore More Services are to be put: what nobody wants yet may be theirs, and stays.
	 */
	next(nowMs: number, servicesMax: number, hasMore = false): Transaction | undefined {
		const services = this.#batch(servicesMax);
		const isLast = services.length === this.#dirty.size && !hasMore;
		const change = this.#change(services, isLast);
		const inUse = new Set(change.chains.map(({ name }) => name));
		const expired = [...this.#idle]
			.filter(([name, sinceMs]) => nowMs - sinceMs >= IDLE_CHAIN_MS && !inUse.has(name))
			.map(([name]) => name);
		const lines = [...this.#lines(change), ...expired.map((name) => `delete chain ${this.#at} ${name}`)];
		this.#planned = { change, services, expired, nowMs };
		if (lines.length === 0) {
			this.commit();
			return this.#dirty.size === 0 ? undefined : this.next(nowMs, servicesMax, hasMore);
		}
		return { text: `${lines.join("\n")}\n`, services };
	}

	/** The transaction that `next` gave was loaded. */
	commit(): void {
		const { change, services, expired, nowMs } = assertDefined(this.#planned, "a transaction that was made");
		this.#planned = undefined;
		for (const service of services) this.#dirty.delete(service);
		for (const name of expired) {
			this.#idle.delete(name);
			this.#chains.delete(name);
		}
		for (const { name, rules } of change.chains) {
			this.#chains.set(name, rules.join("\n"));
			this.#idle.delete(name);
		}
		for (const name of change.emptied) {
			this.#chains.set(name, "");
			this.#idle.set(name, nowMs);
		}
		for (const { name, timeoutSeconds } of change.newSets) this.#sets.set(name, timeoutSeconds);
		for (const name of change.goneSets) this.#sets.delete(name);
		for (const ref of change.goneElements) this.#elements.delete(ref);
		for (const element of change.newElements) this.#elements.set(refOf(element), element.verdict ?? "");
		for (const ref of change.refs) this.#found.elements.delete(ref);
		for (const name of change.looked.chains) this.#found.chains.delete(name);
		for (const name of change.looked.sets) this.#found.sets.delete(name);
	}

	/** Those that are behind, with those whose chains they lead to. */
	#batch(servicesMax: number): readonly string[] {
		const batch = new Set<string>();
		for (const service of this.#dirty) {
			if (batch.size >= servicesMax) break;
			batch.add(service);
		}
		for (const service of batch) {
			for (const element of this.#wanted.get(service)?.elements ?? []) {
				const winner = this.#winner(refOf(element));
				if (winner !== undefined && this.#dirty.has(winner)) batch.add(winner);
			}
		}
		return [...batch];
	}

	#change(services: readonly string[], isLast: boolean): Change {
		const wanted = services.map((service) => this.#wanted.get(service) ?? NO_OBJECTS);
		const sets = wanted.flatMap(({ affinitySets }) => affinitySets);
		const newSets = sets.filter(({ name, timeoutSeconds }) => this.#sets.get(name) !== timeoutSeconds);
		const changedSets = new Set(newSets.filter(({ name }) => this.#sets.has(name)).map(({ name }) => name));
		const chains = wanted
			.flatMap((objects) => objects.chains)
			.filter(({ name, rules }) => this.#chains.get(name) !== rules.join("\n") || usesAny(rules, changedSets));
		const refs = new Set(wanted.flatMap(({ elements }) => elements.map(refOf)));
		// What nobody wants any more goes when everybody has been looked at: it may be another one's by then.
		if (isLast) for (const ref of this.#found.elements) refs.add(ref);
		// A Service's own leftovers go with it: a chain that nothing leads to may still hold a set that is to be made anew.
		const own = new Set(services);
		const isLooked = (name: string): boolean => isLast || own.has(serviceOf(name));
		const looked = {
			chains: [...this.#found.chains].filter(isLooked),
			sets: [...this.#found.sets].filter(isLooked),
		};
		const isGone = (name: string): boolean => !this.#wantedNames.has(name);
		return {
			newSets,
			changedSets,
			chains,
			...this.#elementChanges(refs),
			refs,
			emptied: looked.chains.filter((name) => isGone(name) && this.#chains.has(name) && !this.#idle.has(name)),
			goneSets: looked.sets.filter((name) => isGone(name) && this.#sets.has(name)),
			looked,
		};
	}

	#elementChanges(refs: ReadonlySet<string>): Pick<Change, "newElements" | "goneElements"> {
		const newElements: NftElement[] = [];
		const goneElements: string[] = [];
		for (const ref of refs) {
			const winner = this.#winner(ref);
			const element = winner === undefined ? undefined : this.#claims.get(ref)?.get(winner);
			const now = this.#elements.get(ref);
			if (now === (element === undefined ? undefined : (element.verdict ?? ""))) continue;
			if (now !== undefined) goneElements.push(ref);
			if (element !== undefined) newElements.push(element);
		}
		return { newElements, goneElements };
	}

	/** First what is referred to, then what refers to it; and the other way round for what goes. */
	#lines(change: Change): readonly string[] {
		const at = this.#at;
		const rewritten = new Set(change.chains.map(({ name }) => name));
		return [
			...[...rewritten].filter((name) => !this.#chains.has(name)).map((name) => `add chain ${at} ${name}`),
			...[...rewritten].filter((name) => this.#chains.has(name)).map((name) => `flush chain ${at} ${name}`),
			...change.emptied.map((name) => `flush chain ${at} ${name}`),
			...[...change.changedSets].map((name) => `delete set ${at} ${name}`),
			...change.newSets.map(({ name, timeoutSeconds }) => {
				const type = at.startsWith("ip6") ? "ipv6_addr" : "ipv4_addr";
				return `add set ${at} ${name} { type ${type}; flags dynamic,timeout; timeout ${timeoutSeconds}s; }`;
			}),
			...change.chains.flatMap(({ name, rules }) => rules.map((rule) => `add rule ${at} ${name} ${rule}`)),
			...byContainer(change.goneElements.map(partsOf)).map(
				([container, keys]) => `delete element ${at} ${container} { ${keys.join(", ")} }`,
			),
			...byContainer(change.newElements.map((element) => [element.container, elementText(element)] as const)).map(
				([container, texts]) => `add element ${at} ${container} { ${texts.join(", ")} }`,
			),
			...change.goneSets.map((name) => `delete set ${at} ${name}`),
		];
	}

	#claim(service: string, element: NftElement): void {
		const ref = refOf(element);
		const claims = this.#claims.get(ref) ?? new Map<string, NftElement>();
		claims.set(service, element);
		this.#claims.set(ref, claims);
	}

	#unclaim(service: string, element: NftElement): void {
		const ref = refOf(element);
		const claims = this.#claims.get(ref);
		claims?.delete(service);
		if (claims?.size === 0) this.#claims.delete(ref);
		this.#found.elements.add(ref);
	}

	/** The oldest Service that wants the element; of two made in the same second, the first by name. */
	#winner(ref: string): string | undefined {
		const services = this.#claims.get(ref)?.keys() ?? [];
		let [winner, age] = [undefined as string | undefined, ""];
		for (const service of services) {
			const own = `${this.#wanted.get(service)?.createdAt ?? ""} ${service}`;
			if (winner === undefined || own < age) [winner, age] = [service, own];
		}
		return winner;
	}
}

interface Change {
	readonly chains: readonly { readonly name: string; readonly rules: readonly string[] }[];
	readonly newSets: readonly AffinitySet[];
	readonly changedSets: ReadonlySet<string>;
	readonly newElements: readonly NftElement[];
	readonly goneElements: readonly string[];
	readonly emptied: readonly string[];
	readonly goneSets: readonly string[];
	readonly refs: ReadonlySet<string>;
	readonly looked: { readonly chains: readonly string[]; readonly sets: readonly string[] };
}

interface Planned {
	readonly change: Change;
	readonly services: readonly string[];
	readonly expired: readonly string[];
	readonly nowMs: number;
}

function refOf({ container, key }: Pick<NftElement, "container" | "key">): string {
	return `${container} ${key}`;
}

function partsOf(ref: string): readonly [Container, string] {
	const space = ref.indexOf(" ");
	return [ref.slice(0, space) as Container, ref.slice(space + 1)];
}

function elementText({ key, verdict }: NftElement): string {
	return verdict === undefined ? key : `${key} : ${verdict}`;
}

function byContainer(parts: readonly (readonly [Container, string])[]): readonly [Container, readonly string[]][] {
	const lists = new Map<Container, string[]>();
	for (const [container, text] of parts) {
		const list = lists.get(container) ?? [];
		list.push(text);
		lists.set(container, list);
	}
	return [...lists];
}

function namesOf({ chains, affinitySets }: NftObjects): readonly string[] {
	return [...chains.map(({ name }) => name), ...affinitySets.map(({ name }) => name)];
}

/** `namespace/name` out of the name of a chain or an affinity set. */
function serviceOf(name: string): string {
	return /^[a-z]+-[^-]*-([^/]+\/[^/]+)\//.exec(name)?.[1] ?? "";
}

function usesAny(rules: readonly string[], sets: ReadonlySet<string>): boolean {
	return sets.size > 0 && rules.some((rule) => [...sets].some((name) => rule.includes(`@${name} `)));
}
