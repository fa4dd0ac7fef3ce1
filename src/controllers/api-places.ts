/**
 * Where API servers over one store are, so that the endpoints of the Service `kubernetes` have all of them: each keeps
 * a Lease as long as it lives. Upstream keeps such records beside the API's objects; a Lease can be looked at.
 *
 * A server counts until nobody has seen it renew its Lease for as long as the Lease is good: by this process' own clock,
 * not by the times that others wrote.
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
/** The Lease of a server that was killed is removed after this. */
const FORGET_MS = 60_000;

interface Seen {
	readonly address: ApiAddress;
	readonly lease: Lease;
	readonly sinceMs: number;
}

export class ApiPlaces {
	readonly #ports: ControllerPorts;
	readonly #own: ApiAddress;
	readonly #name: string;
	readonly #seen = new Map<string, Seen>();

	constructor(ports: ControllerPorts, own: ApiAddress) {
		this.#ports = ports;
		this.#own = own;
		this.#name = `apiserver-${new Fnv128a().update(textOf(own)).hex().slice(0, 16)}`;
	}

	/** Of all that live, this one among them. */
	get live(): readonly ApiAddress[] {
		const nowMs = this.#ports.clock.monotonicMs();
		const others = [...this.#seen.values()].filter(({ sinceMs }) => nowMs - sinceMs < LEASE_SECONDS * 1000);
		const byText = new Map([this.#own, ...others.map(({ address }) => address)].map((one) => [textOf(one), one]));
		return [...byText.values()];
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
			},
		});
		while (!signal.aborted) {
			await this.#renew();
			await this.#forgetDead();
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
		if (known?.lease.spec?.renewTime === lease.spec?.renewTime && known !== undefined) return;
		this.#seen.set(key, { address, lease, sinceMs: this.#ports.clock.monotonicMs() });
		if (known === undefined) changed();
	}

	async #renew(): Promise<void> {
		const { client, clock, log } = this.#ports;
		const renewTime = `${new Date(clock.wallMs()).toISOString().slice(0, -1)}000Z`;
		const body = { spec: { renewTime } };
		try {
			const place = { namespace: NAMESPACE, name: this.#name };
			const renewed = await ignoreNotFound(client.patch(LEASES, place, { type: "merge", body }));
			if (renewed === undefined) await ignoreAlreadyExists(client.create(LEASES, NAMESPACE, this.#draft(renewTime)));
		} catch (error) {
			log.warn("The Lease of this API server was not renewed", { lease: this.#name, error });
		}
	}

	#draft(renewTime: string): Draft<Lease> {
		const metadata = { name: this.#name, labels: LABEL, annotations: { [ADDRESS_ANNOTATION]: textOf(this.#own) } };
		return { metadata, spec: { holderIdentity: this.#name, leaseDurationSeconds: LEASE_SECONDS, renewTime } };
	}

	async #forgetDead(): Promise<void> {
		const nowMs = this.#ports.clock.monotonicMs();
		for (const { lease, sinceMs } of [...this.#seen.values()]) {
			const { name, uid, resourceVersion } = lease.metadata;
			if (name === this.#name || nowMs - sinceMs < FORGET_MS) continue;
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
