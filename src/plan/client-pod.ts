/** The Pod that stands for a command: `sliceplane exec` runs it at the Pod's address. */
import type { Pod } from "../api/types/core.ts";
import type { Draft, StringMap } from "../api/types/meta.ts";

/** What answers at the Pod's address is the command, and no simulation. */
export const CLIENT_ANNOTATION = "sliceplane.dev/client";
/** Which process the Pod stands for; the machine that it runs on knows it by this. */
export const CLIENT_PROCESS_ANNOTATION = "sliceplane.dev/client-process";
/** On a Node: the network namespace that stands for it. */
export const NETWORK_NAMESPACE_ANNOTATION = "sliceplane.dev/network-namespace";

/** On a Node: the domain of the names of Services. */
export const CLUSTER_DOMAIN_ANNOTATION = "sliceplane.dev/cluster-domain";

export interface ClientPodOptions {
	readonly name: string;
	readonly nodeName: string;
	readonly labels: StringMap;
	/** The value of {@link CLIENT_PROCESS_ANNOTATION}. */
	readonly process: string;
}

/** Starts at once, and is ended by whoever made it. */
export function clientPod({ name, nodeName, labels, process }: ClientPodOptions): Draft<Pod> {
	const annotations = {
		[CLIENT_ANNOTATION]: "true",
		[CLIENT_PROCESS_ANNOTATION]: process,
		"sliceplane.dev/startup-time": "0s",
	};
	return {
		metadata: { name, labels, annotations },
		spec: {
			nodeName,
			containers: [{ name: "command", image: "sliceplane/client" }],
			terminationGracePeriodSeconds: 0,
			tolerations: [{ operator: "Exists" }],
		},
	};
}

export function isClient({ metadata }: Pick<Pod, "metadata">): boolean {
	return metadata.annotations?.[CLIENT_ANNOTATION] === "true";
}

/** As a kubelet writes it for a Pod of the namespace. */
export function resolvConf(nameserver: string, namespace: string, clusterDomain: string): string {
	const search = [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
	return `search ${search.join(" ")}\nnameserver ${nameserver}\noptions ndots:5\n`;
}
