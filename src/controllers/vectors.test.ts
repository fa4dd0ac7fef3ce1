/**
 * Inputs with the writes that upstream's controllers made for them. Every file of
 * `$SLICEPLANE_VECTORS/{endpointslice,endpoints,mirroring}` runs; a few of our own are in testdata/.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { keyOf } from "../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { EndpointSubset, Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject } from "../api/types/meta.ts";
import type { Reconciler } from "../machinery/controller.ts";
import type { EventInput } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { nextTriggerTime, type TriggerTimes } from "../plan/trigger-time.ts";
import { RecordingClient } from "../testing/recording-client.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger, silentMetrics } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { EndpointsSync } from "./endpoints-sync.ts";
import { EndpointSliceSync } from "./endpointslice-sync.ts";
import { EndpointSliceMirroringSync } from "./endpointslicemirroring-sync.ts";
import type { ControllerPorts } from "./ports.ts";

interface WrittenSlice extends Pick<EndpointSlice, "addressType" | "ports" | "endpoints"> {
	readonly name?: string;
	readonly generateName?: string;
	readonly labels?: object;
	readonly annotations?: object;
	readonly ownerReferences?: readonly object[];
}

interface WrittenEndpoints {
	readonly name: string;
	readonly labels?: object;
	readonly annotations?: object;
	readonly subsets?: readonly EndpointSubset[];
}

interface Shape {
	readonly created: readonly ShapeEntry[];
	readonly updated: readonly ShapeEntry[];
	readonly deleted: readonly string[];
	readonly zoneHints?: Readonly<Record<string, number>>;
}

interface ShapeEntry {
	readonly name?: string;
	readonly addressType: string;
	/** JSON. */
	readonly ports: string;
	readonly endpoints: number;
}

interface Vector {
	readonly name: string;
	readonly input: {
		readonly controller: string;
		readonly options: { readonly maxEndpointsPerSlice?: number };
		readonly service?: Service;
		readonly pods?: readonly Pod[];
		readonly nodes?: readonly Node[];
		readonly existingSlices?: readonly EndpointSlice[];
		readonly endpoints?: Endpoints | readonly Endpoints[];
		readonly hasPrevious?: boolean;
		readonly previousPods?: readonly Pod[];
		readonly key?: string;
	};
	readonly expected: {
		readonly created?: readonly WrittenSlice[];
		readonly updated?: readonly WrittenSlice[];
		readonly deleted?: readonly string[];
		readonly endpointsCreated?: readonly WrittenEndpoints[];
		readonly endpointsUpdated?: readonly WrittenEndpoints[];
		readonly events?: readonly string[];
		readonly error?: string;
		readonly deterministic: boolean;
		readonly shapes?: readonly Shape[];
	};
}

/** Which endpoint serves another zone than its own is left to chance upstream: only the counts are compared. */
const HINTS_BY_CHANCE = /^auto-/;

function vectorsIn(directory: string): Vector[] {
	if (!existsSync(directory)) return [];
	const files = readdirSync(directory).filter((file) => file.endsWith(".json"));
	return files.sort().map((file) => JSON.parse(readFileSync(path.join(directory, file), "utf8")));
}

async function run(vector: Vector) {
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
	const sync = reconciler(vector, { ...shared, informers, metrics: silentMetrics, recorder });
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
	return { client, events, error };
}

function reconciler(
	{ input }: Vector,
	ports: ControllerPorts,
): Reconciler & { readonly triggerTimes?: Map<string, TriggerTimes> } {
	const { maxEndpointsPerSlice: max } = input.options;
	switch (input.controller) {
		case "endpoints":
			return new EndpointsSync(ports, { rewritesUnchanged: true });
		case "mirroring":
			return new EndpointSliceMirroringSync(ports, { addressesPerSubsetMax: max ?? 1000 });
		default:
			return new EndpointSliceSync(ports, { endpointsPerSliceMax: max ?? 100 });
	}
}

const writesOf = (client: RecordingClient, verb: "create" | "update", plural: string): readonly KubeObject[] =>
	client.writes.flatMap((write) => (write.verb === verb && write.plural === plural ? [write.object] : []));

function writtenSlices(client: RecordingClient, verb: "create" | "update"): readonly WrittenSlice[] {
	return writesOf(client, verb, "endpointslices").map((object) => {
		const { metadata, addressType, ports, endpoints } = object as EndpointSlice;
		const { name, generateName, labels, annotations, ownerReferences } = metadata;
		const identity = verb === "update" || generateName === undefined ? { name } : { generateName };
		return { ...identity, ...definedOnly({ labels, annotations, ownerReferences }), addressType, ports, endpoints };
	});
}

function definedOnly<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
		[K in keyof T]?: Exclude<T[K], undefined>;
	};
}

/** Keys sorted, empty lists and maps as if absent. */
function canonical(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(canonical);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, inner]) => [key, canonical(inner)] as const);
	const kept = entries.filter(([, inner]) => inner !== undefined && inner !== null && !isEmpty(inner));
	return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isEmpty = (value: unknown): boolean =>
	typeof value === "object" && value !== null && Object.keys(value).length === 0;
const text = (value: unknown): string => JSON.stringify(canonical(value));
const sortedTexts = (values: readonly unknown[] | null | undefined): string[] => (values ?? []).map(text).sort();

const comparableSlices = (slices: readonly WrittenSlice[] | undefined): string[] =>
	sortedTexts(
		(slices ?? []).map(({ endpoints, ...rest }) => ({
			...without(rest, "namespace"),
			endpoints: sortedTexts(endpoints),
		})),
	);

function without(object: object, key: string): object {
	return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function shapeOf(
	created: readonly WrittenSlice[],
	updated: readonly WrittenSlice[],
	deleted: readonly string[],
): string {
	const entry = (withName: boolean) => (slice: WrittenSlice) => ({
		...(withName ? { name: slice.name } : {}),
		addressType: slice.addressType,
		ports: sortlessText(slice.ports),
		endpoints: slice.endpoints?.length ?? 0,
	});
	return JSON.stringify([
		sortedTexts(created.map(entry(false))),
		sortedTexts(updated.map(entry(true))),
		[...deleted].sort(),
	]);
}

const sortlessText = (ports: unknown): string => JSON.stringify(canonical(ports ?? []));

function givenShape({ created, updated, deleted }: Shape): string {
	const entry = (item: ShapeEntry) => ({ ...item, ports: sortlessText(JSON.parse(item.ports)) });
	return JSON.stringify([sortedTexts(created.map(entry)), sortedTexts(updated.map(entry)), [...deleted].sort()]);
}

/** Endpoints by family and ports, after the writes. */
function union(
	existing: readonly EndpointSlice[],
	created: readonly WrittenSlice[],
	updated: readonly WrittenSlice[],
	deleted: readonly string[],
) {
	const slices = new Map<string, Pick<EndpointSlice, "addressType" | "ports" | "endpoints">>();
	for (const slice of existing) slices.set(slice.metadata.name, slice);
	for (const name of deleted) slices.delete(name);
	for (const slice of updated) slices.set(slice.name ?? "", slice);
	for (const [index, slice] of created.entries()) slices.set(`+${index}`, slice);
	const groups: Record<string, Endpoint[]> = {};
	for (const { addressType, ports, endpoints } of slices.values()) {
		const key = `${addressType} ${sortlessText(ports)}`;
		groups[key] = [...(groups[key] ?? []), ...(endpoints ?? [])];
	}
	return Object.fromEntries(Object.entries(groups).map(([key, endpoints]) => [key, sortedTexts(endpoints)]));
}

function withoutHints(slice: WrittenSlice): WrittenSlice {
	const endpoints = (slice.endpoints ?? []).map(({ hints: _, ...endpoint }) => endpoint);
	return { ...slice, endpoints };
}

function zoneHintsOf(slices: readonly WrittenSlice[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { hints } of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
		for (const { name } of hints?.forZones ?? []) counts[name] = (counts[name] ?? 0) + 1;
	}
	return counts;
}

const comparableEndpoints = (objects: readonly WrittenEndpoints[] | undefined): string[] =>
	sortedTexts(
		(objects ?? []).map(({ name, labels, annotations, subsets }) => ({
			name,
			labels,
			annotations,
			subsets: sortedTexts(
				(subsets ?? []).map(({ addresses, notReadyAddresses, ports }) => ({
					addresses: sortedTexts(addresses),
					notReadyAddresses: sortedTexts(notReadyAddresses),
					ports: sortedTexts(ports),
				})),
			),
		})),
	);

async function check(vector: Vector): Promise<void> {
	const { expected, input } = vector;
	const { client, events, error } = await run(vector);
	const created = writtenSlices(client, "create");
	const updated = writtenSlices(client, "update");
	const deleted = client.writes.flatMap(({ verb, key }) =>
		verb === "delete" ? [key.slice(key.indexOf("/") + 1)] : [],
	);
	expect(error).toBe(expected.error);
	expect(events).toEqual(expected.events ?? []);
	if (expected.deterministic) {
		expect(deleted.sort()).toEqual([...(expected.deleted ?? [])].sort());
		expect(comparableSlices(created)).toEqual(comparableSlices(expected.created));
		expect(comparableSlices(updated)).toEqual(comparableSlices(expected.updated));
	} else {
		expect((expected.shapes ?? []).map(givenShape)).toContain(shapeOf(created, updated, deleted));
		const isByChance = HINTS_BY_CHANCE.test(vector.name);
		const of = (slices: readonly WrittenSlice[] | undefined) =>
			isByChance ? (slices ?? []).map(withoutHints) : (slices ?? []);
		const existing = input.existingSlices ?? [];
		expect(union(existing, of(created), of(updated), deleted)).toEqual(
			union(existing, of(expected.created), of(expected.updated), expected.deleted ?? []),
		);
		if (isByChance)
			expect(expected.shapes?.map(({ zoneHints }) => zoneHints ?? {})).toContainEqual(
				zoneHintsOf([...created, ...updated]),
			);
	}
	const endpoints = (verb: "create" | "update"): WrittenEndpoints[] =>
		writesOf(client, verb, "endpoints").map((object) => ({ ...(object as Endpoints), ...object.metadata }));
	expect(comparableEndpoints(endpoints("create"))).toEqual(comparableEndpoints(expected.endpointsCreated));
	expect(comparableEndpoints(endpoints("update"))).toEqual(comparableEndpoints(expected.endpointsUpdated));
}

const given = process.env["SLICEPLANE_VECTORS"];
const directories = given === undefined ? ["testdata/vectors"] : ["testdata/vectors", given];

describe.each(["endpointslice", "endpoints", "mirroring"])("the %s controller writes what upstream writes", (room) => {
	const vectors = directories.flatMap((directory) => vectorsIn(path.join(directory, room)));
	for (const vector of vectors) {
		test(vector.name, () => check(vector));
	}
	test.skipIf(given !== undefined)("SLICEPLANE_VECTORS is unset: upstream's own vectors were not run", ({ skip }) =>
		skip(),
	);
});
