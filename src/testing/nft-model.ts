/**
 * What `nft -f` does to one table, in memory, with the kernel's refusals: EEXIST for another verdict under the same
 * key, ENOENT for what is not there, EBUSY for a chain or set that something still leads to.
 */
import { assert, assertDefined } from "../kernel/assert.ts";

export class NftRefusal extends Error {}

interface Tables {
	readonly chains: Map<string, string[]>;
	/** Sets and maps: by key, the verdict or "". */
	readonly sets: Map<string, Map<string, string>>;
	/** Definitions of sets, to see whether a timeout changed. */
	readonly definitions: Map<string, string>;
}

export class NftModel {
	#tables: Tables = { chains: new Map(), sets: new Map(), definitions: new Map() };

	/** All of it, or nothing. @throws {NftRefusal} */
	load(text: string): void {
		const next = copyOf(this.#tables);
		const touched = new Set<string>();
		for (const line of text.split("\n")) if (line !== "" && !line.startsWith("#")) apply(next, line, touched);
		for (const [name, rules] of next.chains) for (const rule of rules) requireTargets(next, rule, name);
		for (const [name, set] of next.sets) for (const verdict of set.values()) requireTargets(next, verdict, name);
		this.#tables = next;
	}

	/** Sorted, so that two tables that do the same look the same; affinity sets by their definition. */
	get snapshot(): Readonly<Record<string, unknown>> {
		const { chains, sets, definitions } = this.#tables;
		const sorted = <V>(map: ReadonlyMap<string, V>) =>
			Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
		return {
			chains: sorted(chains),
			sets: sorted(new Map([...sets].map(([name, set]) => [name, sorted(set)]))),
			definitions: sorted(definitions),
		};
	}

	get chainNames(): readonly string[] {
		return [...this.#tables.chains.keys()];
	}

	elementsOf(set: string): ReadonlyMap<string, string> {
		return this.#tables.sets.get(set) ?? new Map();
	}

	rulesOf(chain: string): readonly string[] {
		return this.#tables.chains.get(chain) ?? [];
	}

	/** Names and definitions of sets and maps. */
	get definitions(): ReadonlyMap<string, string> {
		return this.#tables.definitions;
	}
}

function copyOf({ chains, sets, definitions }: Tables): Tables {
	return {
		chains: new Map([...chains].map(([name, rules]) => [name, [...rules]])),
		sets: new Map([...sets].map(([name, set]) => [name, new Map(set)])),
		definitions: new Map(definitions),
	};
}

const LINE = /^(add|flush|delete) (table|chain|set|map|rule|element) \S+ \S+ ?(\S+)? ?(.*)$/;

function apply(tables: Tables, line: string, touched: Set<string>): void {
	const [, verb = "", kind = "", name = "", rest = ""] = LINE.exec(line) ?? [];
	switch (`${verb} ${kind}`) {
		case "add table":
			return;
		case "add chain":
			if (!tables.chains.has(name)) tables.chains.set(name, []);
			return;
		case "flush chain":
			assertDefined(tables.chains.get(name) ?? refuse("ENOENT", line), name).length = 0;
			return;
		case "delete chain":
			if (!tables.chains.has(name)) refuse("ENOENT", line);
			tables.chains.delete(name);
			if (isReferred(tables, name)) refuse("EBUSY", line);
			return;
		case "add rule":
			assertDefined(tables.chains.get(name) ?? refuse("ENOENT", line), name).push(rest);
			return;
		case "add set":
		case "add map":
			if (!tables.sets.has(name)) tables.sets.set(name, new Map());
			tables.definitions.set(name, rest);
			touched.add(name);
			return;
		case "flush set":
			assertDefined(tables.sets.get(name) ?? refuse("ENOENT", line), name).clear();
			return;
		case "delete set":
			if (!tables.sets.has(name)) refuse("ENOENT", line);
			if ([...tables.chains.values()].some((rules) => rules.some((rule) => names(rule, "@").has(name)))) {
				refuse("EBUSY", line);
			}
			tables.sets.delete(name);
			tables.definitions.delete(name);
			return;
		case "add element":
		case "delete element":
			elements(tables, { verb, name, rest, line });
			return;
		default:
			assert(false, `a line that nft understands: ${line}`);
	}
}

function elements(
	tables: Tables,
	{
		verb,
		name,
		rest,
		line,
	}: { readonly verb: string; readonly name: string; readonly rest: string; readonly line: string },
): void {
	const set = assertDefined(tables.sets.get(name) ?? refuse("ENOENT", line), name);
	for (const text of rest.replace(/^\{ | \}$/g, "").split(", ")) {
		const [key = "", verdict = ""] = text.split(" : ");
		const known = set.get(key);
		if (verb === "delete") {
			if (known === undefined) refuse("ENOENT", line);
			set.delete(key);
		} else {
			if (known !== undefined && known !== verdict) refuse("EEXIST", line);
			set.set(key, verdict);
		}
	}
}

function isReferred({ chains, sets }: Tables, chain: string): boolean {
	const texts = [...[...chains.values()].flat(), ...[...sets.values()].flatMap((set) => [...set.values()])];
	return texts.some((text) => names(text, "goto ").has(chain) || names(text, "jump ").has(chain));
}

function requireTargets({ chains, sets }: Tables, text: string, of: string): void {
	for (const before of ["goto ", "jump "]) {
		for (const name of names(text, before)) if (!chains.has(name)) refuse("ENOENT", `${of}: ${text}`);
	}
	for (const name of names(text, "@")) if (!sets.has(name)) refuse("ENOENT", `${of}: ${text}`);
}

/** Names that follow a word: `goto service-…`. */
function names(text: string, before: string): ReadonlySet<string> {
	return new Set([...text.matchAll(new RegExp(`${before}([^ ,}]+)`, "g"))].map(([, name = ""]) => name));
}

function refuse(code: "EEXIST" | "ENOENT" | "EBUSY", line: string): never {
	throw new NftRefusal(`${code}: ${line}`);
}
