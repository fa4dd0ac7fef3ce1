/** Faults of the API that meet every component alike. */
import { ApiError, type StatusReason } from "../../api/status.ts";
import { resourcePath } from "../../edge/resource-path.ts";
import type { Clock } from "../../kernel/clock.ts";
import { TransportError } from "../../machinery/api-client.ts";
import type { ClientCall } from "../../testing/faulty-client.ts";
import type { FailRequestsStep } from "../format/steps.ts";

interface FailingRequests extends FailRequestsStep {
	readonly untilMs: number;
	left: number;
}

export class ServerFaults {
	isStopped = false;
	readonly #clock: Clock;
	readonly #failing: FailingRequests[] = [];

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	fail(step: FailRequestsStep): void {
		const untilMs = step.for === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() + step.for;
		this.#failing.push({ ...step, untilMs, left: step.times ?? Number.POSITIVE_INFINITY });
	}

	/** No request fails any more. */
	heal(): void {
		this.isStopped = false;
		this.#failing.length = 0;
	}

	/** @throws {ApiError | TransportError} When the request is to fail. */
	check(call: ClientCall): void {
		if (this.isStopped) throw new TransportError("unreachable", "connection refused");
		const rule = this.#failing.find((each) => each.left > 0 && this.#matches(each, call));
		if (rule === undefined) return;
		rule.left--;
		throw failure(rule);
	}

	#matches(rule: FailingRequests, { verb, resource, namespace, name, resourceVersion }: ClientCall): boolean {
		return (
			this.#clock.monotonicMs() < rule.untilMs &&
			(rule.verb === undefined || rule.verb === verb) &&
			(rule.resource === undefined || rule.resource === resource.plural) &&
			(rule.resourceVersion === undefined || rule.resourceVersion === (resourceVersion ?? "")) &&
			// Components of one process page no lists.
			rule.continue !== true &&
			(rule.path === undefined || resourcePath(resource, { namespace, name }).startsWith(rule.path))
		);
	}
}

const REASONS: Readonly<Record<number, StatusReason>> = {
	400: "BadRequest",
	401: "Unauthorized",
	403: "Forbidden",
	404: "NotFound",
	409: "Conflict",
	410: "Expired",
	422: "Invalid",
	429: "TooManyRequests",
	500: "InternalError",
	503: "ServiceUnavailable",
	504: "Timeout",
};

function failure({ code, reason = REASONS[code] ?? "" }: FailRequestsStep): ApiError {
	const known = Object.values(REASONS).find((each) => each === reason) ?? "";
	return new ApiError(known, `the scenario lets this fail with ${code}`, { code });
}
