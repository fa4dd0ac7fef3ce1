/** Compares what a sync wrote with what upstream wrote, and says in lines what differs. */
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import { canonicalText as text } from "./canonical-text.ts";
import type { ShapeEntry, Vector, VectorShape, VectorWrites, WrittenEndpoints, WrittenSlice } from "./vector.ts";

/** Which endpoint serves another zone than its own is left to chance upstream: only the counts are compared. */
const HINTS_BY_CHANCE = /^auto-/;

/** Lines of one difference that are shown; a Service has thousands. */
const LINES_MAX = 12;

/** Nothing when the writes are upstream's. `-` is what upstream has and is missing, `+` what is too much. */
export function vectorDifferences(vector: Vector, writes: VectorWrites): readonly string[] {
	const { expected } = vector;
	return [
		...callDifferences(expected, writes),
		...listDifferences("error", [expected.error ?? "none"], [writes.error ?? "none"]),
		...inOrder("events", expected.events ?? [], writes.events ?? []),
		...(expected.deterministic ? sliceDifferences(expected, writes) : shapeDifferences(vector, writes)),
		...(["endpointsCreated", "endpointsUpdated"] as const).flatMap((what) =>
			listDifferences(what, (expected[what] ?? []).map(endpointsText), (writes[what] ?? []).map(endpointsText)),
		),
	];
}

/** Lists of what was written, whatever stands for one write. */
type Calls = { readonly [K in keyof Omit<VectorWrites, "events" | "error">]?: readonly unknown[] | undefined };

/** `create 3, update 1, delete 0`: how often the API was called. */
function callsOf({ created, updated, deleted, endpointsCreated, endpointsUpdated }: Calls): string {
	const count = (...lists: readonly (readonly unknown[] | undefined)[]): number => lists.flatMap((l) => l ?? []).length;
	const [creates, updates] = [count(created, endpointsCreated), count(updated, endpointsUpdated)];
	return `create ${creates}, update ${updates}, delete ${count(deleted)}`;
}

function callDifferences(expected: Vector["expected"], writes: VectorWrites): readonly string[] {
	const { deterministic, shapes = [], endpointsCreated = [], endpointsUpdated = [] } = expected;
	const runs: readonly Calls[] = deterministic
		? [expected]
		: shapes.map((shape) => ({ ...shape, endpointsCreated, endpointsUpdated }));
	const allowed = [...new Set(runs.map(callsOf))];
	const made = callsOf(writes);
	return allowed.includes(made) ? [] : [`calls: - ${allowed.join(" or ")}`, `calls: + ${made}`];
}

function sliceDifferences(expected: VectorWrites, writes: VectorWrites): readonly string[] {
	return [
		...(["created", "updated"] as const).flatMap((what) =>
			listDifferences(what, (expected[what] ?? []).map(sliceText), (writes[what] ?? []).map(sliceText)),
		),
		...listDifferences("deleted", expected.deleted ?? [], writes.deleted ?? []),
	];
}

/** The sizes must be those of one of upstream's runs, and the endpoints of each family and ports the same. */
function shapeDifferences({ name, input, expected }: Vector, writes: VectorWrites): readonly string[] {
	const shapes = [...new Set((expected.shapes ?? []).map(givenShape))];
	const shape = shapeOf(writes);
	const sizes = shapes.includes(shape) ? [] : [...shapes.map((text) => `shape: - ${text}`), `shape: + ${shape}`];
	const isByChance = HINTS_BY_CHANCE.test(name);
	const existing = input.existingSlices ?? [];
	const [wanted, made] = [union(existing, expected, isByChance), union(existing, writes, isByChance)];
	const hints = isByChance ? hintDifferences(expected.shapes ?? [], writes) : [];
	return [...sizes, ...listDifferences("after the writes", wanted, made), ...hints];
}

function hintDifferences(shapes: readonly VectorShape[], { created = [], updated = [] }: VectorWrites): string[] {
	const allowed = [...new Set(shapes.map(({ zoneHints }) => text(zoneHints ?? {})))];
	const made = text(zoneHintsOf([...created, ...updated]));
	return allowed.includes(made) ? [] : [`hints: - ${allowed.join(" or ")}`, `hints: + ${made}`];
}

/** Lists compared as bags. Entries that differ are shown by the lines in which they do. */
function listDifferences(what: string, wanted: readonly string[], made: readonly string[]): readonly string[] {
	const [missing, extra] = [bagDifference(wanted, made).sort(), bagDifference(made, wanted).sort()];
	const lines = Array.from({ length: Math.max(missing.length, extra.length) }, (_, at) => {
		const [a, b] = [missing[at]?.split("\n") ?? [], extra[at]?.split("\n") ?? []];
		const title = (a[0] === b[0] || b[0] === undefined ? a[0] : a[0] === undefined ? b[0] : undefined) ?? "";
		const [less, more] = [bagDifference(a, b), bagDifference(b, a)];
		return [
			...(a.length > 1 || b.length > 1 ? [`${what}: in ${title}`] : []),
			...less.map((line) => `${what}: - ${line}`),
			...more.map((line) => `${what}: + ${line}`),
		];
	}).flat();
	return lines.length <= LINES_MAX
		? lines
		: [...lines.slice(0, LINES_MAX), `${what}: and ${lines.length - LINES_MAX} more lines`];
}

function inOrder(what: string, wanted: readonly string[], made: readonly string[]): readonly string[] {
	if (text(wanted) === text(made)) return [];
	return [...wanted.map((line) => `${what}: - ${line}`), ...made.map((line) => `${what}: + ${line}`)];
}

/** What is in `a` more often than in `b`. */
function bagDifference(a: readonly string[], b: readonly string[]): string[] {
	const left = new Map<string, number>();
	for (const item of b) left.set(item, (left.get(item) ?? 0) + 1);
	return a.filter((item) => {
		const count = left.get(item) ?? 0;
		if (count > 0) left.set(item, count - 1);
		return count === 0;
	});
}

/** The slice, and in lines of their own its endpoints. */
function sliceText(slice: WrittenSlice & { readonly namespace?: string }): string {
	const { endpoints, namespace: _, ports, ...rest } = slice;
	return [text({ ...rest, ports: portsText(ports) }), ...(endpoints ?? []).map(text).sort()].join("\n");
}

/** Order means nothing: upstream's follows a hash over uids. */
function endpointsText({ name, labels, annotations, subsets }: WrittenEndpoints): string {
	const sets = (subsets ?? []).map(({ addresses, notReadyAddresses, ports }) => {
		const shown = sortedTexts(ports).join();
		return [
			`subset of ${shown}: ${addresses?.length ?? 0} ready, ${notReadyAddresses?.length ?? 0} not`,
			...sortedTexts(addresses).map((address) => `${shown} ready ${address}`),
			...sortedTexts(notReadyAddresses).map((address) => `${shown} not ready ${address}`),
		].join("\n");
	});
	return [text({ name, labels, annotations }), ...sets.sort()].join("\n");
}

const sortedTexts = (values: readonly unknown[] | null | undefined): string[] => (values ?? []).map(text).sort();
const portsText = (ports: unknown): string => text(ports ?? []);

function shapeOf({ created = [], updated = [], deleted = [] }: VectorWrites): string {
	const entry = (withName: boolean) => (slice: WrittenSlice) => ({
		...(withName ? { name: slice.name } : {}),
		addressType: slice.addressType,
		ports: portsText(slice.ports),
		endpoints: slice.endpoints?.length ?? 0,
	});
	return JSON.stringify([
		sortedTexts(created.map(entry(false))),
		sortedTexts(updated.map(entry(true))),
		[...deleted].sort(),
	]);
}

function givenShape({ created, updated, deleted }: VectorShape): string {
	const entry = (item: ShapeEntry) => ({ ...item, ports: portsText(JSON.parse(item.ports)) });
	return JSON.stringify([sortedTexts(created.map(entry)), sortedTexts(updated.map(entry)), [...deleted].sort()]);
}

/** `FAMILY PORTS ENDPOINT` for every endpoint there is after the writes. */
function union(existing: readonly EndpointSlice[], writes: VectorWrites, isWithoutHints: boolean): readonly string[] {
	const { created = [], updated = [], deleted = [] } = writes;
	const slices = new Map<string, Pick<EndpointSlice, "addressType" | "ports" | "endpoints">>();
	for (const slice of existing) slices.set(slice.metadata.name, slice);
	for (const name of deleted) slices.delete(name);
	for (const slice of updated) slices.set(slice.name ?? "", slice);
	for (const [index, slice] of created.entries()) slices.set(`+${index}`, slice);
	const shown = ({ hints, ...endpoint }: Endpoint) => text(isWithoutHints ? endpoint : { ...endpoint, hints });
	const groups = [...slices.values()].map(({ addressType, ports, endpoints }) => ({
		group: `${addressType} ${portsText(ports)}`,
		endpoints: endpoints ?? [],
	}));
	// A group without endpoints counts, too: its slices tell that the ports were seen.
	return [
		...new Set(groups.map(({ group }) => group)),
		...groups.flatMap(({ group, endpoints }) => endpoints.map((endpoint) => `${group} ${shown(endpoint)}`)),
	];
}

function zoneHintsOf(slices: readonly WrittenSlice[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { hints } of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
		for (const { name } of hints?.forZones ?? []) counts[name] = (counts[name] ?? 0) + 1;
	}
	return counts;
}
