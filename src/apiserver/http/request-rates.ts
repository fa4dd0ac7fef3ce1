/** How many requests a second each client may make: one that knows no end must not take the others' turns. */
import { ApiError } from "../../api/status.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Counter, Metrics } from "../../kernel/metrics.ts";
import { BoundedMap } from "../../machinery/bounded-map.ts";
import { TokenBucket } from "../../machinery/token-bucket.ts";
import type { User } from "../ports.ts";
import { ANONYMOUS, MASTERS_GROUP } from "../users.ts";
import type { HttpRequest } from "./message.ts";

/** Of each client. */
export interface RequestRate {
	readonly perSecond: number;
	/** Requests at once, after a rest. */
	readonly burst: number;
}

/** Far above what a controller or kubectl asks, and below what keeps a server busy. */
export const DEFAULT_REQUEST_RATE: RequestRate = { perSecond: 1_000, burst: 2_000 };

/** Clients that are remembered; whoever asked longest ago is forgotten first, and may begin with a burst anew. */
const CLIENTS_MAX = 10_000;
/** Whoever asks whether the server lives is answered, however many others ask. */
const PROBES = /^\/(healthz|livez|readyz)(\/|$)/;

export class RequestRates {
	readonly #clock: Clock;
	readonly #rate: RequestRate;
	readonly #buckets = new BoundedMap<string, TokenBucket>(CLIENTS_MAX);
	readonly #refused: Counter;

	constructor({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }, rate: RequestRate) {
		this.#clock = clock;
		this.#rate = rate;
		this.#refused = metrics.counter({
			name: "sliceplane_apiserver_requests_over_rate_total",
			help: "Requests that were refused with 429, for their client made too many a second.",
		});
	}

	/**
	 * A client is a user, or who has not said who it is: then its address. `system:masters` and probes are
	 * never refused, as on a real server.
	 * @throws {ApiError} `TooManyRequests`, with the seconds until one will be taken.
	 */
	enter({ path, remoteAddress }: Pick<HttpRequest, "path" | "remoteAddress">, user: User): void {
		if (user.groups.includes(MASTERS_GROUP) || PROBES.test(path)) return;
		const waitMs = this.#bucketOf(user.name === ANONYMOUS.name ? ` ${remoteAddress}` : user.name).takeNow(
			this.#clock.monotonicMs(),
		);
		if (waitMs === 0) return;
		this.#refused.add(1);
		throw new ApiError("TooManyRequests", "Too many requests, please try again later.", {
			details: { retryAfterSeconds: Math.ceil(waitMs / 1_000) },
		});
	}

	#bucketOf(client: string): TokenBucket {
		const known = this.#buckets.get(client);
		if (known !== undefined) return known;
		const bucket = new TokenBucket(this.#rate.perSecond, this.#rate.burst);
		this.#buckets.set(client, bucket);
		return bucket;
	}
}
