/**
 * The only door to time.
 *
 * Wall-clock time may jump; use it for timestamps that are written into objects.
 * Monotonic time never runs backwards; use it for every duration, timeout and back-off.
 */
export interface Clock {
	/** Wall-clock time in milliseconds since the Unix epoch. */
	wallMs(): number;
	/** Milliseconds since an arbitrary origin. Only differences mean anything. */
	monotonicMs(): number;
	/** Resolves after `delayMs`. Rejects with `signal.reason` if aborted first. */
	sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
	/**
	 * Resolves in a later turn of the event loop, after waiting sockets had their share of it.
	 * Long loops call it, so that one big answer never delays every other connection.
	 */
	yield(): Promise<void>;
}
