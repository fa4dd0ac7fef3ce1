/**
 * The endpoints of one port group, and where its slices hold them, kept from plan to plan: only slices that
 * changed, or that hold something that changed, are looked at again.
 */
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery.ts";
import { lowerBound, sortedBy } from "../../kernel/order.ts";
import { identityOf } from "./endpoint.ts";
import { matched, type PackedGroup, packBins, packGroup, untouched } from "./pack-group.ts";
import type { WantedGroup } from "./plan-family.ts";
import type { IdentifiedEndpoint } from "./pod-entry.ts";
import type { PortGroup } from "./port-group.ts";

interface Held {
	readonly slice: EndpointSlice;
	readonly identities: readonly string[];
}

export class GroupIndex implements WantedGroup {
	readonly key: string;
	readonly ports: readonly EndpointPort[];
	readonly #service: Service;
	/** Names of Pods, those without an endpoint included, sorted. */
	readonly #pods: string[] = [];
	readonly #desired = new Map<string, Endpoint>();
	/** By name of the slice. */
	readonly #held = new Map<string, Held>();
	/** Which slice holds an endpoint. */
	readonly #homes = new Map<string, string>();
	/** What is desired and in no slice. */
	readonly #homeless = new Set<string>();
	/** Slices that hold exactly what is desired. */
	readonly #right = new Set<string>();
	/** Whether an endpoint is in two slices; then nothing that is kept here tells which one counts. */
	#hasCopies = false;

	constructor({ key, ports }: PortGroup, service: Service) {
		this.key = key;
		this.ports = ports;
		this.#service = service;
	}

	get size(): number {
		return this.#desired.size;
	}

	/** By code units; undefined when no Pod is left. */
	get firstPod(): string | undefined {
		return this.#pods[0];
	}

	add(pod: string, found: IdentifiedEndpoint | undefined): void {
		this.#pods.splice(lowerBound(this.#pods, pod, itself), 0, pod);
		if (found === undefined) return;
		this.#desired.set(found.identity, found.endpoint);
		this.#touch(found.identity);
	}

	remove(pod: string, identity: string | undefined): void {
		this.#pods.splice(lowerBound(this.#pods, pod, itself), 1);
		if (identity === undefined) return;
		this.#desired.delete(identity);
		this.#touch(identity);
	}

	pack(existing: readonly EndpointSlice[], endpointsPerSliceMax: number): PackedGroup {
		this.#see(existing);
		const service = this.#service;
		if (this.#hasCopies) {
			const desired = new Map(sortedBy(this.#desired, ([, endpoint]) => podOf(endpoint)));
			return packGroup({ service, desired, existing, endpointsPerSliceMax });
		}
		const bins = existing.map((slice) => {
			const { name } = slice.metadata;
			if (this.#right.has(name)) return untouched(slice);
			const bin = matched(slice, (identity) => this.#desired.get(identity), service);
			if (bin.fate === "unchanged") this.#right.add(name);
			return bin;
		});
		const homeless = [...this.#homeless].flatMap((identity) => this.#desired.get(identity) ?? []);
		return packBins(bins, sortedBy(homeless, podOf), service, endpointsPerSliceMax);
	}

	/** Where the endpoint belongs, or belonged, must be looked at. */
	#touch(identity: string): void {
		const home = this.#homes.get(identity);
		if (home !== undefined) this.#right.delete(home);
		else if (this.#desired.has(identity)) this.#homeless.add(identity);
		else this.#homeless.delete(identity);
	}

	/** Slices are frozen: the same object holds the same endpoints. */
	#see(existing: readonly EndpointSlice[]): void {
		const names = new Map(existing.map((slice) => [slice.metadata.name, slice]));
		for (const [name, { slice, identities }] of this.#held) {
			if (!this.#hasCopies && names.get(name) === slice) continue;
			this.#held.delete(name);
			this.#right.delete(name);
			for (const identity of identities) {
				this.#homes.delete(identity);
				this.#touch(identity);
			}
		}
		this.#hasCopies = false;
		for (const slice of existing) if (!this.#held.has(slice.metadata.name)) this.#hold(slice);
	}

	#hold(slice: EndpointSlice): void {
		const { name } = slice.metadata;
		const identities = (slice.endpoints ?? []).map(identityOf);
		this.#held.set(name, { slice, identities });
		for (const identity of identities) {
			this.#hasCopies ||= this.#homes.has(identity);
			this.#homes.set(identity, name);
			this.#homeless.delete(identity);
		}
	}
}

function itself(name: string): string {
	return name;
}

function podOf({ targetRef }: Endpoint): string {
	return targetRef?.name ?? "";
}
