/**
 * One of many holds a Lease and leads: the state machine, by client-go's rules.
 *
 * Sans-I/O. `begin` says what to ask the server, `answered` takes the answer and may ask on; `elector.ts` does it.
 *
 * Times that others wrote are never compared with a clock: what counts is how long a Lease has stood as it is, since it
 * was first seen so. A leader counts from before it asked, the others from after they were answered; so, whatever
 * the network does, a leader's time is over before another's begins.
 *
 * @see https://kubernetes.io/docs/concepts/architecture/leases/
 */
import type { Lease } from "../api/types/coordination.ts";
import type { Draft } from "../api/types/meta.ts";
import { deepEqual } from "../kernel/json.ts";

export interface ElectionTimes {
	/** Others wait so long after the last renewal that they saw. */
	readonly leaseDurationMs: number;
	/** A leader whose renewals fail for so long leads no more. */
	readonly renewDeadlineMs: number;
	/** Between two attempts. */
	readonly retryPeriodMs: number;
}

export interface ElectionOptions extends ElectionTimes {
	/** Of this process alone. */
	readonly identity: string;
	/** Of the Lease. */
	readonly name: string;
}

/** The waits of those who do not lead are up to so much longer than the retry period. */
export const RETRY_JITTER = 1.2;

/** What must hold of the times, so that a leader ends before the next one begins. Undefined: it does. */
export function timesProblem({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTimes): string | undefined {
	if (leaseDurationMs < 1_000) return "--leader-elect-lease-duration must be at least 1s";
	if (leaseDurationMs <= renewDeadlineMs) {
		return "--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline";
	}
	if (retryPeriodMs <= 0 || renewDeadlineMs <= RETRY_JITTER * retryPeriodMs) {
		return `--leader-elect-renew-deadline must be longer than ${RETRY_JITTER} times --leader-elect-retry-period, which is not 0`;
	}
	return undefined;
}

/** Now, by both clocks of this machine. Only differences of the monotonic one decide who leads. */
export interface Instant {
	readonly monotonicMs: number;
	readonly wallMs: number;
}

export interface ElectionState {
	/** The Lease as the server told it last, and since when its spec stands so. */
	readonly seen?: { readonly lease: Lease; readonly sinceMs: number };
	/** When the renewal that made, or kept, this one the leader was asked for. */
	readonly renewed?: Instant;
	/** Why it leads no more, nor ever again. */
	readonly lost?: string;
}

export type ElectionRequest =
	| { readonly kind: "get" }
	| { readonly kind: "create"; readonly lease: Draft<Lease> }
	| { readonly kind: "update"; readonly lease: Lease };

export type ElectionAnswer =
	| { readonly kind: "lease"; readonly lease: Lease }
	/** Of a get, or an update: there is no such Lease. */
	| { readonly kind: "missing" }
	/** Somebody else wrote first. */
	| { readonly kind: "conflict" }
	| { readonly kind: "failed" };

export interface ElectionStep {
	readonly state: ElectionState;
	/** Absent: wait for the next attempt. */
	readonly request?: ElectionRequest;
}

/**
 * Whether work may be done. The monotonic clock stands still while a machine sleeps, so the other one is asked, too:
 * by that alone a lead can only end early.
 */
export function isLeading({ renewed, lost }: ElectionState, now: Instant, { renewDeadlineMs }: ElectionTimes): boolean {
	if (renewed === undefined || lost !== undefined) return false;
	const since = (of: keyof Instant): number => now[of] - renewed[of];
	return since("monotonicMs") < renewDeadlineMs && since("wallMs") < renewDeadlineMs;
}

/** The next attempt to lead, or to go on leading. */
export function begin(state: ElectionState, now: Instant, options: ElectionOptions): ElectionStep {
	if (state.lost !== undefined) return { state };
	if (state.renewed === undefined || state.seen === undefined) return { state, request: { kind: "get" } };
	if (!isLeading(state, now, options)) return lose(state, "it could not be renewed in time");
	return { state, request: claim(state.seen.lease, now, options) };
}

/** @param asked When the request was sent, at the latest. */
export function answered(
	state: ElectionState,
	request: ElectionRequest,
	answer: ElectionAnswer,
	{ asked, now }: { readonly asked: Instant; readonly now: Instant },
	options: ElectionOptions,
): ElectionStep {
	if (state.renewed !== undefined && !isLeading(state, now, options)) {
		return lose(state, "it could not be renewed in time");
	}
	switch (answer.kind) {
		case "failed":
			return { state };
		case "missing":
			return { state, request: { kind: "create", lease: newLease(now, options) } };
		case "conflict":
			// Once: whoever wrote is seen by that, or with the next attempt.
			return request.kind === "update" ? { state, request: { kind: "get" } } : { state };
		case "lease":
			if (request.kind === "get") return found(state, answer.lease, now, options);
			return won(state, answer.lease, { asked, now }, options);
	}
}

function won(
	state: ElectionState,
	lease: Lease,
	{ asked, now }: { readonly asked: Instant; readonly now: Instant },
	options: ElectionOptions,
): ElectionStep {
	const next = { ...state, seen: { lease, sinceMs: now.monotonicMs }, renewed: asked };
	// The answer came so late that the time is over: as if it had not come.
	return isLeading(next, now, options) ? { state: next } : { state: { ...state, seen: next.seen } };
}

function found(before: ElectionState, lease: Lease, now: Instant, options: ElectionOptions): ElectionStep {
	const { monotonicMs: nowMs } = now;
	const isKnown = before.seen !== undefined && deepEqual(before.seen.lease.spec ?? {}, lease.spec ?? {});
	const sinceMs = isKnown ? (before.seen?.sinceMs ?? nowMs) : nowMs;
	const state = { ...before, seen: { lease, sinceMs } };
	const { holderIdentity: holder = "", leaseDurationSeconds: seconds = 0 } = lease.spec ?? {};
	if (holder !== "" && holder !== options.identity) {
		if (state.renewed !== undefined) return lose(state, `${holder} holds it`);
		if (nowMs - sinceMs < seconds * 1000) return { state };
	}
	return { state, request: claim(lease, now, options) };
}

function lose(state: ElectionState, lost: string): ElectionStep {
	return { state: { ...state, lost } };
}

/** The Lease as the leader writes it: made anew, or kept. */
function claim(lease: Lease, { wallMs }: Instant, options: ElectionOptions): ElectionRequest {
	const { holderIdentity: holder, acquireTime, leaseTransitions: transitions = 0 } = lease.spec ?? {};
	const isOwn = holder === options.identity;
	const spec = {
		...lease.spec,
		...heldSpec(wallMs, options),
		acquireTime: isOwn ? (acquireTime ?? microTime(wallMs)) : microTime(wallMs),
		leaseTransitions: isOwn ? transitions : transitions + 1,
	};
	return { kind: "update", lease: { ...lease, spec } };
}

function newLease({ wallMs }: Instant, options: ElectionOptions): Draft<Lease> {
	const spec = { ...heldSpec(wallMs, options), acquireTime: microTime(wallMs), leaseTransitions: 0 };
	return { metadata: { name: options.name }, spec };
}

function heldSpec(wallMs: number, { identity, leaseDurationMs }: ElectionOptions) {
	return {
		holderIdentity: identity,
		// Others count in whole seconds: rather one more.
		leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
		renewTime: microTime(wallMs),
	};
}

/** For a leader that ends its work of its own will: the next one need not wait. Undefined: there is nothing to release. */
export function released(state: ElectionState, now: Instant, options: ElectionOptions): Lease | undefined {
	const { seen } = state;
	if (seen === undefined || !isLeading(state, now, options)) return undefined;
	const time = microTime(now.wallMs);
	const free = { holderIdentity: "", leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
	return { ...seen.lease, spec: { ...seen.lease.spec, ...free } };
}

/** RFC 3339 with six decimals. */
function microTime(wallMs: number): string {
	return `${new Date(wallMs).toISOString().slice(0, -1)}000Z`;
}
