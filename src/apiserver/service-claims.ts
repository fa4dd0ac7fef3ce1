/**
 * The cluster IPs and node ports of Services, as objects in the store.
 *
 * A claimed address is an IPAddress object, as a real server has it; a claimed node port is an entry of
 * a space of its own. A claim is written in the commit of its Service, on condition that it is free.
 */
import { type CIDR, familyOf } from "../api/ip.ts";
import type { ResourceType } from "../api/resource.ts";
import type { Holdings, NodePortRange } from "../api/service-network/plan.ts";
import { holdingsOf, planServiceNetwork } from "../api/service-network.ts";
import { ApiError, internalError, invalidObject } from "../api/status.ts";
import type { Service } from "../api/types/core.ts";
import type { KubeObject, ObjectMeta } from "../api/types/meta.ts";
import type { Place, Precondition, Write } from "../store/entry.ts";
import type { ServerPorts } from "./ports.ts";
import { timestamp } from "./timestamp.ts";

export interface NetworkRanges {
	/** One range, or two of different families; the first is the primary one. */
	readonly clusterIPs: readonly CIDR[];
	readonly nodePorts: NodePortRange;
}

export interface Claims {
	readonly object: KubeObject;
	readonly writes: readonly Write[];
	readonly preconditions: readonly Precondition[];
}

export type ClaimPorts = Pick<ServerPorts, "store" | "ranges" | "random" | "ids" | "clock">;

export const IP_SPACE = "/registry/ipaddresses/";
const NODE_PORT_SPACE = "/registry/sliceplane.dev/nodeports/";
export const SERVICE_SPACE = "/registry/services/specs/";
export const CLAIM_SPACES: readonly string[] = [IP_SPACE, NODE_PORT_SPACE];
/** On each IPAddress that a Service's write has made. */
const MANAGED_BY = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" } as const;
const ENDPOINTS_SPACE = "/registry/services/endpoints/";

export function isService(type: ResourceType): boolean {
	return type.group === "" && type.kind === "Service";
}

/**
 * The Service with its addresses and ports, and the writes that claim them.
 * @param stored What the write replaces; undefined for a new Service.
 * @throws {ApiError} `Invalid` for what cannot be had, `InternalError` when nothing is left.
 */
export function claimsOf(
	ports: ClaimPorts,
	object: KubeObject,
	stored: KubeObject | undefined,
	isDryRun: boolean,
): Claims {
	const plan = planServiceNetwork({
		service: object as Service,
		stored: stored as Service | undefined,
		ranges: ports.ranges.clusterIPs,
		nodePortRange: ports.ranges.nodePorts,
		isIPTaken: (ip) => ports.store.space(IP_SPACE).get(ip) !== undefined,
		isNodePortTaken: (port) => ports.store.space(NODE_PORT_SPACE).get(String(port)) !== undefined,
		random: ports.random,
		isDryRun,
	});
	if (plan.kind === "invalid") throw invalidObject({ group: "", kind: "Service" }, object.metadata.name, plan.errors);
	if (plan.kind === "full") throw internalError(plan.message);
	if (plan.kind === "failed") throw new ApiError("", plan.message);
	const claimed = placesOf(plan.claims);
	return {
		object: plan.service,
		writes: [
			...claimed.map((place): Write => ({ kind: "put", ...place, object: claimObject(ports, place, plan.service) })),
			...placesOf(plan.releases).map((place): Write => ({ kind: "delete", ...place })),
		],
		preconditions: claimed.map((place): Precondition => ({ ...place, expected: 0 })),
	};
}

/** What goes with a Service: its claims, and the Endpoints of its name. */
export function writesOfRemoval({ store }: Pick<ClaimPorts, "store">, service: KubeObject): readonly Write[] {
	const { name, namespace = "" } = service.metadata;
	const key = `${namespace}/${name}`;
	const endpoints: Write[] =
		store.space(ENDPOINTS_SPACE).get(key) === undefined ? [] : [{ kind: "delete", space: ENDPOINTS_SPACE, key }];
	const claims = placesHeld(service).filter(({ space, key }) => store.space(space).get(key));
	return [...endpoints, ...claims.map((place): Write => ({ kind: "delete", ...place }))];
}

/**
 * Claims what Services hold that another kind of server has stored: it keeps its books elsewhere. Two Services that hold
 * the same stay as they are, and the first one has it.
 */
export async function claimWhatIsHeld(ports: ClaimPorts): Promise<void> {
	const { store } = ports;
	const range = store.space(SERVICE_SPACE).range({ prefix: "" });
	for (const { key, object, modRevision } of range.kind === "range" ? range.entries : []) {
		for (const place of placesHeld(object)) {
			if (store.space(place.space).get(place.key) !== undefined) continue;
			// One that is there now was claimed by another server meanwhile; a Service that has changed is not asked.
			await store.commit(
				[{ kind: "put", ...place, object: claimObject(ports, place, object as Service) }],
				[
					{ ...place, expected: 0 },
					{ space: SERVICE_SPACE, key, expected: modRevision },
				],
			);
		}
	}
}

/** What a stored Service claims. */
export function placesHeld(service: KubeObject): readonly Place[] {
	return placesOf(holdingsOf(service as Service));
}

/** Others may keep IPAddresses of their own. */
export function isOwnAddress({ metadata }: KubeObject): boolean {
	return Object.entries(MANAGED_BY).every(([label, value]) => metadata.labels?.[label] === value);
}

function placesOf({ ips, nodePorts }: Holdings): readonly Place[] {
	return [
		...ips.map((key) => ({ space: IP_SPACE, key })),
		...nodePorts.map((port) => ({ space: NODE_PORT_SPACE, key: String(port) })),
	];
}

function claimObject({ ids, clock }: ClaimPorts, { space, key }: Place, { metadata }: Service): KubeObject {
	const own: ObjectMeta = {
		name: key,
		uid: ids.uid(),
		resourceVersion: "",
		creationTimestamp: timestamp(clock.wallMs()),
	};
	const parentRef = {
		resource: "services",
		...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
		name: metadata.name,
	};
	if (space !== IP_SPACE) {
		const claim = { apiVersion: "sliceplane.dev/v1", kind: "NodePortClaim", metadata: own, spec: { parentRef } };
		return claim;
	}
	const labels = {
		"ipaddress.kubernetes.io/ip-family": familyOf(key) ?? "IPv4",
		...MANAGED_BY,
	};
	const address = {
		apiVersion: "networking.k8s.io/v1",
		kind: "IPAddress",
		metadata: { ...own, labels },
		spec: { parentRef },
	};
	return address;
}
