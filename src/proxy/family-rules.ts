/** The rules of one IP family: what Services want of the kernel, and whether it has it. */
import type { Clock } from "../kernel/clock.ts";
import { baseRuleset } from "../plan/nft/base-ruleset.ts";
import { type NftConfig, nftFamily } from "../plan/nft/config.ts";
import { NftState } from "../plan/nft/nft-state.ts";
import { nftObjects } from "../plan/nft/service-objects.ts";
import type { ServiceTable } from "../plan/service-map/service-table.ts";
import type { KernelRules } from "./kernel-rules.ts";

/** Services in one transaction: the time that nft takes grows faster than their number. */
const SERVICES_PER_TRANSACTION_MAX = 1_000;

export type SyncResult =
	| { readonly kind: "synced"; readonly isFull: boolean; readonly transactions: number; readonly bytes: number }
	| { readonly kind: "failed"; readonly message: string };

export class FamilyRules {
	readonly #config: NftConfig;
	readonly #kernel: KernelRules;
	readonly #clock: Clock;
	readonly #state: NftState;
	/** Tables that are no objects yet; undefined: the Service is gone. Made in steps, so that the first are there soon. */
	readonly #changed = new Map<string, ServiceTable | undefined>();
	/** The kernel's content is not known: at the start, and after a transaction that failed. */
	#isLost = true;

	constructor(config: NftConfig, kernel: KernelRules, clock: Clock) {
		this.#config = config;
		this.#kernel = kernel;
		this.#clock = clock;
		this.#state = new NftState(`${nftFamily(config.family)} ${config.table}`);
	}

	get family(): NftConfig["family"] {
		return this.#config.family;
	}

	put(table: ServiceTable): void {
		this.#changed.set(table.key, table);
	}

	/** `key` is `namespace/name`. */
	remove(key: string): void {
		this.#changed.set(key, undefined);
	}

	/** Nothing is known of the kernel any more: the next sync reads it and brings all in line. */
	lose(): void {
		this.#isLost = true;
	}

	/** Whether the table and every chain of a Service are there: anybody may have flushed them. */
	async isIntact(): Promise<boolean> {
		if (this.#isLost) return true;
		const found = new Set(await this.#kernel.chains());
		return (
			found.size > 0 &&
			[...this.#state.wanted.values()].every(({ chains }) => chains.every(({ name }) => found.has(name)))
		);
	}

	/** When empty chains may be deleted, as monotonic milliseconds; undefined when there are none. */
	get dueMs(): number | undefined {
		return this.#state.dueMs;
	}

	/** Loads what is behind, in as many transactions as it takes. Each leaves rules that work. */
	async sync(): Promise<SyncResult> {
		const isFull = this.#isLost;
		let bytes = 0;
		if (isFull) {
			const refused = await this.#start();
			if (refused !== undefined) return { kind: "failed", message: refused };
		}
		for (let transactions = 0; ; transactions++) {
			this.#takeChanged();
			const hasMore = this.#changed.size > 0;
			const step = this.#state.next(this.#clock.monotonicMs(), SERVICES_PER_TRANSACTION_MAX, hasMore);
			if (step === undefined && hasMore) continue;
			if (step === undefined) return { kind: "synced", isFull, transactions, bytes };
			const result = await this.#kernel.load(step.text);
			if (result.kind === "failed") {
				this.#isLost = true;
				// Somebody else may have changed what a small step went by.
				return isFull ? result : this.sync();
			}
			bytes += step.text.length;
			this.#state.commit();
		}
	}

	#takeChanged(): void {
		let taken = 0;
		for (const [key, table] of this.#changed) {
			if (taken++ >= SERVICES_PER_TRANSACTION_MAX) return;
			this.#changed.delete(key);
			if (table === undefined) this.#state.remove(key);
			else this.#state.put(key, nftObjects(table, this.#config));
		}
	}

	/** Elements that are there stay there until the Services' own transactions, so that no connection falls between. */
	async #start(): Promise<string | undefined> {
		const listing = await this.#kernel.list();
		const base = await this.#kernel.load(`${baseRuleset(this.#config).join("\n")}\n`);
		if (base.kind === "failed") return base.message;
		this.#state.adopt(listing ?? { elements: [], chains: [], affinitySets: [] });
		this.#isLost = false;
		return undefined;
	}
}
