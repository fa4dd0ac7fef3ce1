/** The simulated nodes: their names, addresses and zones, and the Node objects that stand for them. */
import { addressAt, type CIDR, contains, formatCIDR, networkOf, parseCIDR, subnetAt } from "../api/ip.ts";
import type { Node, Taint } from "../api/types/core.ts";
import type { Condition, Draft, IPFamily, StringMap } from "../api/types/meta.ts";

export interface NodePoolOptions {
	readonly nodes: number;
	/** Before the number of each. Default `n`: n1, n2 ... */
	readonly namePrefix?: string;
	/** Instead of numbered ones: as many as there are nodes. */
	readonly names?: readonly string[];
	readonly zones: readonly string[];
	readonly maxPods: number;
	/** Ranges of pod addresses, the primary family first. */
	readonly clusterCIDRs: readonly string[];
	/** Ranges of cluster IPs; nodes have none of these addresses. */
	readonly serviceCIDRs?: readonly string[];
	/** Bits of a node's part of the cluster range: IPv4, and IPv6. */
	readonly nodeCIDRMaskSizes: readonly [ipv4: number, ipv6: number];
	readonly kubeletVersion: string;
	/** Silence after which a node counts as lost. Default 50 s. */
	readonly nodeMonitorGracePeriodMs?: number;
	/** Ranges of the nodes' own addresses, one for each family of the pods'. Default: the first that nobody has. */
	readonly nodeCIDRs?: readonly string[];
	/** Labels of each Node, beside a kubelet's own. */
	readonly nodeLabels?: StringMap;
	readonly taints?: readonly Taint[];
	/** Annotations of each Node. */
	readonly nodeAnnotations?: (nodeName: string) => StringMap;
}

export interface SimulatedNode {
	readonly name: string;
	/** Parts of the cluster ranges, the primary family first. */
	readonly podCIDRs: readonly CIDR[];
	/** InternalIPs, one for each family of the cluster range. */
	readonly addresses: readonly string[];
	readonly zone: string | undefined;
}

/** Node addresses, which exist in memory only: of each family the first range that no other address is in. */
const NODE_RANGES: Readonly<Record<IPFamily, readonly string[]>> = {
	IPv4: ["192.168.0.0/16", "172.30.0.0/16"],
	IPv6: ["fd00:192:168::/64", "fd00:172:30::/64"],
};

/** @throws {RangeError} When addresses of Pods and Services leave none; the message names the flags. */
export function nodeRange(
	family: IPFamily,
	{
		clusterCIDRs,
		serviceCIDRs = [],
		nodeCIDRs = [],
	}: Pick<NodePoolOptions, "clusterCIDRs" | "serviceCIDRs" | "nodeCIDRs">,
): CIDR {
	const given = nodeCIDRs.map(requiredCIDR).find(({ base }) => base.family === family);
	if (given !== undefined) return given;
	const taken = [...clusterCIDRs, ...serviceCIDRs].map(requiredCIDR);
	const free = NODE_RANGES[family].map(requiredCIDR).find((range) => !taken.some((other) => isOverlap(range, other)));
	if (free !== undefined) return free;
	throw new RangeError(
		`--cluster-cidr ${clusterCIDRs.join()} and --service-cluster-ip-range ${serviceCIDRs.join()} leave no addresses for ` +
			`nodes, which want ${NODE_RANGES[family].join(" or ")}: take smaller ranges`,
	);
}

function isOverlap(a: CIDR, b: CIDR): boolean {
	return contains(a, networkOf(b)) || contains(b, networkOf(a));
}

/** @throws {RangeError} When the cluster range has too few parts for so many nodes; the message names the flags. */
export function simulatedNodes(options: NodePoolOptions): readonly SimulatedNode[] {
	const ranges = options.clusterCIDRs.map((text) => requiredCIDR(text));
	for (const [index, range] of ranges.entries()) requireRoom(options, range, options.clusterCIDRs[index] ?? "");
	const nodeRanges = ranges.map(({ base }) => nodeRange(base.family, options));
	return Array.from({ length: options.nodes }, (_, index) => ({
		name: options.names?.[index] ?? `${options.namePrefix ?? "n"}${index + 1}`,
		podCIDRs: ranges.map((range) => subnetAt(range, maskSizeFor(options, range), index)),
		addresses: nodeRanges.map((range) => addressAt(range, index + 1)),
		zone: options.zones.length === 0 ? undefined : options.zones[index % options.zones.length],
	}));
}

function maskSizeFor({ nodeCIDRMaskSizes: [ipv4, ipv6] }: NodePoolOptions, range: CIDR): number {
	return range.base.family === "IPv4" ? ipv4 : ipv6;
}

function requireRoom(options: NodePoolOptions, range: CIDR, text: string): void {
	const maskSize = maskSizeFor(options, range);
	const parts = maskSize < range.prefixLength ? 0 : 2 ** Math.min(maskSize - range.prefixLength, 30);
	if (options.nodes <= parts) return;
	throw new RangeError(
		`--cluster-cidr ${text} with --node-cidr-mask-size ${maskSize} has room for ${parts} ${parts === 1 ? "node" : "nodes"}, --nodes asks for ` +
			`${options.nodes}: take a larger range or a larger mask size`,
	);
}

function requiredCIDR(text: string): CIDR {
	const parsed = parseCIDR(text);
	if (parsed === undefined) throw new RangeError(`${JSON.stringify(text)}: want a CIDR such as 10.244.0.0/16`);
	return parsed;
}

/** What a simulated node says of its containers: nothing else says that. */
export const SIMULATED_RUNTIME = "sliceplane://simulated";

/** The Node as its kubelet registers it: Ready, with capacity for `maxPods` Pods. */
export function nodeObject(node: SimulatedNode, options: NodePoolOptions, now: string): Draft<Node> {
	const [podCIDR = ""] = node.podCIDRs.map((range) => formatCIDR(range));
	const capacity = { cpu: "8", memory: "32Gi", pods: String(options.maxPods), "ephemeral-storage": "100Gi" };
	const zone = node.zone === undefined ? {} : { "topology.kubernetes.io/zone": node.zone };
	const annotations = options.nodeAnnotations?.(node.name);
	return {
		metadata: {
			name: node.name,
			...(annotations === undefined ? {} : { annotations }),
			labels: {
				"kubernetes.io/hostname": node.name,
				"kubernetes.io/os": "linux",
				"kubernetes.io/arch": "amd64",
				"beta.kubernetes.io/os": "linux",
				"beta.kubernetes.io/arch": "amd64",
				...zone,
				...options.nodeLabels,
			},
		},
		spec: {
			...(node.podCIDRs.length === 0 ? {} : { podCIDR, podCIDRs: node.podCIDRs.map((range) => formatCIDR(range)) }),
			...(options.taints === undefined || options.taints.length === 0 ? {} : { taints: options.taints }),
		},
		status: {
			capacity,
			allocatable: capacity,
			conditions: healthyConditions(now),
			addresses: [
				...node.addresses.map((address) => ({ type: "InternalIP", address })),
				{ type: "Hostname", address: node.name },
			],
			nodeInfo: {
				machineID: "",
				systemUUID: "",
				bootID: "",
				kernelVersion: "",
				osImage: "Sliceplane",
				containerRuntimeVersion: SIMULATED_RUNTIME,
				kubeletVersion: options.kubeletVersion,
				kubeProxyVersion: "",
				operatingSystem: "linux",
				architecture: "amd64",
			},
		},
	};
}

/** What a kubelet says of a node that is well. */
export function healthyConditions(now: string): readonly Condition[] {
	const healthy = (type: string, reason: string, message: string) => ({
		type,
		status: "False" as const,
		reason,
		message,
		lastHeartbeatTime: now,
		lastTransitionTime: now,
	});
	return [
		healthy("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		healthy("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		healthy("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		{ ...healthy("Ready", "KubeletReady", "kubelet is posting ready status"), status: "True" as const },
	];
}
