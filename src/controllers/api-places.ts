/**
 * Where API servers over one store are, so that the endpoints of the Service `kubernetes` have all of them: each keeps
 * a Lease as long as it lives. Upstream keeps such records beside the API's objects; a Lease can be looked at.
 *
 * The Leases are the truth that all servers share: an address is in the endpoints as long as its Lease is there, whatever
 * a server thinks of another one. A Lease that nobody has renewed for as long as it is good, by this process' own clock,
 * is removed, on condition that it is still the one that was looked at. Nobody is judged for a time in which this server
 * could not renew its own: the store was away then, for others as well.
 */
import { keyOf } from "../api/resource.ts";
import { LEASES } from "../api/resource-names.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Draft } from "../api/types/meta.ts";
import { Fnv128a } from "../kernel/fnv.ts";
import { ignoreAlreadyExists, ignoreNotFound } from "../machinery/expected-errors.ts";
import type { ApiAddress } from "../plan/api-service/api-service.ts";
import type { ControllerPorts } from "./ports.ts";

const NAMESPACE = "kube-system";
/** Upstream's label of the Leases of API servers. */
const LABEL = { "apiserver.kubernetes.io/identity": "kube-apiserver" } as const;
/** `IP:PORT`, on the Lease of the server that is there. */
const ADDRESS_ANNOTATION = "sliceplane.dev/address";
const LEASE_SECONDS = 15;
const RENEW_MS = 5_000;
/** Renewals further apart than this: the store was away between them. */
const GAP_MS = RENEW_MS + 2_500;

interface Seen {
	readonly address: ApiAddress;
	readonly lease: Lease;
	/** When it was seen to be renewed, or when somebody could have renewed it again. */
	sinceMs: number;
}

export class ApiPlaces {
	readonly #ports: ControllerPorts;
	readonly #own: ApiAddress;
	readonly #name: string;
	readonly #seen = new Map<string, Seen>();
	/** When the last renewal that came through was begun. */
	#renewedMs: number | undefined;

	constructor(ports: ControllerPorts, own: ApiAddress) {
		this.#ports = ports;
		this.#own = own;
		this.#name = `apiserver-${new Fnv128a().update(textOf(own)).hex().slice(0, 16)}`;
	}

	/**
	 * Of all servers, this one among them. Undefined as long as the others may not know of this one: then its own word
	 * would be against theirs.
	 */
	get live(): readonly ApiAddress[] | undefined {
		const heldMs = this.#ports.clock.monotonicMs() - (this.#renewedMs ?? Number.NEGATIVE_INFINITY);
		if (heldMs >= LEASE_SECONDS * 1000) return undefined;
		const others = [...this.#seen.values()].map(({ address }) => address);
		return [...new Map([this.#own, ...others].map((one) => [textOf(one), one])).values()];
	}

	/** Works until `signal` aborts, and takes its own Lease with it. Never rejects. */
	async run(changed: () => void, signal: AbortSignal): Promise<void> {
		const { informers, clock, client } = this.#ports;
		const see = (lease: Lease): void => this.#see(lease, changed);
		const stop = informers.of(LEASES).addHandlers({
			added: see,
			updated: (_old, lease) => see(lease),
			deleted: (lease) => {
				if (this.#seen.delete(keyOf(lease))) changed();
				if (keyOf(lease) === `${NAMESPACE}/${this.#name}`) void this.#regain(changed);
			},
		});
		while (!signal.aborted) {
			await this.#renew();
			await this.#removeDead();
			changed();
			await clock.sleep(RENEW_MS, signal).catch(() => undefined);
		}
		stop();
		await client.delete(LEASES, { namespace: NAMESPACE, name: this.#name }).catch(() => undefined);
	}

	#see(lease: Lease, changed: () => void): void {
		const address = addressOf(lease);
		if (address === undefined) return;
		const key = keyOf(lease);
		const known = this.#seen.get(key);
		const isRenewed = known?.lease.spec?.renewTime !== lease.spec?.renewTime;
		const nowMs = this.#ports.clock.monotonicMs();
		this.#seen.set(key, { address, lease, sinceMs: known === undefined || isRenewed ? nowMs : known.sinceMs });
		if (known === undefined || textOf(known.address) !== textOf(address)) changed();
	}

	/** Somebody took this server for dead. */
	async #regain(changed: () => void): Promise<void> {
		this.#renewedMs = undefined;
		await this.#renew();
		changed();
	}

	async #renew(): Promise<void> {
		const { client, clock, log } = this.#ports;
		const startedMs = clock.monotonicMs();
		const renewTime = `${new Date(clock.wallMs()).toISOString().slice(0, -1)}000Z`;
		const body = { spec: { renewTime } };
		try {
			const place = { namespace: NAMESPACE, name: this.#name };
			const renewed = await ignoreNotFound(client.patch(LEASES, place, { type: "merge", body }));
			if (renewed === undefined) await ignoreAlreadyExists(client.create(LEASES, NAMESPACE, this.#draft(renewTime)));
			this.#renewed(startedMs);
		} catch (error) {
			log.warn("The Lease of this API server was not renewed", { lease: this.#name, error });
		}
	}

	/** @param startedMs Others may have seen it from then on. */
	#renewed(startedMs: number): void {
		const nowMs = this.#ports.clock.monotonicMs();
		const isGap = this.#renewedMs === undefined || nowMs - this.#renewedMs > GAP_MS;
		this.#renewedMs = startedMs;
		if (!isGap) return;
		for (const seen of this.#seen.values()) seen.sinceMs = nowMs;
	}

	#draft(renewTime: string): Draft<Lease> {
		const metadata = { name: this.#name, labels: LABEL, annotations: { [ADDRESS_ANNOTATION]: textOf(this.#own) } };
		return { metadata, spec: { holderIdentity: this.#name, leaseDurationSeconds: LEASE_SECONDS, renewTime } };
	}

	async #removeDead(): Promise<void> {
		const nowMs = this.#ports.clock.monotonicMs();
		// What was not renewed now either says nothing of others.
		if (this.#renewedMs === undefined || nowMs - this.#renewedMs >= RENEW_MS) return;
		for (const { lease, sinceMs } of [...this.#seen.values()]) {
			const { name, uid, resourceVersion } = lease.metadata;
			if (name === this.#name || nowMs - sinceMs < LEASE_SECONDS * 1000) continue;
			const preconditions = { uid, resourceVersion };
			await this.#ports.client
				.delete(LEASES, { namespace: NAMESPACE, name }, { preconditions })
				.catch((error: unknown) =>
					this.#ports.log.info("A dead server's Lease was not removed", { lease: name, error }),
				);
		}
	}
}

function addressOf({ metadata }: Lease): ApiAddress | undefined {
	if (metadata.namespace !== NAMESPACE) return undefined;
	const [, ip, port] = /^(.+):(\d{1,5})$/.exec(metadata.annotations?.[ADDRESS_ANNOTATION] ?? "") ?? [];
	return ip === undefined ? undefined : { ip, port: Number(port) };
}

function textOf({ ip, port }: ApiAddress): string {
	return `${ip}:${port}`;
}
