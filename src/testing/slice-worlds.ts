/** Worlds for the EndpointSlice planner, and what becomes of them. */
import type { Pod, Service } from "../api/types/core.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../api/types/discovery.ts";
import type { Draft, IPFamily } from "../api/types/meta.ts";
import { assertDefined } from "../kernel/assert.ts";
import { deepFreeze } from "../kernel/json.ts";
import { endpointOf } from "../plan/endpointslice/endpoint.ts";
import type { FamilyPlan } from "../plan/endpointslice/plan-family.ts";
import type { SlicePlan } from "../plan/endpointslice/plan-slices.ts";
import { portsOf } from "../plan/endpointslice/port-group.ts";
import { newSlice } from "../plan/endpointslice/slice-metadata.ts";
import { meta, node, pod, service } from "./builders.ts";

export const web: Service = service("web");
export const zoneNodes: ReadonlyMap<string, ReturnType<typeof node>> = new Map([["n1", node("n1", "za")]]);

/** Pods `p00000`, `p00001` and on, from `from` to before `to`, with addresses of both families. */
export function podRange(from: number, to: number, traits: Parameters<typeof pod>[1] = {}): readonly Pod[] {
	return Array.from({ length: to - from }, (_, i) => numberedPod(from + i, traits));
}

export function numberedPod(n: number, traits: Parameters<typeof pod>[1] = {}): Pod {
	const ips = [`10.1.${n >> 8}.${n & 255}`, `fd00::${n.toString(16)}`];
	return deepFreeze(pod(`p${String(n).padStart(5, "0")}`, { ips, ...traits }));
}

/** A slice of the Service that holds the Pods, as the controller would have written it. */
export function sliceOf(
	name: string,
	pods: readonly Pod[],
	of: { readonly service?: Service; readonly family?: IPFamily; readonly ports?: readonly EndpointPort[] } = {},
): EndpointSlice {
	const { service: owner = web, family = "IPv4" } = of;
	const [first] = pods;
	const ports = of.ports ?? (first === undefined ? [] : portsOf(first, owner));
	const endpoints = pods.map((p) => endpointFor(p, owner, family));
	return stored(newSlice(owner, family, { endpoints, ports }), name);
}

export function endpointFor(p: Pod, owner: Service = web, family: IPFamily = "IPv4"): Endpoint {
	return assertDefined(endpointOf(p, owner, { node: zoneNodes.get("n1"), family }), `an address of ${p.metadata.name}`);
}

/** The draft as the API would store it. */
export function stored(draft: Draft<EndpointSlice>, name: string): EndpointSlice {
	const { generateName: _, ...metadata } = draft.metadata;
	return deepFreeze({
		...draft,
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: { ...meta(name), generation: 1, ...metadata },
		endpoints: draft.endpoints?.length === 0 ? null : draft.endpoints,
		ports: draft.ports?.length === 0 ? null : draft.ports,
	});
}

/** The writes of any plan of slices. */
interface WritePlan extends Pick<SlicePlan, "unsupported"> {
	readonly families: readonly Pick<FamilyPlan, "creates" | "updates" | "deletes">[];
}

/** The Service's slices after the plan was carried out; new ones are named `new-1` and on. */
export function applied(existing: readonly EndpointSlice[], plan: WritePlan): readonly EndpointSlice[] {
	const slices = new Map(existing.map((slice) => [slice.metadata.name, slice]));
	let created = 0;
	for (const family of plan.families) {
		for (const draft of family.creates) {
			do created++;
			while (slices.has(`new-${created}`));
			slices.set(`new-${created}`, stored(draft, `new-${created}`));
		}
		for (const slice of family.updates) slices.set(slice.metadata.name, stored(slice, slice.metadata.name));
		for (const slice of family.deletes) slices.delete(slice.metadata.name);
	}
	for (const slice of plan.unsupported) slices.delete(slice.metadata.name);
	return [...slices.values()];
}

/** `create 100 100 5; update a=57; delete b`: the writes, with sizes. */
export function sizesOf(plan: SlicePlan): string {
	const size = (slice: Pick<EndpointSlice, "endpoints">): number => slice.endpoints?.length ?? 0;
	const list = (verb: string, words: readonly string[]): string[] =>
		words.length === 0 ? [] : [`${verb} ${words.join(" ")}`];
	const { families, unsupported } = plan;
	return [
		...list(
			"create",
			families.flatMap(({ creates }) => creates.map((slice) => `${size(slice)}`)),
		),
		...list(
			"update",
			families.flatMap(({ updates }) => updates.map((s) => `${s.metadata.name}=${size(s)}`)),
		),
		...list(
			"delete",
			[...families.flatMap(({ deletes }) => deletes), ...unsupported].map((s) => s.metadata.name),
		),
	].join("; ");
}
