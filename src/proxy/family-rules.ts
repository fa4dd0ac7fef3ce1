/** The rules of one IP family: what Services want of the kernel, and whether it has it. */
import type { Clock } from "../kernel/clock.ts";
import { baseRuleCounts, baseRuleset } from "../plan/nft/base-ruleset.ts";
import { type NftConfig, nftFamily } from "../plan/nft/config.ts";
import { NftState } from "../plan/nft/nft-state.ts";
import type { NftElement } from "../plan/nft/objects.ts";
import { nftObjects } from "../plan/nft/service-objects.ts";
import type { ServiceTable } from "../plan/service-map/service-table.ts";
import type { KernelRules } from "./kernel-rules.ts";

/** Services in one transaction: the time that nft takes grows faster than their number. */
const SERVICES_PER_TRANSACTION_MAX = 1_000;

/** A look that takes longer is left out until it has taken no more than a hundredth of the time. */
const LOOK_MS_MAX = 1_000;
const LOOK_PAUSE_FACTOR = 100;

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
	#adopted: readonly NftElement[] = [];
	readonly #baseCounts: ReadonlyMap<string, number>;
	/** Cheapest first. */
	readonly #looks = [
		{ isGood: () => this.#hasChains(), dueMs: 0 },
		{ isGood: () => this.#hasElements(), dueMs: 0 },
		{ isGood: () => this.#hasRules(), dueMs: 0 },
	];

	constructor(config: NftConfig, kernel: KernelRules, clock: Clock) {
		this.#config = config;
		this.#kernel = kernel;
		this.#clock = clock;
		this.#baseCounts = baseRuleCounts(config);
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

	/**
	 * Whether what was loaded is there: anybody may have flushed or deleted of it. Looks that take long are taken less
	 * often: nft's time grows faster than the number of chains.
	 */
	async isIntact(): Promise<boolean> {
		if (this.#isLost) return true;
		for (const look of this.#looks) {
			const startedMs = this.#clock.monotonicMs();
			if (startedMs < look.dueMs) continue;
			const isGood = await look.isGood();
			const tookMs = this.#clock.monotonicMs() - startedMs;
			if (tookMs > LOOK_MS_MAX) look.dueMs = startedMs + tookMs * LOOK_PAUSE_FACTOR;
			if (!isGood) return false;
		}
		return true;
	}

	async #hasChains(): Promise<boolean> {
		const found = new Set(await this.#kernel.chains());
		return [...this.#baseCounts.keys(), ...this.#state.ruleCounts.keys()].every((name) => found.has(name));
	}

	/** By verdict and not by key: the kernel may write an address in another way than it was given. */
	async #hasElements(): Promise<boolean> {
		const nodePortIPs = [...new Set(this.#config.nodeAddresses)].map(
			(key) => ({ container: "nodeport-ips", key }) as const,
		);
		const wanted = countsOf([...this.#state.elements, ...nodePortIPs]);
		return isSame(wanted, countsOf(await this.#kernel.elements()));
	}

	async #hasRules(): Promise<boolean> {
		const found = await this.#kernel.ruleCounts();
		if (found === undefined) return true;
		// Chains that are not its own may be there.
		return [...this.#baseCounts, ...this.#state.ruleCounts].every(([name, count]) => found.get(name) === count);
	}

	/** Elements that the kernel had when it was last read; each is given once. */
	takeAdopted(): readonly NftElement[] {
		const adopted = this.#adopted;
		this.#adopted = [];
		return adopted;
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
		this.#adopted = listing?.elements ?? [];
		this.#isLost = false;
		return undefined;
	}
}

function countsOf(elements: readonly NftElement[]): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const { container, verdict = "" } of elements) {
		const name = `${container} ${verdict}`;
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return counts;
}

function isSame(wanted: ReadonlyMap<string, number>, found: ReadonlyMap<string, number>): boolean {
	return wanted.size === found.size && [...wanted].every(([name, count]) => found.get(name) === count);
}
