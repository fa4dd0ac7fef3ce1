/**
 * What this process is writing: when the watch brings the very same bytes, the object is at hand, and shares what it
 * shares with its older states. Nothing is kept at rest.
 */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Place, Write } from "../../store/entry.ts";
import type { KeyValue } from "./messages.ts";
import { storedValue } from "./stored-values.ts";

interface OwnWrite {
	readonly value: Uint8Array;
	readonly object: KubeObject;
}

interface Begun {
	/** One for each write; undefined for those that delete. */
	readonly values: readonly (Uint8Array | undefined)[];
	end(): void;
}

export class OwnWrites {
	readonly #byKey = new Map<string, Set<OwnWrite>>();

	begin(writes: readonly Write[], keyOf: (place: Place) => string): Begun {
		const begun: { readonly key: string; readonly write: OwnWrite }[] = [];
		const values = writes.map((write) => {
			if (write.kind === "delete") return undefined;
			const own = { value: storedValue(write.object), object: write.object };
			const key = keyOf(write);
			begun.push({ key, write: own });
			this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(own));
			return own.value;
		});
		return { values, end: () => this.#end(begun) };
	}

	objectOf({ key, value }: KeyValue): KubeObject | undefined {
		for (const own of this.#byKey.get(key) ?? []) if (Buffer.compare(own.value, value) === 0) return own.object;
		return undefined;
	}

	#end(begun: readonly { readonly key: string; readonly write: OwnWrite }[]): void {
		for (const { key, write } of begun) {
			const writes = this.#byKey.get(key);
			writes?.delete(write);
			if (writes?.size === 0) this.#byKey.delete(key);
		}
	}
}
