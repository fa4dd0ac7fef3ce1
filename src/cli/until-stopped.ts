/** SIGINT and SIGTERM, for a part that runs until one of them comes. */

/** Aborts with the first of them. */
export function stopSignal(): AbortSignal {
	const stopping = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort(new Error(signal)));
	return stopping.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
