/** What the tests of the controller do with it, whatever runs them. */
import * as sliceplane from "sliceplane/testing";
import { runOutsideServices } from "./outside-services.mjs";

/** @import { ApiClient, TestPlane } from "sliceplane/testing" */

/** @param {Readonly<Record<string, string>>} data */
export function configMap(data) {
	return { metadata: { name: "billing", labels: { "example.com/outside-service": "billing" } }, data };
}

/**
 * The controller over the plane, until the plane stops. `restart` ends it and begins it again.
 *
 * @param {TestPlane} plane
 * @param {ApiClient} client What the controller gets to see of the API.
 */
export async function startController(plane, client = plane.client) {
	const { clock } = plane;
	const ports = {
		client,
		clock,
		random: new sliceplane.SeededRandom(1),
		log: sliceplane.silentLogger,
		metrics: sliceplane.silentMetrics,
	};
	let stopping = new AbortController();
	let running = runOutsideServices(ports, stopping.signal);
	await plane.settle();
	const stop = async () => {
		stopping.abort();
		await running;
	};
	return {
		stop,
		async restart() {
			await stop();
			stopping = new AbortController();
			running = runOutsideServices(ports, stopping.signal);
			await plane.settle();
		},
	};
}

/**
 * The slices of the Service `billing`: `billing 192.0.2.1 192.0.2.2 :443`.
 *
 * @param {TestPlane} plane
 */
export async function slicesOf(plane) {
	const { items } = await plane.client.list(sliceplane.ENDPOINT_SLICES, {
		namespace: "default",
		labelSelector: "kubernetes.io/service-name=billing",
	});
	return items.map(({ metadata, endpoints, ports }) =>
		[
			metadata.name,
			...(endpoints ?? []).flatMap(({ addresses }) => addresses),
			...(ports ?? []).map(({ port }) => `:${port}`),
		].join(" "),
	);
}
