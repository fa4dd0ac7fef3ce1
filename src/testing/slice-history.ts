/**
 * A random history of one Service, its Pods, Nodes and slices, planned twice at every step: over all Pods, and by the
 * indexes that are kept from step to step.
 */
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointPort, EndpointSlice } from "../api/types/discovery.ts";
import type { Draft } from "../api/types/meta.ts";
import { deepFreeze } from "../kernel/json.ts";
import { planEndpoints } from "../plan/endpoints/plan-endpoints.ts";
import { SubsetIndex } from "../plan/endpoints/subset-index.ts";
import { planEndpointSlices, planIndexedSlices, type SlicePlan } from "../plan/endpointslice/plan-slices.ts";
import { SliceIndex } from "../plan/endpointslice/slice-index.ts";
import { nextTriggerTime, steppedTriggerTime, type TriggerTimes } from "../plan/trigger-time.ts";
import { meta, node, pod, service } from "./builders.ts";
import { SeededRandom } from "./seeded.ts";
import { applied, stored } from "./slice-worlds.ts";

export interface StepResult {
	readonly full: unknown;
	readonly incremental: unknown;
}

const LIMITS = { endpointsPerSliceMax: 4 };

export class SliceHistory {
	readonly #random: SeededRandom;
	readonly #pods = new Map<string, Pod>();
	readonly #nodes = new Map<string, Node>();
	#service: Service;
	#slices: readonly EndpointSlice[] = [];
	#endpoints: Endpoints | undefined;
	#times: { full: TriggerTimes; incremental: TriggerTimes } | undefined;
	#slicesIndex: SliceIndex | undefined;
	#subsetsIndex: SubsetIndex | undefined;
	readonly #touched = new Set<string>();
	#version = 1;

	constructor(seed: number) {
		this.#random = new SeededRandom(seed);
		this.#service = this.#newService();
		for (const name of ["n1", "n2"]) this.#nodes.set(name, node(name, "za"));
	}

	/** A few changes, and the plans after them. What they say is carried out most of the time, as in a cluster. */
	step(): StepResult {
		for (let left = this.#below(4); left >= 0; left--) this.#change();
		const pods = [...this.#pods.values()].filter(({ metadata }) => metadata.labels?.["app"] === "web");
		const world = { service: this.#service, nodes: this.#nodes, existing: this.#slices };
		const times = this.#see(pods);
		const slices = planEndpointSlices({ ...world, pods }, LIMITS);
		const bySlices = this.#slicesIndex ?? new SliceIndex(this.#service, this.#nodes, pods);
		const incremental = planIndexedSlices(world, LIMITS, bySlices);
		const bySubsets = this.#subsetsIndex ?? new SubsetIndex(this.#service, pods);
		const endpointsWorld = { service: this.#service, existing: this.#endpoints };
		const endpoints = planEndpoints({ ...endpointsWorld, pods });
		const incrementalEndpoints = planEndpoints({ ...endpointsWorld, pods: bySubsets });
		this.#slicesIndex = bySlices;
		this.#subsetsIndex = bySubsets;
		if (this.#below(5) > 0) this.#carryOut(slices);
		if (endpoints.kind !== "none" && endpoints.kind !== "delete" && this.#below(5) > 0) {
			this.#endpoints = storedEndpoints(endpoints.endpoints);
		}
		return {
			full: { slices, endpoints, triggerTime: times.full },
			incremental: { slices: incremental, endpoints: incrementalEndpoints, triggerTime: times.incremental },
		};
	}

	/** Tells the indexes what was touched; returns the trigger times. */
	#see(pods: readonly Pod[]): { readonly full: string | undefined; readonly incremental: string | undefined } {
		const touched = [...this.#touched];
		this.#touched.clear();
		const changed = pods.filter(({ metadata }) => touched.includes(metadata.name));
		const gone = touched.filter((name) => !changed.some(({ metadata }) => metadata.name === name));
		for (const index of [this.#slicesIndex, this.#subsetsIndex]) {
			for (const name of gone) index?.remove(name);
			for (const one of changed) index?.put(one);
		}
		const full = nextTriggerTime(this.#times?.full, this.#service, pods);
		const incremental =
			this.#times === undefined
				? nextTriggerTime(undefined, this.#service, pods)
				: steppedTriggerTime(this.#times.incremental, this.#service, { changed, gone });
		this.#times = { full: full.next, incremental: incremental.next };
		return { full: full.triggerTime, incremental: incremental.triggerTime };
	}

	#change(): void {
		const roll = this.#below(100);
		const names = [...this.#pods.keys()];
		const name = this.#of(names);
		if (roll < 40 || names.length < 5) this.#put(`p${this.#below(60)}`);
		else if (roll < 60) {
			this.#pods.delete(name);
			this.#touched.add(name);
		} else if (roll < 80) this.#put(name);
		else if (roll < 83) this.#changeService();
		else if (roll < 86) this.#changeNode();
		else this.#changeSlices();
	}

	#put(name: string): void {
		const n = Number(name.slice(1));
		const number = this.#below(8);
		const ips = number === 0 ? [] : [`10.1.0.${n}`, ...(number === 1 ? [] : [`fd00::${n.toString(16)}`])];
		const old = this.#pods.get(name);
		const isNew = old === undefined || this.#below(10) === 0;
		const fresh = pod(name, {
			ips,
			labels: { app: this.#of(["web", "web", "web", "other"]) },
			node: this.#of(["n1", "n1", "n2", "n3"]),
			isReady: this.#below(3) > 0,
			isTerminating: this.#below(8) === 0,
			metadata: { uid: isNew ? `uid-${name}-${this.#version++}` : old.metadata.uid },
			status: { phase: this.#of(["Running", "Running", "Running", "Failed"]), ...this.#readySince() },
			spec: {
				containers: [{ name: "c", ports: this.#of(PORTS) }],
				...this.#of([{}, {}, { hostname: "h", subdomain: "web" }]),
			},
		});
		this.#pods.set(name, deepFreeze(fresh));
		this.#touched.add(name);
	}

	#readySince(): Pick<NonNullable<Pod["status"]>, "conditions"> {
		const lastTransitionTime = `2026-01-01T00:${String(this.#below(60)).padStart(2, "0")}:00Z`;
		return { conditions: [{ type: "Ready", status: this.#of(["True", "False"]), lastTransitionTime }] };
	}

	#newService(): Service {
		const http = { name: "http", protocol: "TCP" as const, port: 80, targetPort: this.#of(["http", 8080]) };
		const admin = { name: "admin", protocol: "TCP" as const, port: 81, targetPort: "admin" };
		const spec: Partial<Service["spec"]> = {
			ports: this.#of([[http], [http], [http, admin], [{ ...http, appProtocol: "h2c" }, admin], []]),
			ipFamilies: this.#of([["IPv4"], ["IPv4", "IPv6"], ["IPv6"]] as const),
			publishNotReadyAddresses: this.#below(5) === 0,
			...(this.#below(4) === 0 ? { clusterIP: "None" } : {}),
			...(this.#below(4) === 0 ? { trafficDistribution: "PreferSameZone" } : {}),
		};
		return deepFreeze(service("web", spec, { labels: this.#of([{}, { color: "red" }]) }));
	}

	/** Indexes hold for one Service object. */
	#changeService(): void {
		this.#service = this.#newService();
		this.#forget();
	}

	/** Indexes hold while Nodes stay where they are. */
	#changeNode(): void {
		const name = this.#of(["n1", "n2", "n3"]);
		if (this.#below(2) === 0) this.#nodes.delete(name);
		else this.#nodes.set(name, node(name, this.#of(["za", "zb"])));
		this.#forget();
	}

	#forget(): void {
		this.#slicesIndex = undefined;
		this.#subsetsIndex = undefined;
	}

	/** What others do to slices: delete one, take an endpoint out, copy one, spoil a label, a port or an owner. */
	#changeSlices(): void {
		const at = this.#below(Math.max(1, this.#slices.length));
		const slice = this.#slices[at];
		if (slice === undefined) return;
		const others = this.#slices.filter((other) => other !== slice);
		const [first, ...rest] = slice.endpoints ?? [];
		const donor = this.#of(this.#slices);
		const edited: readonly EndpointSlice[] = this.#of<() => readonly EndpointSlice[]>([
			() => [],
			() => [{ ...slice, endpoints: rest }],
			() => [{ ...slice, endpoints: [...(slice.endpoints ?? []), ...(donor.endpoints ?? []).slice(0, 1)] }],
			() => [{ ...slice, endpoints: first === undefined ? rest : [{ ...first, zone: "zz" }, ...rest] }],
			() => [{ ...slice, metadata: { ...slice.metadata, labels: { ...slice.metadata.labels, odd: "1" } } }],
			() => [{ ...slice, ports: [ODD_PORT] }],
			() => [{ ...slice, metadata: { ...slice.metadata, ownerReferences: [] } }],
			() => [
				slice,
				{ ...slice, metadata: { ...slice.metadata, name: `copy-${this.#version}`, uid: `copy-${this.#version++}` } },
			],
		])();
		this.#slices = deepFreeze([...others, ...edited]);
	}

	#carryOut(plan: SlicePlan): void {
		const before = new Set(this.#slices);
		// A name is never used again for another object.
		this.#slices = applied(this.#slices, plan).map((slice) => {
			if (before.has(slice) || !slice.metadata.name.startsWith("new-")) return slice;
			return this.#slices.some(({ metadata }) => metadata.name === slice.metadata.name)
				? slice
				: stored(slice, `s${this.#version++}`);
		});
	}

	#below(bound: number): number {
		return Math.floor(this.#random.next() * bound);
	}

	#of<T>(choices: readonly T[]): T {
		return choices[this.#below(choices.length)] as T;
	}
}

const ODD_PORT: EndpointPort = { name: "odd", protocol: "TCP", port: 1 };

const PORTS = [
	[{ name: "http", containerPort: 8080, protocol: "TCP" as const }],
	[{ name: "http", containerPort: 8081, protocol: "TCP" as const }],
	[
		{ name: "http", containerPort: 8080, protocol: "TCP" as const },
		{ name: "admin", containerPort: 9090, protocol: "TCP" as const },
	],
	[{ name: "other", containerPort: 1, protocol: "TCP" as const }],
];

function storedEndpoints(draft: Draft<Endpoints> | Endpoints): Endpoints {
	return deepFreeze({
		...draft,
		apiVersion: "v1",
		kind: "Endpoints",
		metadata: { ...meta("web"), ...draft.metadata },
	} as Endpoints);
}
