/** Plans of slices as text, for people and golden files. */
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import type { Draft } from "../../api/types/meta.ts";
import { abridged } from "../abridged.ts";
import type { SlicePlan } from "./plan-slices.ts";

export interface SliceWrites {
	readonly creates: readonly Draft<EndpointSlice>[];
	readonly updates: readonly EndpointSlice[];
	readonly deletes: readonly EndpointSlice[];
}

/**
 * One line per write, left-out Pod and Event. An empty plan is an empty text.
 *
 * @param shownMax Of a longer list of endpoints only the first, the last and their number are shown. Default: all are.
 */
export function renderSlicePlan(
	{ families, unsupported }: SlicePlan,
	shownMax: number = Number.POSITIVE_INFINITY,
): string {
	const lines = families.flatMap((family) => [
		...renderedWrites(family, shownMax),
		...family.problems.map(({ pod, node }) => `skip ${pod}: no Node ${node}`),
		...family.hintsEvents.map(({ type, reason, message }) => `event ${type} ${reason}: ${message}`),
	]);
	return [...lines, ...unsupported.map((slice) => `delete ${slice.metadata.name}`)].join("\n");
}

/** In the order in which they are made. */
export function renderedWrites({ creates, updates, deletes }: SliceWrites, shownMax: number): readonly string[] {
	return [
		...creates.map((slice) => `create ${slice.metadata.generateName}* ${renderedContents(slice, shownMax)}`),
		...updates.map((slice) => `update ${slice.metadata.name} ${renderedContents(slice, shownMax)}`),
		...deletes.map((slice) => `delete ${slice.metadata.name}`),
	];
}

function renderedContents(slice: Draft<EndpointSlice>, shownMax: number): string {
	const ports = (slice.ports ?? []).map(
		({ name, port, protocol }) => `${name ?? ""}:${port ?? "*"}/${protocol ?? "TCP"}`,
	);
	const endpoints = (slice.endpoints ?? []).map(renderedEndpoint);
	return `${slice.addressType} [${ports.join(" ")}] [${abridged(endpoints, shownMax)}]`;
}

/** `10.1.0.1`, with what is not usual of it: `10.1.0.1(not-ready,terminating,serving)`, `10.1.0.1(for-zone=a)`. */
function renderedEndpoint({ addresses, conditions, hints = {} }: Endpoint): string {
	const { ready, serving, terminating } = conditions;
	const traits = [
		...(ready === true ? [] : ["not-ready"]),
		...(terminating === true ? ["terminating"] : []),
		...(serving === true && ready !== true ? ["serving"] : []),
		...(serving === false && ready === true ? ["not-serving"] : []),
		...(hints.forZones ?? []).map(({ name }) => `for-zone=${name}`),
		...(hints.forNodes ?? []).map(({ name }) => `for-node=${name}`),
	];
	return addresses.join("+") + (traits.length === 0 ? "" : `(${traits.join()})`);
}
