/** JSON of stored objects, made once per object and shared by every reader and watcher. */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Counter, Gauge, Metrics } from "../../kernel/metrics.ts";

/** 32 MiB: some 15,000 objects of 2 KB. */
const BYTES_MAX = 32 * 1024 * 1024;

/**
 * Two generations, each of half the limit: what was not used while the younger one filled is forgotten.
 *
 * One map in the order of use would do, were it not that a map remembers its deleted entries until it grows: to find
 * its oldest one took as long as all that were ever forgotten.
 */
export class EncodedObjects {
	/** Keyed by identity: a stored object never changes. */
	#young = new Map<KubeObject, Uint8Array>();
	#old: ReadonlyMap<KubeObject, Uint8Array> = new Map();
	readonly #encoder = new TextEncoder();
	readonly #made: Counter;
	readonly #size: Gauge;
	readonly #bytesMax: number;
	#youngBytes = 0;
	#oldBytes = 0;

	constructor(metrics: Metrics, bytesMax: number = BYTES_MAX) {
		this.#bytesMax = bytesMax;
		this.#made = metrics.counter({ name: "sliceplane_object_encodings_total", help: "Objects turned into JSON." });
		this.#size = metrics.gauge({ name: "sliceplane_encoded_objects_bytes", help: "JSON of objects that is kept." });
	}

	/** Bytes that are kept. */
	get size(): number {
		return this.#youngBytes + this.#oldBytes;
	}

	jsonOf(object: KubeObject): Uint8Array {
		const young = this.#young.get(object);
		if (young !== undefined) return young;
		const old = this.#old.get(object);
		if (old === undefined) this.#made.add();
		const bytes = old ?? this.#encoder.encode(JSON.stringify(object));
		this.#keep(object, bytes);
		return bytes;
	}

	#keep(object: KubeObject, bytes: Uint8Array): void {
		if (bytes.length > this.#bytesMax / 4) return;
		if (this.#youngBytes + bytes.length > this.#bytesMax / 2) {
			this.#old = this.#young;
			this.#oldBytes = this.#youngBytes;
			this.#young = new Map();
			this.#youngBytes = 0;
		}
		this.#young.set(object, bytes);
		this.#youngBytes += bytes.length;
		this.#size.set(this.size);
	}
}
