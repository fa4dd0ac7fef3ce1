/**
 * Tells users what happened to an object, as a `v1` Event.
 *
 * Recording never fails and never waits. Events go out one after the other in the background; a
 * repeat raises the count of the Event that is there.
 */

import { apiVersionOf, type Resource } from "../api/resource.ts";
import { EVENTS } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Event } from "../api/types/core.ts";
import type { Draft, KubeObject, ObjectReference } from "../api/types/meta.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Counter, Metrics } from "../kernel/metrics.ts";
import { type Random, randomBelow } from "../kernel/random.ts";
import { type ApiClient, TransportError } from "./api-client.ts";
import { BoundedMap } from "./bounded-map.ts";

export interface EventInput {
	/** Who saw it: `endpoint-slice-controller`. */
	readonly component: string;
	readonly resource: Resource;
	/** What it happened to. */
	readonly object: KubeObject;
	readonly type: "Normal" | "Warning";
	/** One word in CamelCase, for programs. */
	readonly reason: string;
	/** One sentence, for people. */
	readonly message: string;
}

/** The door to events for everything that has something to tell. */
export interface EventSink {
	record(event: EventInput): void;
}

export interface EventRecorderPorts {
	readonly client: ApiClient;
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly metrics: Metrics;
}

/** Events waiting to be written; more drop the oldest. client-go's number. */
const QUEUE_LENGTH_MAX = 1000;
/** Events remembered to count repeats. client-go's number. */
const REMEMBERED_MAX = 4096;
/** Tries to write one Event while the server cannot be reached, with the waits between them. */
const TRIES_MAX = 5;
const RETRY_DELAY_MS = 2_000;

interface Waiting extends EventInput {
	readonly atMs: number;
}

interface Written {
	readonly namespace: string;
	readonly name: string;
	readonly count: number;
}

export class EventRecorder implements EventSink {
	readonly #ports: EventRecorderPorts;
	readonly #waiting: Waiting[] = [];
	readonly #written: BoundedMap<string, Written> = new BoundedMap(REMEMBERED_MAX);
	readonly #dropped: Counter;
	#wake: (() => void) | undefined;
	/** Sets apart the names of events of one millisecond. */
	#serial: number;

	constructor(ports: EventRecorderPorts) {
		this.#ports = ports;
		this.#serial = randomBelow(ports.random, 1_000_000);
		this.#dropped = ports.metrics.counter({
			name: "sliceplane_events_dropped_total",
			help: "Events that were not written: the queue was full, or the server refused them.",
			labelNames: ["cause"],
		});
	}

	record(event: EventInput): void {
		if (this.#waiting.length >= QUEUE_LENGTH_MAX) {
			this.#waiting.shift();
			this.#dropped.add(1, { cause: "queue_full" });
		}
		this.#waiting.push({ ...event, atMs: this.#ports.clock.wallMs() });
		this.#wake?.();
	}

	/** Writes what was recorded until `signal` aborts. Never rejects. */
	async run(signal: AbortSignal): Promise<void> {
		const wake = (): void => this.#wake?.();
		signal.addEventListener("abort", wake, { once: true });
		while (!signal.aborted) {
			const next = this.#waiting.shift();
			if (next !== undefined) await this.#write(next, signal);
			else await new Promise<void>((resolve) => (this.#wake = resolve));
		}
		signal.removeEventListener("abort", wake);
	}

	async #write(event: Waiting, signal: AbortSignal): Promise<void> {
		for (let attempt = 1; !signal.aborted; attempt++) {
			try {
				return await this.#send(event, signal);
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof TransportError && attempt < TRIES_MAX) {
					await this.#ports.clock.sleep(RETRY_DELAY_MS * attempt, signal).catch(() => undefined);
					continue;
				}
				this.#dropped.add(1, { cause: "refused" });
				this.#ports.log.info("Event was not written", {
					reason: event.reason,
					about: event.object.metadata.name,
					error,
				});
				return;
			}
		}
	}

	async #send(event: Waiting, signal: AbortSignal): Promise<void> {
		const { client } = this.#ports;
		const about = referenceTo(event.resource, event.object);
		// The same about a newer version of the object is a repeat.
		const key = JSON.stringify([
			event.component,
			{ ...about, resourceVersion: "" },
			event.type,
			event.reason,
			event.message,
		]);
		const known = this.#written.get(key);
		if (known !== undefined && (await this.#repeat(known, key, event, signal))) return;

		const draft = draftOf(event, about, this.#nameFor(event));
		const namespace = draft.metadata.namespace ?? "";
		const created = await client.create(EVENTS, namespace, draft, { signal });
		this.#written.set(key, { namespace, name: created.metadata.name, count: 1 });
	}

	/** False when the Event is gone: they live for an hour. */
	async #repeat(known: Written, key: string, event: Waiting, signal: AbortSignal): Promise<boolean> {
		const count = known.count + 1;
		const body = { count, lastTimestamp: timestamp(event.atMs) };
		try {
			await this.#ports.client.patch(EVENTS, known, { type: "merge", body }, { signal });
		} catch (error) {
			if (!hasReason(error, "NotFound")) throw error;
			this.#written.delete(key);
			return false;
		}
		this.#written.set(key, { ...known, count });
		return true;
	}

	/** `<object>.<16 hex digits>`: nanoseconds since 1970, of which the last six digits only count up. */
	#nameFor(event: Waiting): string {
		this.#serial = (this.#serial + 1) % 1_000_000;
		const nanoseconds = BigInt(event.atMs) * 1_000_000n + BigInt(this.#serial);
		return `${event.object.metadata.name}.${nanoseconds.toString(16).padStart(16, "0")}`;
	}
}

/** What an Event, or an endpoint, says about which object it means. */
export function referenceTo(resource: Resource, object: KubeObject): ObjectReference {
	const { namespace, name, uid, resourceVersion } = object.metadata;
	return {
		kind: resource.kind,
		...(namespace === undefined ? {} : { namespace }),
		name,
		uid,
		apiVersion: apiVersionOf(resource),
		resourceVersion,
	};
}

function draftOf(event: Waiting, about: ObjectReference, name: string): Draft<Event> {
	const at = timestamp(event.atMs);
	return {
		metadata: { name, namespace: about.namespace ?? "default" },
		involvedObject: about,
		reason: event.reason,
		message: event.message,
		source: { component: event.component },
		firstTimestamp: at,
		lastTimestamp: at,
		count: 1,
		type: event.type,
		eventTime: null,
		reportingComponent: event.component,
		reportingInstance: "",
	};
}

/** RFC 3339 in whole seconds, as the API has its times. */
function timestamp(wallMs: number): string {
	return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
