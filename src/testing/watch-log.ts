/** Everything that watchers of a store could have seen, with the time at which they saw it. */
import type { ResourceType } from "../api/resource.ts";
import { RESOURCE_TYPES } from "../api/resource-table.ts";
import type { KubeObject } from "../api/types/meta.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Revision, StoreEvent } from "../store/entry.ts";
import type { Store } from "../store/store.ts";

export interface LoggedEvent<T extends KubeObject = KubeObject> {
	/** Milliseconds since the log began. */
	readonly atMs: number;
	readonly type: "ADDED" | "MODIFIED" | "DELETED";
	readonly plural: string;
	/** `namespace/name`, or `name`. */
	readonly key: string;
	readonly object: T;
}

export class WatchLog {
	readonly events: LoggedEvent[] = [];
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #startedMs: number;
	readonly #types = new Map<string, ResourceType>(RESOURCE_TYPES.map((type) => [type.storagePrefix, type]));
	#cursor: Revision;
	/** Writes no more. */
	readonly stop: () => void;

	/** Begins with the next commit. */
	constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
		this.#store = store;
		this.#clock = clock;
		this.#startedMs = clock.monotonicMs();
		this.#cursor = store.revision;
		this.stop = store.onCommit((spaces) => {
			for (const space of spaces) this.#read(space);
			this.#cursor = store.revision;
		});
	}

	/** Events of one resource, and of one object when `key` is given, oldest first. */
	of<T extends KubeObject>(resource: { readonly plural: string }, key?: string): readonly LoggedEvent<T>[] {
		const chosen = this.events.filter((event) => event.plural === resource.plural && event.key === (key ?? event.key));
		// A resource's objects are of its type: its schema decoded them.
		return chosen as LoggedEvent<T>[];
	}

	/** One line per event, whole objects included: two runs are equal when these are. */
	dump(): string {
		const lines = this.events.map(
			({ atMs, type, plural, key, object }) => `+${atMs} ${type} ${plural} ${key} ${JSON.stringify(object)}\n`,
		);
		return lines.join("");
	}

	#read(space: string): void {
		const type = this.#types.get(space);
		if (type === undefined) return;
		const batch = this.#store.space(space).readAfter(this.#cursor, Number.MAX_SAFE_INTEGER, this.#store.revision);
		if (batch.kind === "compacted") return;
		for (const event of batch.events) {
			this.events.push({
				atMs: this.#clock.monotonicMs() - this.#startedMs,
				type: typeOf(event),
				plural: type.plural,
				key: event.current.key,
				object: event.current.object,
			});
		}
	}
}

function typeOf(event: StoreEvent): LoggedEvent["type"] {
	if (event.kind === "delete") return "DELETED";
	return event.previous === undefined ? "ADDED" : "MODIFIED";
}
