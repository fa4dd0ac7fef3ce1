/**
 * Brings the claims of cluster IPs and node ports in line with the Services in etcd, which other kinds of API servers
 * write, too: what Services hold is claimed, and what nobody holds any more is released after some rounds.
 *
 * Every server does this by itself: each write has preconditions on all that it was decided by.
 */
import type { KubeObject } from "../api/types/meta.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Entry, Precondition } from "../store/entry.ts";
import { type FoundClaim, judgeClaims, placeText, type Suspect } from "./orphaned-claims.ts";
import {
	CLAIM_SPACES,
	type ClaimPorts,
	claimWhatIsHeld,
	IP_SPACE,
	isOwnAddress,
	placesHeld,
	SERVICE_SPACE,
} from "./service-claims.ts";

const ROUND_MS = 60_000;

export class ClaimRepair {
	readonly #ports: ClaimPorts & { readonly log: Logger };
	#suspects: ReadonlyMap<string, Suspect> = new Map();

	constructor(ports: ClaimPorts & { readonly log: Logger }) {
		this.#ports = ports;
	}

	/** Works until `signal` aborts. Never rejects. */
	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		while (!signal.aborted) {
			try {
				await this.#round();
			} catch (error) {
				log.warn("Failed to look at the claims of Services; it is tried again", { error });
			}
			await clock.sleep(ROUND_MS, signal).catch(() => undefined);
		}
	}

	async #round(): Promise<void> {
		await claimWhatIsHeld(this.#ports);
		const held = new Set(this.#entries(SERVICE_SPACE).flatMap(({ object }) => placesHeld(object).map(placeText)));
		const verdict = judgeClaims(this.#claims(), held, this.#suspects);
		this.#suspects = verdict.suspects;
		for (const claim of verdict.released) await this.#release(claim);
	}

	#claims(): readonly FoundClaim[] {
		return CLAIM_SPACES.flatMap((space) =>
			this.#entries(space)
				.filter(({ object }) => space !== IP_SPACE || isOwnAddress(object))
				.map(({ key, modRevision }) => ({ space, key, modRevision })),
		);
	}

	async #release({ space, key, modRevision }: FoundClaim): Promise<void> {
		const { store, log } = this.#ports;
		const claim = store.space(space).get(key);
		if (claim?.modRevision !== modRevision) return;
		const preconditions = [{ space, key, expected: modRevision }, ...this.#unownedBy(claim.object)];
		const { kind } = await store.commit([{ kind: "delete", space, key }], preconditions);
		if (kind === "committed") log.warn("Released what no Service holds any more", { space, key });
	}

	/**
	 * The Service that the claim is for is as it was looked at. One that is in etcd and cannot be read is as if it were
	 * not there, and keeps what is its own.
	 */
	#unownedBy(claim: KubeObject): readonly Precondition[] {
		const { namespace = "", name = "" } = (claim as Claimed).spec?.parentRef ?? {};
		if (namespace === "" || name === "") return [];
		const key = `${namespace}/${name}`;
		const expected = this.#ports.store.space(SERVICE_SPACE).get(key)?.modRevision ?? 0;
		return [{ space: SERVICE_SPACE, key, expected }];
	}

	#entries(space: string): readonly Entry[] {
		const range = this.#ports.store.space(space).range({ prefix: "" });
		return range.kind === "range" ? range.entries : [];
	}
}

interface Claimed {
	readonly spec?: { readonly parentRef?: { readonly namespace?: string; readonly name?: string } };
}
