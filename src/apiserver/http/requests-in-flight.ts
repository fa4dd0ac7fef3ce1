/** How many requests are answered at once: past the limit a client is told to come back. */
import { ApiError } from "../../api/status.ts";
import type { Gauge, Metrics } from "../../kernel/metrics.ts";
import type { User } from "../ports.ts";
import { MASTERS_GROUP } from "../users.ts";
import type { HttpRequest } from "./message.ts";
import { booleanOf } from "./query.ts";
import type { Route } from "./route.ts";

/** Requests under way at once, of those that read and of those that change something. */
export interface InFlightLimits {
	readonly readOnly: number;
	readonly mutating: number;
}

/** A real server's numbers. */
export const DEFAULT_IN_FLIGHT: InFlightLimits = { readOnly: 400, mutating: 200 };

type RequestKind = keyof InFlightLimits;

/** Connections that last: they count nowhere, as each has a limit of its own. */
const LONG_RUNNING: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

export class RequestsInFlight {
	readonly #limits: InFlightLimits;
	readonly #counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
	readonly #gauge: Gauge;

	constructor(metrics: Metrics, limits: InFlightLimits) {
		this.#limits = limits;
		this.#gauge = metrics.gauge({
			name: "apiserver_current_inflight_requests",
			help: "Requests that are being answered, without watches and other long ones.",
			labelNames: ["request_kind"],
		});
	}

	/**
	 * Lets the request in, and returns what to call when it is answered.
	 *
	 * `system:masters` are never refused, as on a real server: whoever repairs a plane must get through.
	 * @throws {ApiError} `TooManyRequests`, to be tried again in a second.
	 */
	enter(request: HttpRequest, route: Route, user: User): () => void {
		if (isLongRunning(request, route)) return () => undefined;
		const kind: RequestKind = request.method === "GET" || request.method === "HEAD" ? "readOnly" : "mutating";
		if (this.#counts[kind] >= this.#limits[kind] && !user.groups.includes(MASTERS_GROUP)) {
			throw new ApiError("TooManyRequests", "Too many requests, please try again later.", {
				details: { retryAfterSeconds: 1 },
			});
		}
		this.#count(kind, 1);
		return () => this.#count(kind, -1);
	}

	#count(kind: RequestKind, change: 1 | -1): void {
		this.#counts[kind] += change;
		this.#gauge.set(this.#counts[kind], { request_kind: kind });
	}
}

function isLongRunning({ query }: HttpRequest, route: Route): boolean {
	if (route.kind !== "resource") return false;
	return (route.name === "" && booleanOf(query, "watch")) || LONG_RUNNING.has(route.subresource ?? "");
}
