/**
 * List, then watch, then recover: the state machine that keeps a local cache equal to the server.
 *
 * Sans-I/O. `step` takes what happened and says what to do; `run-reflector.ts` does it.
 */
import { hasCause, hasReason } from "../api/status.ts";
import { unreachable } from "../kernel/assert.ts";
import { TransportError, type WatchEvent } from "./api-client.ts";

/** `restarts` counts attempts in a row that brought no news; the driver waits longer with each. */
export type ReflectorState =
	| { readonly kind: "listing"; readonly restarts: number }
	| { readonly kind: "watching"; readonly resourceVersion: string; readonly restarts: number };

export type ReflectorInput<T> =
	| { readonly kind: "listed"; readonly items: readonly T[]; readonly resourceVersion: string }
	| { readonly kind: "events"; readonly events: readonly WatchEvent<T>[]; readonly resourceVersion: string }
	| { readonly kind: "closed" }
	| { readonly kind: "failed"; readonly error: unknown };

export type Change<T> = Exclude<WatchEvent<T>, { readonly type: "BOOKMARK" }>;

/** What the cache has to do. */
export type ReflectorEffect<T> =
	| { readonly kind: "replace"; readonly items: readonly T[]; readonly asOf: string }
	| { readonly kind: "apply"; readonly changes: readonly Change<T>[]; readonly asOf: string };

/** What to ask the server. `backoff` 0 means at once; each step up doubles the wait. */
export type ReflectorRequest =
	| { readonly kind: "list"; readonly freshness: "any" | "latest"; readonly backoff: number }
	| { readonly kind: "watch"; readonly resourceVersion: string; readonly backoff: number };

export interface ReflectorStep<T> {
	readonly state: ReflectorState;
	readonly effect?: ReflectorEffect<T>;
	/** Absent: go on reading the watch that runs. */
	readonly request?: ReflectorRequest;
}

export const INITIAL_STATE: ReflectorState = { kind: "listing", restarts: 0 };

/** The first list takes what a server's cache has, so that a restart of many clients costs it little. */
export const INITIAL_REQUEST: ReflectorRequest = { kind: "list", freshness: "any", backoff: 0 };

export function step<T>(state: ReflectorState, input: ReflectorInput<T>): ReflectorStep<T> {
	switch (input.kind) {
		case "listed": {
			const { items, resourceVersion } = input;
			return {
				state: { kind: "watching", resourceVersion, restarts: state.restarts },
				effect: { kind: "replace", items, asOf: resourceVersion },
				request: { kind: "watch", resourceVersion, backoff: 0 },
			};
		}
		case "events":
			return {
				// Only news from a watch resets the count, so no peer, however broken, can make us spin.
				state: { kind: "watching", resourceVersion: input.resourceVersion, restarts: 0 },
				effect: { kind: "apply", changes: input.events.filter(isChange), asOf: input.resourceVersion },
			};
		case "closed": // Normal: the server ends every watch after some minutes.
			return resume(state);
		case "failed":
			return mustListAgain(input.error) ? relist(state, "latest") : resume(state);
		default:
			return unreachable(input);
	}
}

function isChange<T>(event: WatchEvent<T>): event is Change<T> {
	return event.type !== "BOOKMARK";
}

/**
 * 410: the history we stood on was compacted; what we missed is unknowable. An event that cannot be
 * read, and a resourceVersion that the server has not reached, would only come again.
 */
function mustListAgain(error: unknown): boolean {
	return (
		hasReason(error, "Expired") ||
		hasReason(error, "Gone") ||
		hasCause(error, "ResourceVersionTooLarge") ||
		(error instanceof TransportError && error.kind === "malformed")
	);
}

function relist<T>(state: ReflectorState, freshness: "any" | "latest"): ReflectorStep<T> {
	return {
		state: { kind: "listing", restarts: state.restarts + 1 },
		request: { kind: "list", freshness, backoff: state.restarts },
	};
}

function resume<T>(state: ReflectorState): ReflectorStep<T> {
	if (state.kind === "listing") return relist(state, "latest");
	return {
		state: { ...state, restarts: state.restarts + 1 },
		request: { kind: "watch", resourceVersion: state.resourceVersion, backoff: state.restarts },
	};
}
