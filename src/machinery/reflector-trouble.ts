/** Tells of a server that cannot be followed: once when that lasts, and once when it is over. */
import type { Resource } from "../api/resource.ts";
import { hasReason } from "../api/status.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ReflectorInput, ReflectorRequest } from "./reflector.ts";

/** In a row. Watches end early for many reasons, and the next attempt mostly brings them on. */
const FAILURES_UNTIL_WARNING = 3;

export class ReflectorTrouble {
	readonly #resource: Resource;
	readonly #log: Logger;
	#failures = 0;
	/** A server that comes back and knows the token no more is another matter than one that was away. */
	#hasWarned = { any: false, unauthorized: false };
	#lastFailed: ReflectorRequest["kind"] | undefined;

	constructor(resource: Resource, log: Logger) {
		this.#resource = resource;
		this.#log = log;
	}

	/** What the request brought. */
	saw(request: ReflectorRequest, input: ReflectorInput<unknown>): void {
		if (input.kind === "failed") this.#failed(request.kind, input.error);
		// A list between watches that fail says nothing of the next watch.
		else if (input.kind !== "listed" || this.#lastFailed !== "watch") this.#worked();
	}

	#failed(kind: ReflectorRequest["kind"], error: unknown): void {
		this.#failures++;
		this.#lastFailed = kind;
		const fields = { resource: this.#resource.plural, group: this.#resource.group, attempt: this.#failures, error };
		const isRefused = hasReason(error, "Unauthorized");
		const isWarned = isRefused ? this.#hasWarned.unauthorized : this.#hasWarned.any;
		if (this.#failures < FAILURES_UNTIL_WARNING || isWarned) {
			this.#log.info(
				kind === "list" ? "List failed and will be retried" : "Watch ended early and will be resumed",
				fields,
			);
			return;
		}
		this.#hasWarned = { any: true, unauthorized: this.#hasWarned.unauthorized || isRefused };
		if (isRefused) this.#log.warn("Unauthorized: start anew with a valid kubeconfig", fields);
		else this.#log.warn("Failed again and again to follow the server; it is tried on", fields);
	}

	#worked(): void {
		if (this.#failures >= FAILURES_UNTIL_WARNING) {
			const { plural: resource, group } = this.#resource;
			this.#log.info("The server is followed again", { resource, group, failures: this.#failures });
		}
		this.#failures = 0;
		this.#hasWarned = { any: false, unauthorized: false };
		this.#lastFailed = undefined;
	}
}
