/** JSON of stored objects, made once per object and shared by every reader and watcher. */
import type { KubeObject } from "../../api/types/meta.ts";
import type { Counter, Gauge, Metrics } from "../../kernel/metrics.ts";

/** 32 MiB: some 15,000 objects of 2 KB. Least recently used go first. */
const BYTES_MAX = 32 * 1024 * 1024;

export class EncodedObjects {
	/** In order of last use, oldest first. Keyed by identity: a stored object never changes. */
	readonly #bytes = new Map<KubeObject, Uint8Array>();
	readonly #encoder = new TextEncoder();
	readonly #made: Counter;
	readonly #size: Gauge;
	readonly #bytesMax: number;
	#total = 0;

	constructor(metrics: Metrics, bytesMax: number = BYTES_MAX) {
		this.#bytesMax = bytesMax;
		this.#made = metrics.counter({ name: "sliceplane_object_encodings_total", help: "Objects turned into JSON." });
		this.#size = metrics.gauge({ name: "sliceplane_encoded_objects_bytes", help: "JSON of objects that is kept." });
	}

	get size(): number {
		return this.#total;
	}

	jsonOf(object: KubeObject): Uint8Array {
		const known = this.#bytes.get(object);
		if (known !== undefined) {
			this.#bytes.delete(object);
			this.#bytes.set(object, known);
			return known;
		}
		const made = this.#encoder.encode(JSON.stringify(object));
		this.#made.add();
		this.#keep(object, made);
		return made;
	}

	#keep(object: KubeObject, bytes: Uint8Array): void {
		if (bytes.length > this.#bytesMax / 4) return;
		this.#bytes.set(object, bytes);
		this.#total += bytes.length;
		for (const [oldest, oldBytes] of this.#bytes) {
			if (this.#total <= this.#bytesMax) break;
			this.#bytes.delete(oldest);
			this.#total -= oldBytes.length;
		}
		this.#size.set(this.#total);
	}
}
