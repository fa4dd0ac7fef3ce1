/**
 * Keeps a node's rules as Services, EndpointSlices and the node itself want them.
 *
 * What changes is gathered until `sync`, which rewrites the rules of the Services that changed, or of all when the
 * node's zone did.
 */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, NODES, SERVICES } from "../api/resource-names.ts";
import type { Node, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { ZONE_LABEL } from "../api/well-known.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Informer } from "../machinery/informer.ts";
import type { Informers } from "../machinery/informers.ts";
import { planServiceTable, type ServiceTable, type TablePort } from "../plan/service-map/service-table.ts";
import { serviceKeyOfSlice } from "../plan/service-map/slice-endpoints.ts";
import { logIgnoredParts } from "./ignored-slices.ts";

/** Whoever carries connections by the tables of Services. */
export interface TableSink {
	/** By `namespace/name`. */
	readonly tables: ReadonlyMap<string, ServiceTable>;
	/** Takes the place of the table that the Service had. */
	put(table: ServiceTable): void;
	remove(key: string): void;
}

const BY_PROXIED_SERVICE = "byProxiedService";

export class ServiceFollower {
	readonly #services: Informer<Service>;
	readonly #slices: Informer<EndpointSlice>;
	readonly #nodes: Informer<Node>;
	readonly #nodeName: string;
	readonly #log: Logger;
	readonly #changed = new Set<string>();
	#zone: string | undefined;

	/** @param nodeName The node that the proxy stands on; "" for none. @param log Told what of a slice is ignored. */
	constructor(informers: Informers, nodeName: string, log: Logger) {
		this.#log = log;
		this.#services = informers.of(SERVICES);
		this.#slices = informers.of(ENDPOINT_SLICES);
		this.#nodes = informers.of(NODES);
		this.#nodeName = nodeName;
		this.#slices.addIndex(BY_PROXIED_SERVICE, (slice) => {
			const key = serviceKeyOfSlice(slice);
			return key === undefined ? [] : [key];
		});
	}

	/** Calls `changed` after every batch of changes. Returns how to stop. */
	follow(changed: () => void): () => void {
		const service = (object: Service): unknown => this.#changed.add(keyOf(object));
		const slice = (object: EndpointSlice): void => {
			const key = serviceKeyOfSlice(object);
			if (key !== undefined) this.#changed.add(key);
		};
		const seen = (object: EndpointSlice): void => {
			slice(object);
			logIgnoredParts(object, this.#log);
		};
		// A slice whose label has changed was another Service's before.
		const moved = (old: EndpointSlice, now: EndpointSlice): void => {
			slice(old);
			seen(now);
		};
		const node = ({ metadata }: Node): void => this.#sawNode(metadata.name);
		const stops = [
			this.#services.addHandlers({
				added: service,
				updated: (_, now) => service(now),
				deleted: service,
				applied: changed,
			}),
			this.#slices.addHandlers({ added: seen, updated: moved, deleted: slice, applied: changed }),
			this.#nodes.addHandlers({ added: node, updated: (_, now) => node(now), deleted: node, applied: changed }),
		];
		return () => {
			for (const stop of stops) stop();
		};
	}

	/** Before both lists are there, half of the rules would cut off what is fine. */
	get isReady(): boolean {
		return this.#services.hasSynced && this.#slices.hasSynced && this.#nodes.hasSynced;
	}

	/** Whether the node that the proxy stands on is known. */
	get hasNode(): boolean {
		return this.#nodes.get(this.#nodeName) !== undefined;
	}

	/** Whether rules are behind what is known. */
	get isBehind(): boolean {
		return this.#changed.size > 0;
	}

	/** Brings the rules up to date. Returns the ports that are gone. */
	sync(proxy: TableSink): readonly TablePort[] {
		const keys = [...this.#changed];
		this.#changed.clear();
		return keys.flatMap((key) => this.#update(proxy, key));
	}

	#update(proxy: TableSink, key: string): readonly TablePort[] {
		const before = proxy.tables.get(key)?.ports ?? [];
		const service = this.#services.get(key);
		const table = service === undefined ? undefined : planServiceTable(service, this.#slicesOf(key), this.#place());
		if (table === undefined || table.ports.length === 0) proxy.remove(key);
		else proxy.put(table);
		const now = table?.ports ?? [];
		return before.filter((port) => !now.some((each) => each.name === port.name && each.protocol === port.protocol));
	}

	#slicesOf(key: string): readonly EndpointSlice[] {
		return this.#slices.index(BY_PROXIED_SERVICE, key);
	}

	#place() {
		const { asOf } = this.#slices;
		return {
			...(this.#nodeName === "" ? {} : { nodeName: this.#nodeName }),
			...(this.#zone === undefined ? {} : { zone: this.#zone }),
			...(asOf === undefined ? {} : { asOf }),
		};
	}

	/** Hints hang on the zone: when it changes, every Service is looked at again. */
	#sawNode(name: string): void {
		if (name !== this.#nodeName) return;
		const zone = this.#nodes.get(name)?.metadata.labels?.[ZONE_LABEL];
		if (zone === this.#zone) return;
		this.#zone = zone;
		for (const service of this.#services.list()) this.#changed.add(keyOf(service));
	}
}
