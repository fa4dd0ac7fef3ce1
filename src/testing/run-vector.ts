/** Runs one sync of a controller over a vector's objects, and writes down what it does. */
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Endpoints } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { EndpointsSync } from "../controllers/endpoints-sync.ts";
import { EndpointSliceSync } from "../controllers/endpointslice-sync.ts";
import { EndpointSliceMirroringSync } from "../controllers/endpointslicemirroring-sync.ts";
import type { ControllerPorts } from "../controllers/ports.ts";
import type { Reconciler } from "../machinery/controller.ts";
import type { EventInput } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { nextTriggerTime, type TriggerTimes } from "../plan/trigger-time.ts";
import { RecordingClient } from "./recording-client.ts";
import { SeededRandom } from "./seeded.ts";
import { silentLogger, silentMetrics } from "./silent.ts";
import type { Vector, VectorWrites, WrittenEndpoints, WrittenSlice } from "./vector.ts";
import { VirtualClock } from "./virtual-clock.ts";

export async function runVector(vector: Vector): Promise<VectorWrites> {
	const { input } = vector;
	const client = new RecordingClient();
	client.serve(SERVICES, input.service === undefined ? [] : [input.service]);
	client.serve(PODS, input.pods ?? []);
	client.serve(NODES, input.nodes ?? []);
	client.serve(ENDPOINT_SLICES, input.existingSlices ?? []);
	client.serve(ENDPOINTS, input.endpoints === undefined ? [] : [input.endpoints].flat());
	const clock = new VirtualClock();
	const shared = { client, clock, random: new SeededRandom(1), log: silentLogger };
	const informers = new Informers(shared);
	const events: string[] = [];
	const recorder = {
		record: ({ type, reason, message }: EventInput) => events.push(`${type} ${reason} ${message}`),
	};
	const metrics = silentMetrics;
	const queues = new WorkQueues({ clock, metrics });
	const sync = reconciler(vector, { ...shared, informers, queues, metrics, recorder });
	const stop = new AbortController();
	void informers.run(stop.signal);
	await informers.whenSynced(stop.signal);
	if (sync instanceof EndpointSliceSync) sync.updateTopology();

	const [named] = [input.service ?? [], input.endpoints ?? []].flat();
	const key = named === undefined ? (input.key ?? "") : keyOf(named);
	if (input.hasPrevious === true && input.service !== undefined) {
		sync.triggerTimes?.set(key, nextTriggerTime(undefined, input.service, input.previousPods ?? []).next);
	}
	const error = await sync.reconcile(key, stop.signal).then(
		() => undefined,
		(thrown: Error) => thrown.message,
	);
	stop.abort();
	return { ...writesTo(client), events, error };
}

function reconciler(
	{ input }: Vector,
	ports: ControllerPorts,
): Reconciler & { readonly triggerTimes?: Map<string, TriggerTimes> } {
	const { maxEndpointsPerSlice: max } = input.options ?? {};
	switch (input.controller) {
		case "endpoints":
			return new EndpointsSync(ports, { rewritesUnchanged: true });
		case "mirroring":
			return new EndpointSliceMirroringSync(ports, { addressesPerSubsetMax: max ?? 1000 });
		case "endpointslice":
			return new EndpointSliceSync(ports, { endpointsPerSliceMax: max ?? 100 });
		default:
			throw new RangeError(`input.controller "${input.controller}": want endpointslice, endpoints or mirroring`);
	}
}

function writesTo(client: RecordingClient): VectorWrites {
	return {
		created: writtenSlices(client, "create"),
		updated: writtenSlices(client, "update"),
		deleted: client.writes.flatMap(({ verb, key }) => (verb === "delete" ? [key.slice(key.indexOf("/") + 1)] : [])),
		endpointsCreated: writtenEndpoints(client, "create"),
		endpointsUpdated: writtenEndpoints(client, "update"),
	};
}

function writesOf(client: RecordingClient, verb: "create" | "update", plural: string): readonly KubeObject[] {
	return client.writes.flatMap((write) => (write.verb === verb && write.plural === plural ? [write.object] : []));
}

function writtenSlices(client: RecordingClient, verb: "create" | "update"): readonly WrittenSlice[] {
	return writesOf(client, verb, "endpointslices").map((object) => {
		const { metadata, addressType, ports, endpoints } = object as EndpointSlice;
		const { name, generateName, labels, annotations, ownerReferences } = metadata;
		const identity = verb === "update" || generateName === undefined ? { name } : { generateName };
		return { ...identity, ...definedOnly({ labels, annotations, ownerReferences }), addressType, ports, endpoints };
	});
}

function writtenEndpoints(client: RecordingClient, verb: "create" | "update"): readonly WrittenEndpoints[] {
	return writesOf(client, verb, "endpoints").map((object) => ({ ...(object as Endpoints), ...object.metadata }));
}

function definedOnly<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
		[K in keyof T]?: Exclude<T[K], undefined>;
	};
}
