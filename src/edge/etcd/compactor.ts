/**
 * Forgets old revisions in etcd, as a real API server does: of all servers that share one, whoever comes first in an
 * interval compacts up to where etcd was an interval before.
 *
 * The key's version counts the intervals. Who finds another one than it knows came too late, and learns it.
 */
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Revision } from "../../store/entry.ts";
import type { EtcdClient } from "./etcd-client.ts";

/** The name that real servers agree on; it is below no prefix. */
export const COMPACT_KEY = "compact_rev_key";

interface Known {
	readonly version: number;
	/** Of etcd when the interval began. */
	readonly revision: Revision;
}

export class Compactor {
	readonly #client: EtcdClient;
	readonly #clock: Clock;
	readonly #log: Logger;

	constructor(client: EtcdClient, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
		this.#client = client;
		this.#clock = clock;
		this.#log = log;
	}

	/** Works until `signal` aborts. Never rejects. */
	async run(intervalMs: number, signal: AbortSignal): Promise<void> {
		let known: Known = { version: 0, revision: 0 };
		while (!signal.aborted) {
			await this.#clock.sleep(intervalMs, signal).catch(() => undefined);
			if (signal.aborted) return;
			try {
				known = await this.compact(known);
			} catch (error) {
				this.#log.warn("Failed to compact etcd", { error });
			}
		}
	}

	/** One interval's turn. */
	async compact({ version, revision }: Known): Promise<Known> {
		const { header, succeeded, responses } = await this.#client.txn({
			compare: [{ key: COMPACT_KEY, target: "version", equals: version }],
			success: [{ kind: "put", key: COMPACT_KEY, value: new TextEncoder().encode(String(revision)) }],
			failure: [{ kind: "range", range: { key: COMPACT_KEY } }],
		});
		if (!succeeded) {
			const [found] = responses;
			const actual = found?.kind === "range" ? found.kvs[0]?.version : undefined;
			return { version: actual ?? 0, revision: header.revision };
		}
		if (revision > 0) await this.#client.compact(revision);
		return { version: version + 1, revision: header.revision };
	}
}
