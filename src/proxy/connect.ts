/** Finds a target that answers. */
import type { Clock } from "../kernel/clock.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import type { Dialer, DialResult } from "./ports.ts";

/** How long each attempt may take, each at another target. kube-proxy's userspace mode had the same schedule. */
const ATTEMPT_MS: readonly number[] = [250, 500, 1_000, 2_000];

/** Made once: an AbortController makes an error with a stack of its own each time, for every connection. */
const ANSWERED = new Error("answered");

export interface ConnectPorts<S> {
	readonly dialer: Dialer<S>;
	readonly clock: Clock;
	/** The next target that is not in `tried`. */
	take(tried: Set<string>): Target | undefined;
	connected(target: Target): void;
	failed(target: Target, message: string): void;
}

/** Undefined when no attempt succeeded, or no target is left. Nothing was written to any target yet. */
export async function connect<S>(ports: ConnectPorts<S>): Promise<S | undefined> {
	const tried = new Set<string>();
	for (const attemptMs of ATTEMPT_MS) {
		const target = ports.take(tried);
		if (target === undefined) return undefined;
		const result = await dialWithin(ports, target, attemptMs);
		if (result.kind === "connected") {
			ports.connected(target);
			return result.stream;
		}
		ports.failed(target, result.message);
	}
	return undefined;
}

async function dialWithin<S>(
	{ dialer, clock }: ConnectPorts<S>,
	target: Target,
	attemptMs: number,
): Promise<DialResult<S>> {
	const late = new AbortController();
	const done = new AbortController();
	void clock.sleep(attemptMs, done.signal).then(
		() => late.abort(new Error(`no answer within ${attemptMs} ms`)),
		() => undefined,
	);
	const result = await dialer.dial(target, late.signal);
	done.abort(ANSWERED);
	return result;
}
