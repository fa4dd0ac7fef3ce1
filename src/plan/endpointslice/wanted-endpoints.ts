/** Works out from all Pods of a Service what its slices of one family must hold. */
import type { Node, Pod, Service } from "../../api/types/core.ts";
import type { Endpoint } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { hasLiveAddress } from "../pod-facts.ts";
import { packGroup } from "./pack-group.ts";
import type { MissingNode, WantedEndpoints, WantedGroup } from "./plan-family.ts";
import type { PodEntries } from "./pod-entry.ts";
import type { PortGroup } from "./port-group.ts";

export interface PodsOfService {
	readonly service: Service;
	/** In the order of their names. */
	readonly pods: readonly Pod[];
	readonly entries: PodEntries;
	readonly nodes: { get(name: string): Node | undefined };
}

interface Group extends PortGroup {
	readonly endpoints: Map<string, Endpoint>;
}

/** A Pod registers its group even when it gets no endpoint, so that the group's slices are kept. */
export function wantedEndpoints(world: PodsOfService, family: IPFamily): WantedEndpoints {
	const groups = new Map<string, Group>();
	const problems: MissingNode[] = [];
	for (const pod of world.pods) {
		if (!hasLiveAddress(pod)) continue;
		const node = world.nodes.get(pod.spec.nodeName ?? "");
		const entry = world.entries.of(pod, node);
		const group = groups.get(entry.group.key) ?? { ...entry.group, endpoints: new Map() };
		groups.set(group.key, group);
		const problem = problemOf(pod, node, world.service);
		if (problem !== undefined) {
			problems.push(problem);
			continue;
		}
		const found = entry.endpoint(family);
		if (found !== undefined) group.endpoints.set(found.identity, found.endpoint);
	}
	const wanted = [...groups.values()].map((group) => [group.key, wantedGroup(group, world.service)] as const);
	return { groups: new Map(wanted), problems };
}

/** Why the Pod gets no endpoint although it has an address. */
export function problemOf(pod: Pod, node: Node | undefined, service: Service): MissingNode | undefined {
	if (node !== undefined || service.spec.publishNotReadyAddresses === true) return undefined;
	return { kind: "node-missing", pod: pod.metadata.name, node: pod.spec.nodeName ?? "" };
}

function wantedGroup({ key, ports, endpoints: desired }: Group, service: Service): WantedGroup {
	return {
		key,
		ports,
		size: desired.size,
		pack: (existing, endpointsPerSliceMax) => packGroup({ service, desired, existing, endpointsPerSliceMax }),
	};
}
