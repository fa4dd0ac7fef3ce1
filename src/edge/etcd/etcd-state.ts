/** Everything that etcd holds for a store, as of one revision. */

import type { KubeObject } from "../../api/types/meta.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Counter, Metrics } from "../../kernel/metrics.ts";
import type { Place, PlacedEntry, Revision } from "../../store/entry.ts";
import { stamped } from "../../store/entry.ts";
import type { KeyLayout } from "../../store/etcd/key-layout.ts";
import type { EtcdClient } from "./etcd-client.ts";
import type { KeyValue } from "./messages.ts";
import { objectOfValue } from "./stored-values.ts";

/** Objects of one answer: some MiB as objects are, and some hundred MiB at most. */
const PAGE_OBJECTS = 500;

export interface EtcdState {
	readonly revision: Revision;
	readonly clusterId: bigint;
	readonly entries: readonly PlacedEntry[];
}

/** Reads values; what cannot be read is told, counted, and as if it were not there. */
export class ValueReader {
	readonly #log: Logger;
	readonly #errors: Counter;

	constructor({ log, metrics }: { readonly log: Logger; readonly metrics: Metrics }) {
		this.#log = log;
		this.#errors = metrics.counter({
			name: "apiserver_storage_decode_errors_total",
			help: "Values in etcd that could not be read; they are left alone.",
			labelNames: ["resource"],
		});
	}

	read({ space }: Place, { key, value }: KeyValue): KubeObject | undefined {
		try {
			return objectOfValue(space, value);
		} catch (error) {
			this.#errors.add(1, { resource: space });
			const why = error instanceof Error ? error.message : String(error);
			this.#log.error("Failed to read a value of etcd; the object is not served", { key, why });
			return undefined;
		}
	}
}

/** Rejects with an EtcdError. */
export async function readState(
	client: Pick<EtcdClient, "range">,
	layout: KeyLayout,
	reader: ValueReader,
): Promise<EtcdState> {
	const entries: PlacedEntry[] = [];
	let { key, rangeEnd } = layout.range;
	let at: { readonly revision: Revision; readonly clusterId: bigint } | undefined;
	for (;;) {
		const revision = at === undefined ? {} : { revision: at.revision };
		const { header, kvs, more } = await client.range({ key, rangeEnd, limit: PAGE_OBJECTS, ...revision });
		at ??= header;
		for (const kv of kvs) {
			const entry = placedEntry(layout, reader, kv);
			if (entry !== undefined) entries.push(entry);
		}
		const last = kvs.at(-1);
		if (!more || last === undefined) return { ...at, entries };
		// The smallest key behind the last one.
		key = `${last.key}\u0000`;
	}
}

function placedEntry(layout: KeyLayout, reader: ValueReader, kv: KeyValue): PlacedEntry | undefined {
	const place = layout.placeOf(kv.key);
	const object = place === undefined ? undefined : reader.read(place, kv);
	if (place === undefined || object === undefined) return undefined;
	const { createRevision, modRevision } = kv;
	const entry = { key: place.key, object: stamped(object, modRevision), createRevision, modRevision };
	return { space: place.space, entry };
}
