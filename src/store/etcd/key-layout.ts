/**
 * Where a real API server keeps objects in etcd, and back from a key to the place in the store.
 *
 *     /registry/services/specs/default/web       space /registry/services/specs/     key default/web
 *     /registry/stable.example.com/crontabs/a/b  space /registry/stable.example.com/crontabs/    key a/b
 *     /registry/masterleases/10.0.0.1            none: a kind that is not served
 */
import type { Place } from "../entry.ts";

/** How every space begins, whatever the prefix in etcd is. */
const ROOT = "/registry";

export class KeyLayout {
	readonly #prefix: string;
	readonly #spaces: ReadonlySet<string>;

	/**
	 * @param prefix `/registry`, or what `--etcd-prefix` says; slashes at its ends do not matter.
	 * @param spaces Of the kinds that are built in. A first part with a dot is the group of a custom resource.
	 */
	constructor(prefix: string, spaces: readonly string[]) {
		const trimmed = prefix.replace(/^\/+|\/+$/g, "");
		this.#prefix = trimmed === "" ? "" : `/${trimmed}`;
		this.#spaces = new Set(spaces);
	}

	/** All keys of the store, from the first one to the first one behind them. */
	get range(): { readonly key: string; readonly rangeEnd: string } {
		// "0" is the character behind "/".
		return { key: `${this.#prefix}/`, rangeEnd: `${this.#prefix}0` };
	}

	keyOf({ space, key }: Place): string {
		return `${this.#prefix}${space.slice(ROOT.length)}${key}`;
	}

	/** Undefined: no place of this store. */
	placeOf(etcdKey: string): Place | undefined {
		if (!etcdKey.startsWith(`${this.#prefix}/`)) return undefined;
		const rest = etcdKey.slice(this.#prefix.length);
		const first = rest.indexOf("/", 1) + 1;
		if (first === 0) return undefined;
		const short = this.#placeAt(rest, first);
		if (short !== undefined) return short;
		const second = rest.indexOf("/", first) + 1;
		if (second === 0) return undefined;
		return this.#placeAt(rest, second, rest.slice(0, first).includes("."));
	}

	#placeAt(rest: string, end: number, isCustom = false): Place | undefined {
		const space = ROOT + rest.slice(0, end);
		const key = rest.slice(end);
		return key !== "" && (isCustom || this.#spaces.has(space)) ? { space, key } : undefined;
	}
}
