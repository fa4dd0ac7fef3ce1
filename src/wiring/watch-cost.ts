/** What following one Service costs: one watcher of its Endpoints beside one of its EndpointSlices. */
import type { Resource } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";
import type { HttpClient } from "../edge/http-client.ts";
import { SystemClock } from "../edge/system-clock.ts";
import { TransportError, type WatchOptions } from "../machinery/api-client.ts";
import { type ClusterChoice, clusterClient } from "./cluster-client.ts";

/** What one watcher has received; bytes are those of the watch's body, without TLS and headers. */
export interface Received {
	readonly events: number;
	readonly bytes: number;
}

export interface WatchCost {
	readonly seconds: number;
	readonly endpoints: Received;
	readonly endpointSlices: Received;
}

export interface WatchCostOptions {
	readonly cluster: ClusterChoice;
	readonly namespace: string;
	readonly service: string;
	readonly intervalMs: number;
	/** undefined: until `signal` aborts. */
	readonly forMs: number | undefined;
	readonly signal: AbortSignal;
	/** Told after each interval what came in it. */
	told(cost: WatchCost): void;
	/** The Service is gone; another one of its name is followed as it was. */
	deleted(): void;
}

const RETRY_MS = 1_000;

/**
 * Resolves with the totals, when the time is over or `signal` aborts. Rejects when the cluster cannot be asked, or has
 * no such Service.
 */
export async function watchCost(options: WatchCostOptions): Promise<WatchCost> {
	const over = new AbortController();
	const end = (): void => over.abort();
	options.signal.addEventListener("abort", end, { once: true });
	const counts = new Counts();
	const client = await clusterClient(options.cluster, {
		part: "watch-cost",
		received: (resource, bytes) => counts.add(resource, { events: 0, bytes }),
	});
	const { namespace, service } = options;
	const watcher = new Watcher(client, counts, over.signal);
	try {
		await client.get(SERVICES, { namespace, name: service }, over.signal);
		const byName = { namespace, fieldSelector: `metadata.name=${service}` };
		await Promise.all([
			watcher.follow(SERVICES, byName, (types) => {
				if (types.includes("DELETED")) options.deleted();
			}),
			watcher.follow(ENDPOINTS, byName),
			watcher.follow(ENDPOINT_SLICES, { namespace, labelSelector: `${SERVICE_NAME_LABEL}=${service}` }),
			tellEach(options, counts, over.signal).then(end),
		]);
		return counts.soFar();
	} finally {
		end();
		options.signal.removeEventListener("abort", end);
		client.close();
	}
}

const clock = new SystemClock();

async function tellEach(options: WatchCostOptions, counts: Counts, signal: AbortSignal): Promise<void> {
	const endMs = clock.monotonicMs() + (options.forMs ?? Number.POSITIVE_INFINITY);
	let before = counts.soFar();
	while (!signal.aborted && clock.monotonicMs() < endMs) {
		const waitMs = Math.min(options.intervalMs, endMs - clock.monotonicMs());
		await clock.sleep(waitMs, signal).catch(() => undefined);
		const now = counts.soFar();
		options.told(difference(now, before));
		before = now;
	}
}

class Counts {
	readonly #startMs = clock.monotonicMs();
	readonly #received = new Map<string, Received>();

	add({ plural }: Resource, more: Received): void {
		const { events, bytes } = this.#of(plural);
		this.#received.set(plural, { events: events + more.events, bytes: bytes + more.bytes });
	}

	soFar(): WatchCost {
		return {
			seconds: Math.round((clock.monotonicMs() - this.#startMs) / 100) / 10,
			endpoints: this.#of(ENDPOINTS.plural),
			endpointSlices: this.#of(ENDPOINT_SLICES.plural),
		};
	}

	#of(plural: string): Received {
		return this.#received.get(plural) ?? { events: 0, bytes: 0 };
	}
}

type Selection = Pick<WatchOptions, "namespace" | "fieldSelector" | "labelSelector">;

/** Told the types of events. */
type Seen = (types: readonly string[]) => void;

class Watcher {
	readonly #client: HttpClient;
	readonly #counts: Counts;
	readonly #signal: AbortSignal;

	constructor(client: HttpClient, counts: Counts, signal: AbortSignal) {
		this.#client = client;
		this.#counts = counts;
		this.#signal = signal;
	}

	/** Watches again and again, until the signal aborts. */
	async follow(resource: Resource, selection: Selection, seen: Seen = () => undefined): Promise<void> {
		while (!this.#signal.aborted) {
			const failure = await this.#watchOnce(resource, selection, seen).then(
				() => undefined,
				(error: unknown) => ({ error }),
			);
			if (failure === undefined || this.#signal.aborted) continue;
			if (!isPassing(failure.error)) throw failure.error;
			await clock.sleep(RETRY_MS, this.#signal).catch(() => undefined);
		}
	}

	/** From what is there now: the first list is everybody's alike. */
	async #watchOnce(resource: Resource, selection: Selection, seen: Seen): Promise<void> {
		const signal = this.#signal;
		const { resourceVersion } = await this.#client.list(resource, { ...selection, signal });
		for await (const events of this.#client.watch(resource, { ...selection, resourceVersion, signal })) {
			const changes = events.filter(({ type }) => type !== "BOOKMARK");
			seen(changes.map(({ type }) => type));
			this.#counts.add(resource, { events: changes.length, bytes: 0 });
		}
	}
}

function isPassing(error: unknown): boolean {
	return hasReason(error, "Expired") || (error instanceof TransportError && error.kind === "broken");
}

/** `seconds` stays the time since the start. */
function difference(now: WatchCost, before: WatchCost): WatchCost {
	const less = (a: Received, b: Received): Received => ({ events: a.events - b.events, bytes: a.bytes - b.bytes });
	return {
		seconds: now.seconds,
		endpoints: less(now.endpoints, before.endpoints),
		endpointSlices: less(now.endpointSlices, before.endpointSlices),
	};
}
