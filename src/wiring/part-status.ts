/** Health and metrics of a part that runs by itself, over plain HTTP for whoever watches it. */
import type { PrometheusMetrics } from "../edge/prometheus-metrics.ts";
import { type StatusAnswer, StatusServer } from "../edge/status-server.ts";

export interface HostPort {
	readonly host: string;
	readonly port: number;
}

export interface PartStatus {
	/** Undefined: not served. */
	readonly port: number | undefined;
	close(): void;
}

/**
 * Rejects with a sentence for people when the address cannot be had.
 *
 * @param place Undefined: nothing is served.
 * @param problem What is wrong, for /healthz; undefined: nothing.
 */
export async function servePartStatus(
	place: HostPort | undefined,
	metrics: PrometheusMetrics,
	problem: () => string | undefined,
): Promise<PartStatus> {
	if (place === undefined) return { port: undefined, close: () => undefined };
	const server = new StatusServer({
		"/healthz": () => {
			const wrong = problem();
			return wrong === undefined ? plain(200, "ok") : plain(500, wrong);
		},
		"/metrics": async () => plain(200, await metrics.text()),
	});
	try {
		return { port: await server.listen(place), close: () => server.close() };
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		throw new Error(`${reason}: choose another place with --metrics-bind-address, or '' for none`, { cause: error });
	}
}

function plain(status: number, body: string): StatusAnswer {
	return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}
