/** How a node's rules tell pods of the cluster from everybody else. */
import { parseCIDR } from "../../api/ip.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { type LocalPods, podsByInterface, podsByRange } from "./config.ts";

/** kube-proxy's `--detect-local-mode`, with what the mode looks at. */
export type LocalDetection =
	/** Ranges of pod addresses, of the whole cluster. */
	| { readonly mode: "ClusterCIDR"; readonly cidrs: readonly string[] }
	/** The node's own ranges, out of its `spec.podCIDRs`. */
	| { readonly mode: "NodeCIDR" }
	| { readonly mode: "BridgeInterface"; readonly name: string }
	| { readonly mode: "InterfaceNamePrefix"; readonly prefix: string };

/** Undefined when nothing tells: then nothing to a cluster IP is masqueraded, and no pod is a pod. */
export function localPodsOf(
	detection: LocalDetection,
	family: IPFamily,
	podCIDRs: readonly string[],
): LocalPods | undefined {
	const ofFamily = (cidrs: readonly string[]): readonly string[] =>
		cidrs.filter((cidr) => parseCIDR(cidr)?.base.family === family);
	switch (detection.mode) {
		case "ClusterCIDR":
			return podsByRange(family, ofFamily(detection.cidrs));
		case "NodeCIDR":
			return podsByRange(family, ofFamily(podCIDRs));
		case "BridgeInterface":
			return podsByInterface(detection.name);
		case "InterfaceNamePrefix":
			return podsByInterface(`${detection.prefix}*`);
	}
}
