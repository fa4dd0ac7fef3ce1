/** Brings one connection to an endpoint, and tells what was decided. */
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Decision } from "../plan/service-map/decision.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import { connect } from "./connect.ts";
import type { Attempt } from "./node-proxy.ts";
import type { Dialer } from "./ports.ts";

export interface ReachPorts<S> {
	readonly dialer: Dialer<S>;
	readonly clock: Clock;
	readonly log: Logger;
	/** Told of every connection, when somebody wants to know. */
	readonly decided?: (decision: Decision) => void;
}

export type Asking = Pick<Decision, "node" | "asked" | "client">;

export type Reached<S> =
	| { readonly kind: "reached"; readonly stream: S }
	| { readonly kind: "failed"; readonly why: string };

/** @param dialFailed Called for each endpoint that did not answer. */
export async function reach<S>(
	ports: ReachPorts<S>,
	attempt: Attempt,
	asking: Asking,
	dialFailed: () => void,
): Promise<Reached<S>> {
	const failed: { target: Target; message: string }[] = [];
	let reached: Target | undefined;
	const stream = await connect<S>({
		dialer: ports.dialer,
		clock: ports.clock,
		take: (tried) => attempt.take(tried),
		connected: (target) => {
			reached = target;
			attempt.connected(target);
		},
		failed: (target, message) => {
			attempt.failed();
			dialFailed();
			failed.push({ target, message });
			ports.log.debug("Endpoint did not answer", { ip: target.ip, port: target.port, message });
		},
	});
	const chosen = reached === undefined ? {} : { chosen: { target: reached, by: attempt.chosenBy } };
	ports.decided?.({ ...asking, route: attempt.route, ...chosen, failed });
	if (stream !== undefined) return { kind: "reached", stream };
	return { kind: "failed", why: failed.at(-1)?.message ?? "no endpoint answered" };
}
