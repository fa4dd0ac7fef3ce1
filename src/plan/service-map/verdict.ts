/** What becomes of a connection to one of a Service's addresses. */
import type { TablePort, Target } from "./service-table.ts";

/** `external`: a node port, an external IP or a load balancer's address, wherever the client is. */
export type Destination = "cluster-ip" | "external";

/** Where the client is: a Pod of the cluster, the proxy's own node, or anywhere else. */
export type ClientPlace = "pod" | "node" | "other";

export type Verdict =
	| { readonly kind: "forward"; readonly targets: readonly Target[] }
	/** The client learns at once that nobody is there. */
	| { readonly kind: "reject" }
	/** Silence: another node may have an endpoint, and a load balancer is to try it. */
	| { readonly kind: "drop" };

/** What of a port a verdict looks at. */
type Policed = Pick<TablePort, "isInternalLocal" | "isExternalLocal" | "cluster" | "local" | "hasAny">;

/**
 * Policy Local binds external clients only: for Pods and for the node itself an external address behaves
 * as if the load balancer had picked any node.
 */
export function verdictFor(port: Policed, destination: Destination, client: ClientPlace): Verdict {
	const isLocal = destination === "cluster-ip" ? port.isInternalLocal : port.isExternalLocal && client === "other";
	const targets = isLocal ? port.local : port.cluster;
	if (targets.length > 0) return { kind: "forward", targets };
	return isLocal && port.hasAny ? { kind: "drop" } : { kind: "reject" };
}
