/** Keeps the zone as Services, EndpointSlices and Namespaces want it: each change at once, Service by Service. */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from "../api/resource-names.ts";
import type { Namespace, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Informer } from "../machinery/informer.ts";
import type { Informers } from "../machinery/informers.ts";
import type { Zone } from "../plan/dns-records/zone.ts";
import { serviceNamedBy } from "../plan/service-map/slice-endpoints.ts";

const BY_SERVICE = "byServiceOfZone";

export class ZoneFollower {
	readonly #zone: Zone;
	readonly #clock: Clock;
	readonly #services: Informer<Service>;
	readonly #slices: Informer<EndpointSlice>;
	readonly #namespaces: Informer<Namespace>;
	readonly #changed = new Set<string>();

	constructor(informers: Informers, zone: Zone, clock: Clock) {
		this.#zone = zone;
		this.#clock = clock;
		this.#services = informers.of(SERVICES);
		this.#slices = informers.of(ENDPOINT_SLICES);
		this.#namespaces = informers.of(NAMESPACES);
		this.#slices.addIndex(BY_SERVICE, (slice) => {
			const key = serviceNamedBy(slice);
			return key === undefined ? [] : [key];
		});
	}

	/** Before every list is there, a name that is not known may yet be one. */
	get isSynced(): boolean {
		return this.#services.hasSynced && this.#slices.hasSynced && this.#namespaces.hasSynced;
	}

	/** Returns how to stop. */
	follow(): () => void {
		const service = (object: Service): unknown => this.#changed.add(keyOf(object));
		const slice = (object: EndpointSlice): void => {
			const key = serviceNamedBy(object);
			if (key !== undefined) this.#changed.add(key);
		};
		// A slice whose label has changed was another Service's before.
		const moved = (old: EndpointSlice, now: EndpointSlice): void => [old, now].forEach(slice);
		const applied = (): void => this.#update();
		const stops = [
			this.#services.addHandlers({ added: service, updated: (_, now) => service(now), deleted: service, applied }),
			this.#slices.addHandlers({ added: slice, updated: moved, deleted: slice, applied }),
			this.#namespaces.addHandlers({
				added: ({ metadata }) => this.#zone.putNamespace(metadata.name),
				deleted: ({ metadata }) => this.#zone.removeNamespace(metadata.name),
			}),
		];
		return () => {
			for (const stop of stops) stop();
		};
	}

	#update(): void {
		const serial = Math.floor(this.#clock.wallMs() / 1000);
		for (const key of this.#changed) {
			const service = this.#services.get(key);
			if (service === undefined) this.#zone.removeService(key, serial);
			else
				this.#zone.putService(
					{ key, asOf: this.#slices.asOf ?? "", service, slices: this.#slices.index(BY_SERVICE, key) },
					serial,
				);
		}
		this.#changed.clear();
	}
}
