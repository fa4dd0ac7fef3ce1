/**
 * A controller of one's own: brings addresses from outside the cluster into a Service.
 *
 * It follows the ConfigMaps with the label `example.com/outside-service: NAME`, whose data has `addresses` (IPv4, one a
 * line) and `port`, and keeps one EndpointSlice of the Service NAME for each of them. The slice has the name of its
 * ConfigMap and belongs to it by an ownerReference, so that it goes when that goes.
 */
import { isDeepStrictEqual } from "node:util";
import * as sliceplane from "sliceplane/testing";

/** @import { ApiClient, Clock, ConfigMap, EndpointSlice, Logger, Metrics, Random, WorkQueue } from "sliceplane/testing" */

const LABEL = "example.com/outside-service";
const SERVICE_NAME = "kubernetes.io/service-name";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const OURS = "outside-services.example.com";

/**
 * Runs until `signal` aborts.
 *
 * @param {{ client: ApiClient, clock: Clock, random: Random, log: Logger, metrics: Metrics }} ports
 * @param {AbortSignal} signal
 */
export async function runOutsideServices(ports, signal) {
	const { client, clock, log } = ports;
	const informers = new sliceplane.Informers(ports);
	const configMaps = informers.of(sliceplane.CONFIG_MAPS);
	const slices = informers.of(sliceplane.ENDPOINT_SLICES);
	/** @type {WorkQueue<string>} */
	const queue = new sliceplane.WorkQueues(ports).make({ name: "outside-services" });
	// Both kinds have the same keys: who changes or deletes a slice of ours gets it back.
	for (const informer of [configMaps, slices]) {
		informer.addHandlers({
			added: (object) => queue.add(sliceplane.keyOf(object)),
			updated: (_, object) => queue.add(sliceplane.keyOf(object)),
			deleted: (object) => queue.add(sliceplane.keyOf(object)),
		});
	}
	const reconciler = {
		name: "outside-services",
		/** @param {string} key */
		async reconcile(key) {
			await brought(client, slices.get(key), wantedSlice(configMaps.get(key)));
			return sliceplane.SETTLED;
		},
	};
	const following = informers.run(signal);
	await informers.whenSynced(signal).catch(() => undefined);
	await sliceplane.runWorkers(queue, reconciler, { workers: 1, clock, log, signal });
	await following;
}

/**
 * Brings the slice in line. Rejects when somebody else wrote in the meantime: the key is tried again then.
 *
 * @param {ApiClient} client
 * @param {EndpointSlice | undefined} found
 * @param {ReturnType<typeof wantedSlice>} wanted
 */
async function brought(client, found, wanted) {
	if (found === undefined) {
		if (wanted !== undefined) await client.create(sliceplane.ENDPOINT_SLICES, wanted.metadata.namespace, wanted);
		return;
	}
	const { name, namespace = "", uid, labels, ownerReferences } = found.metadata;
	if (labels?.[MANAGED_BY] !== OURS) return;
	if (wanted === undefined) {
		await client.delete(sliceplane.ENDPOINT_SLICES, { namespace, name }, { preconditions: { uid } });
		return;
	}
	const there = { metadata: { name, namespace, labels, ownerReferences }, ...partsOf(found) };
	if (isDeepStrictEqual(there, { metadata: wanted.metadata, ...partsOf(wanted) })) return;
	await client.update(sliceplane.ENDPOINT_SLICES, {
		...found,
		...wanted,
		metadata: { ...found.metadata, ...wanted.metadata },
	});
}

/** @param {ConfigMap | undefined} configMap */
function wantedSlice(configMap) {
	const { name = "", namespace = "", uid = "", labels } = configMap?.metadata ?? {};
	const service = labels?.[LABEL];
	const addresses = (configMap?.data?.["addresses"] ?? "").split(/\s+/).filter((address) => address !== "");
	if (service === undefined || addresses.length === 0) return undefined;
	return {
		metadata: {
			name,
			namespace,
			labels: { [SERVICE_NAME]: service, [MANAGED_BY]: OURS },
			ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true }],
		},
		addressType: /** @type {const} */ ("IPv4"),
		endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
		ports: [{ name: "", port: Number(configMap?.data?.["port"]), protocol: /** @type {const} */ ("TCP") }],
	};
}

/** @param {Pick<EndpointSlice, "addressType" | "endpoints" | "ports">} slice */
function partsOf({ addressType, endpoints, ports }) {
	return { addressType, endpoints, ports };
}
