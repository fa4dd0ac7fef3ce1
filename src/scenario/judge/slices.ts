/** Expectations of EndpointSlices, Service by Service. */
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../../api/well-known.ts";
import { deepEqual, ownValue } from "../../kernel/json.ts";
import type { SliceExpectation, SlicesExpectation } from "../format/expectations.ts";
import type { ScenarioRun } from "../run.ts";
import { countFits } from "./counts.ts";
import { endpointsOf, endpointText, fitsEndpoint, parsedEndpoint, portsOf } from "./endpoint-text.ts";
import { matched, sameTexts } from "./matching.ts";
import { hasAll } from "./objects.ts";
import { type Problem, problem, unless } from "./verdict.ts";

export function judgeSlices(run: ScenarioRun, expected: readonly SlicesExpectation[]): readonly Problem[] {
	return expected.flatMap((each, index) => {
		const selector = {
			kind: "EndpointSlice",
			service: each.service,
			...(each.ns === undefined ? {} : { ns: each.ns }),
		} as const;
		const found = run.found(selector) as readonly EndpointSlice[];
		const slices =
			each.live === true ? found.filter(({ metadata }) => metadata.deletionTimestamp === undefined) : found;
		return judgeService(run, each, slices, `slices[${index}]`);
	});
}

function judgeService(
	run: ScenarioRun,
	{ exact, none_with: none, endpoint_total: total, endpoint_max: max, hint_counts: hints }: SlicesExpectation,
	slices: readonly EndpointSlice[],
	path: string,
): readonly Problem[] {
	const fits = (wanted: SliceExpectation, slice: EndpointSlice): boolean => fitsSlice(run, wanted, slice);
	const sizes = slices.map(({ endpoints }) => endpoints?.length ?? 0);
	const count = sizes.reduce((sum, size) => sum + size, 0);
	const largest = Math.max(0, ...sizes);
	const alike = none === undefined ? undefined : slices.find((slice) => fits(none, slice));
	return [
		...(exact === undefined ? [] : judgeExact(exact, slices, fits, `${path}.exact`)),
		...(alike === undefined ? [] : [problem(`${path}.none_with`, none, sliceText(alike, none ?? {}))]),
		...unless(total === undefined || countFits(total, count), `${path}.endpoint_total`, total, count),
		...unless(max === undefined || largest <= max, `${path}.endpoint_max`, max, largest),
		...(hints === undefined ? [] : judgeHints(hints, slices, `${path}.hint_counts`)),
	];
}

function judgeExact(
	wanted: readonly SliceExpectation[],
	slices: readonly EndpointSlice[],
	fits: (wanted: SliceExpectation, slice: EndpointSlice) => boolean,
	path: string,
): readonly Problem[] {
	const { missing, surplus } = matched(wanted, slices, fits);
	if (missing.length === 0 && surplus.length === 0) return [];
	const compared: SliceExpectation = Object.assign({}, ...wanted);
	const texts = (missing.length === 0 ? surplus : slices).map((slice) => sliceText(slice, compared));
	const found = texts.length === 0 ? "no slice" : texts.join("\n");
	const more = `no slice but these ${wanted.length}`;
	const asked = missing.length === 0 ? more : missing.map((each) => JSON.stringify(each)).join("\n");
	return [{ ...problem(path, asked, found), difference: differences(missing, surplus) }];
}

/** Pairs what is missing with what is too much, and says in what they differ. */
function differences(missing: readonly SliceExpectation[], surplus: readonly EndpointSlice[]): readonly string[] {
	return missing.flatMap((wanted, index) => {
		const slice = surplus[index];
		if (slice === undefined) return [`- ${JSON.stringify(wanted)}`];
		return [
			`  ${slice.metadata.name}`,
			...differentTexts("port", wanted.ports, portsOf(slice)),
			...differentEndpoints(wanted.endpoints, slice),
		];
	});
}

function differentTexts(
	what: string,
	wanted: readonly string[] | undefined,
	found: readonly string[],
): readonly string[] {
	const { missing, surplus } = matched(wanted ?? found, found, (want, find) => want === find);
	return [...missing.map((text) => `- ${what} ${text}`), ...surplus.map((text) => `+ ${what} ${text}`)];
}

function differentEndpoints(wanted: readonly string[] | undefined, slice: EndpointSlice): readonly string[] {
	if (wanted === undefined) return [];
	const { missing, surplus } = matched(wanted.map(parsedEndpoint), endpointsOf(slice), fitsEndpoint);
	return [
		...missing.map((endpoint) => `- endpoint ${endpointText(endpoint)}`),
		...surplus.map((endpoint) => `+ endpoint ${endpointText(endpoint)}`),
	];
}

function fitsSlice(run: ScenarioRun, wanted: SliceExpectation, slice: EndpointSlice): boolean {
	const { labels = {}, annotations = {} } = slice.metadata;
	const endpoints = slice.endpoints ?? [];
	const owner = slice.metadata.ownerReferences?.find(({ controller }) => controller === true);
	const is = <T>(want: T | undefined, holds: (want: T) => boolean): boolean => want === undefined || holds(want);
	return (
		is(wanted.name, (name) => slice.metadata.name === name) &&
		is(wanted.managedBy, (by) => labels[SLICE_MANAGED_BY_LABEL] === by) &&
		is(wanted.addressType, (type) => slice.addressType === type) &&
		is(wanted.labels, (map) => deepEqual(labels, map)) &&
		is(wanted.labels_absent, (keys) => keys.every((key) => !Object.hasOwn(labels, key))) &&
		is(wanted.annotations, (map) => deepEqual(annotations, map)) &&
		is(wanted.ports, (ports) => sameTexts(ports, portsOf(slice))) &&
		is(wanted.ports_count, (count) => (slice.ports?.length ?? 0) === count) &&
		is(wanted.endpoints, (texts) => hasEndpoints(texts, slice)) &&
		is(wanted.endpoint_count, (count) => endpoints.length === count) &&
		is(
			wanted.ready_count,
			(count) => endpoints.filter(({ conditions }) => conditions?.ready === true).length === count,
		) &&
		is(wanted.ownerUID, (uid) => owner?.uid === run.uid(uid)) &&
		is(wanted.ownerReferences, (references) => hasOwners(run, references, slice))
	);
}

function hasEndpoints(texts: readonly string[], slice: EndpointSlice): boolean {
	const found = endpointsOf(slice);
	return found.length === texts.length && matched(texts.map(parsedEndpoint), found, fitsEndpoint).missing.length === 0;
}

function hasOwners(
	run: ScenarioRun,
	wanted: NonNullable<SliceExpectation["ownerReferences"]>,
	slice: EndpointSlice,
): boolean {
	const real = wanted.map((reference) => ({ ...reference, uid: run.uid(String(reference["uid"])) }));
	const found = slice.metadata.ownerReferences ?? [];
	return found.length === real.length && real.every((reference, index) => hasAll(reference, found[index]));
}

function judgeHints(
	wanted: Readonly<Record<string, number>>,
	slices: readonly EndpointSlice[],
	path: string,
): readonly Problem[] {
	const counts: Record<string, number> = {};
	for (const { hints } of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
		const zones = hints?.forZones?.map(({ name }) => name) ?? [];
		const zone = zones.length === 0 ? "none" : zones.join(",");
		counts[zone] = (counts[zone] ?? 0) + 1;
	}
	const zones = new Set([...Object.keys(wanted), ...Object.keys(counts)]);
	const isSame = [...zones].every((zone) => (ownValue(wanted, zone) ?? 0) === (counts[zone] ?? 0));
	return unless(isSame, path, wanted, counts);
}

/** The keys of the slice that are compared, in the format's own words. */
function sliceText(slice: EndpointSlice, compared: SliceExpectation): string {
	const { name, labels = {}, annotations = {}, ownerReferences = [] } = slice.metadata;
	const { addressType } = slice;
	const endpoints = slice.endpoints ?? [];
	const words: Readonly<Record<string, unknown>> = {
		name,
		managedBy: labels[SLICE_MANAGED_BY_LABEL],
		addressType,
		labels,
		labels_absent: Object.keys(labels),
		annotations,
		ports: portsOf(slice),
		ports_count: slice.ports?.length ?? 0,
		endpoints: endpointsOf(slice).map(endpointText),
		endpoint_count: endpoints.length,
		ready_count: endpoints.filter(({ conditions }) => conditions?.ready === true).length,
		ownerUID: ownerReferences.find(({ controller }) => controller === true)?.uid,
		ownerReferences,
	};
	const shown = Object.entries(words).filter(([key]) => key === "name" || Object.hasOwn(compared, key));
	const service = labels[SERVICE_NAME_LABEL];
	return JSON.stringify({ ...Object.fromEntries(shown), ...(service === undefined ? { service: "none" } : {}) });
}
