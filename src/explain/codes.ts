/**
 * Everything that `explain` can find, each with a code that never changes its meaning.
 *
 * An `error` keeps connections from where they should go, a `warning` will, or does for some; an `info` is worth knowing.
 */
export type Severity = "error" | "warning" | "info";

export interface Code {
	readonly code: string;
	readonly name: string;
	readonly severity: Severity;
	/** What it means, and why it is so: a sentence or two. */
	readonly meaning: string;
}

const ROWS = [
	["SP1001", "service-does-not-exist", "error", "There is no Service of that name in the namespace."],
	[
		"SP1101",
		"selector-matches-no-pods",
		"error",
		"No Pod of the Service's namespace has all labels of its selector. Only labels of Pods count: those of a Deployment's template, not of the Deployment.",
	],
	[
		"SP1102",
		"selector-matches-elsewhere",
		"info",
		"Pods of another namespace have the labels. A Service selects in its own namespace only.",
	],
	[
		"SP1103",
		"no-selector-and-no-manual-endpoints",
		"error",
		"The Service has no selector, and nobody made EndpointSlices or Endpoints for it.",
	],
	[
		"SP1104",
		"stale-endpoints-of-removed-selector",
		"error",
		"The selector was taken away, and the EndpointSlices that the controller had made stay as they were: nobody updates them any more.",
	],
	[
		"SP1105",
		"workload-scaled-to-zero",
		"error",
		"The workload whose Pods the selector means asks for none: it has 0 replicas.",
	],
	[
		"SP1106",
		"pods-not-created",
		"error",
		"The selector means the Pods of a workload, and none of them has been made: a quota, an admission webhook, or a controller that does not run.",
	],
	["SP1201", "matched-pods-without-ip", "error", "Pods match, and none has an address yet: they are Pending."],
	[
		"SP1202",
		"matched-pods-not-ready",
		"error",
		"Pods match, and none is ready. Endpoints that are not ready get no traffic.",
	],
	[
		"SP1203",
		"matched-pods-all-finished",
		"error",
		"All Pods that match have run to their end (Succeeded or Failed): they have no endpoints.",
	],
	["SP1204", "some-pods-not-ready", "info", "Some Pods that match are not ready, and get no traffic."],
	["SP1205", "matched-pod-finished", "info", "A Pod that matches has run to its end, and has no endpoint."],
	[
		"SP1206",
		"tolerate-unready-annotation",
		"warning",
		"The annotation service.alpha.kubernetes.io/tolerate-unready-endpoints has had no effect since Kubernetes 1.11.",
	],
	[
		"SP1207",
		"publishes-not-ready",
		"info",
		"publishNotReadyAddresses makes every endpoint ready, whether its Pod is or not.",
	],
	[
		"SP1208",
		"all-terminating",
		"warning",
		"All endpoints are terminating: they get connections only because there are no others.",
	],
	[
		"SP1209",
		"publishes-terminating",
		"warning",
		"publishNotReadyAddresses keeps Pods that are terminating ready until they are gone: they get new connections.",
	],
	[
		"SP1301",
		"named-port-missing-in-pod",
		"error",
		"targetPort is a name, and a matching Pod has no container port of that name and protocol.",
	],
	[
		"SP1302",
		"named-port-declared-twice",
		"warning",
		"Two containers of a Pod declare a port of the name: the first one counts.",
	],
	[
		"SP1303",
		"target-port-not-declared",
		"info",
		"No container of a matching Pod declares the target port. That is allowed, and often a wrong number.",
	],
	[
		"SP1304",
		"port-name-mismatch",
		"error",
		"Ports of the Service and of its hand-made endpoints do not meet: a port is found by its name and protocol alone.",
	],
	[
		"SP1305",
		"target-port-has-no-effect",
		"info",
		"Without a selector targetPort is not used: the endpoints' own ports are.",
	],
	[
		"SP1306",
		"headless-without-ports",
		"info",
		"A headless Service without ports has DNS names, and endpoints without ports.",
	],
	[
		"SP1401",
		"pods-have-no-address-of-family",
		"error",
		"Pods that match have no address of an IP family of the Service.",
	],
	[
		"SP1402",
		"slice-of-other-family",
		"error",
		"The EndpointSlices have an addressType that the Service has no cluster IP of.",
	],
	[
		"SP1403",
		"only-fqdn-slices",
		"error",
		"All EndpointSlices are of type FQDN, which service proxies and DNS do not use.",
	],
	[
		"SP1404",
		"family-without-endpoints",
		"warning",
		"A dual-stack Service has endpoints of one IP family only: its address of the other one is refused.",
	],
	[
		"SP1501",
		"endpoints-not-mirrored",
		"error",
		"Hand-made Endpoints are left out of mirroring, and proxies read EndpointSlices only.",
	],
	[
		"SP1502",
		"address-ready-and-not-ready",
		"warning",
		"An address is in addresses and in notReadyAddresses of the same Endpoints.",
	],
	["SP1503", "target-in-other-namespace", "warning", "A hand-made endpoint points at a Pod of another namespace."],
	[
		"SP1504",
		"slices-of-two-managers",
		"warning",
		"EndpointSlices of the Service come from two managers: their endpoints add up.",
	],
	[
		"SP1505",
		"slice-without-managed-by",
		"warning",
		"A slice beside the controller's has no label endpointslice.kubernetes.io/managed-by: nobody is known to keep it.",
	],
	[
		"SP1506",
		"slice-without-service-name-label",
		"error",
		"A hand-made slice that looks meant for the Service lacks the label kubernetes.io/service-name.",
	],
	["SP1507", "slice-left-over", "warning", "A slice is labelled for a Service that is not there."],
	[
		"SP1508",
		"endpoints-under-another-name",
		"error",
		"Hand-made Endpoints belong to the Service of their own name, and to no other.",
	],
	["SP1509", "over-capacity", "info", "The Endpoints hold the first 1,000 addresses; EndpointSlices hold all."],
	[
		"SP1510",
		"slices-missing",
		"error",
		"Pods are ready, and there are no EndpointSlices for them: the controller that makes them does not run, or fails.",
	],
	[
		"SP1511",
		"slices-out-of-date",
		"error",
		"EndpointSlices do not list Pods that are ready, or list Pods that are gone: the controller that keeps them does not run, or fails.",
	],
	[
		"SP1512",
		"controller-not-running",
		"error",
		"kube-controller-manager has not renewed its Lease in time, and slices are missing or out of date.",
	],
	[
		"SP1513",
		"slices-of-former-service",
		"warning",
		"The Service was deleted and made anew, and slices belong to the one before it.",
	],
	[
		"SP1514",
		"slice-with-wrong-service-name",
		"error",
		"A hand-made slice that looks meant for the Service is labelled for another one, which is not there.",
	],
	[
		"SP1515",
		"slice-claims-a-controller",
		"warning",
		"A hand-made slice has a controller's name in its label endpointslice.kubernetes.io/managed-by: that one takes it for its own.",
	],
	[
		"SP1516",
		"mirroring-over-capacity",
		"warning",
		"Of a subset of Endpoints the first 1,000 addresses are mirrored, and this one has more.",
	],
	[
		"SP1517",
		"mirrored-slices-missing",
		"error",
		"Hand-made Endpoints may be mirrored, and are not: the mirroring controller does not run, or fails.",
	],
	[
		"SP1518",
		"manual-endpoints-not-ready",
		"error",
		"No hand-made endpoint is ready. Whoever makes endpoints says whether they are ready, and those that are not get no traffic.",
	],
	[
		"SP1519",
		"endpoints-of-missing-pods",
		"error",
		"All endpoints of a Service without selector stand for Pods that do not exist: nobody updates them.",
	],
	[
		"SP1520",
		"endpoint-of-missing-pod",
		"warning",
		"Some endpoints of a Service without selector stand for Pods that do not exist: connections to them fail.",
	],
	["SP1601", "no-local-endpoint", "error", "A traffic policy is Local, and no endpoint is on the node that is asked."],
	["SP1602", "node-unknown", "warning", "An endpoint's node, or the node that is asked from, is no Node."],
	["SP1603", "node-not-ready", "warning", "The node of an endpoint is not ready."],
	[
		"SP1604",
		"hints-not-assigned",
		"warning",
		"Hints are asked for, and the endpoints have none: traffic goes to all zones.",
	],
	["SP1605", "hints-ignored", "info", "Hints are there, and the proxy of this node does not use them."],
	[
		"SP1606",
		"hints-concentrate",
		"warning",
		"Hints keep traffic in its zone, and a zone has many clients for few endpoints.",
	],
	[
		"SP1607",
		"local-on-some-nodes",
		"info",
		"A traffic policy is Local, and some nodes have no endpoint: clients there reach nothing.",
	],
	["SP1608", "zone-unknown", "warning", "The zone that is asked from is the zone of no Node."],
	["SP1609", "client-pod-unknown", "warning", "The Pod that is asked from does not exist, or is on no node."],
	["SP1610", "served-by-other-proxy", "info", "A label gives the Service to another proxy than the cluster's own."],
	[
		"SP1611",
		"load-balancer-pending",
		"info",
		"The Service is of type LoadBalancer, and its load balancer has no address yet.",
	],
	[
		"SP1612",
		"nothing-reached",
		"error",
		"By the rules of a service proxy no port of the Service leads anywhere, and nothing that is known by another code says why.",
	],
	[
		"SP1613",
		"headless-label",
		"error",
		"The label service.kubernetes.io/headless keeps proxies from a Service that has a cluster IP, or from its EndpointSlices.",
	],
	[
		"SP1701",
		"externalname-has-no-endpoints",
		"info",
		"A Service of type ExternalName is a name in DNS: it has no endpoints, and needs none.",
	],
	[
		"SP1702",
		"externalname-is-an-ip",
		"error",
		"externalName is an address; DNS gives it out as a name, which resolves to nothing.",
	],
	["SP1703", "externalname-loop", "error", "ExternalName Services point at each other."],
	["SP1704", "externalname-with-selector", "warning", "A selector has no effect on a Service of type ExternalName."],
	[
		"SP1705",
		"externalname-target-missing",
		"error",
		"externalName is the name of a Service of the cluster, and that Service does not exist.",
	],
	[
		"SP1706",
		"externalname-target-in-trouble",
		"error",
		"externalName is the name of a Service of the cluster, and something is in the way of that one.",
	],
	[
		"SP1801",
		"pod-subdomain-differs",
		"warning",
		"A Pod has a hostname and a subdomain, and the subdomain is not this Service's name: it gets no name below it.",
	],
	[
		"SP1802",
		"statefulset-of-other-service",
		"warning",
		"The StatefulSet of the Pods names another Service as its serviceName: their stable names are below that one.",
	],
	["SP1803", "looks-meant-headless", "warning", "The Service has a cluster IP, and looks meant to have none."],
] as const;

export type CodeName = (typeof ROWS)[number][1];

export const CODES: readonly Code[] = ROWS.map(([code, name, severity, meaning]) => ({
	code,
	name,
	severity,
	meaning,
}));

const BY_NAME: ReadonlyMap<string, Code> = new Map(CODES.map((code) => [code.name, code]));

export function codeOf(name: CodeName): Code {
	const code = BY_NAME.get(name);
	if (code === undefined) throw new Error(`no code of the name ${name}`);
	return code;
}
