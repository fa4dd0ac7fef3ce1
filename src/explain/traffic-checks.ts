/** What a client on a node would reach: policies, hints, nodes. */
import type { Node } from "../api/types/core.ts";
import { topologyHintsAnnotation, trafficDistributionOf } from "../plan/endpointslice/hints.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { type Subject, serviceName } from "./subject.ts";

export function trafficFindings(subject: Subject): readonly Finding[] {
	if (subject.service.spec.type === "ExternalName") return [];
	return [...unknownNodes(subject), ...localPolicies(subject), ...hints(subject)];
}

interface Placed {
	readonly address: string;
	readonly nodeName: string;
	readonly isReady: boolean;
	readonly hasHints: boolean;
}

function placed({ slices }: Subject): readonly Placed[] {
	return slices.flatMap(({ endpoints }) =>
		(endpoints ?? []).map(({ addresses, nodeName = "", conditions, hints: own }) => ({
			address: addresses[0] ?? "",
			nodeName,
			isReady: conditions.ready ?? true,
			hasHints: (own?.forZones ?? []).length > 0 || (own?.forNodes ?? []).length > 0,
		})),
	);
}

function unknownNodes(subject: Subject): readonly Finding[] {
	const { scene, fromNode } = subject;
	if (!scene.has("Node")) return [];
	const known = scene.snapshot.nodes.map(({ metadata }) => metadata.name);
	const asked =
		fromNode === undefined || scene.node(fromNode) !== undefined
			? []
			: [
					finding(
						"node-unknown",
						`There is no Node ${fromNode}; there are ${few(known)}. A proxy that takes itself for ${fromNode} finds nothing local.`,
						[{ object: `Node/${fromNode}` }],
						`start the proxy with --hostname-override and the Node's own name`,
					),
				];
	const names = [...new Set(placed(subject).map(({ nodeName }) => nodeName))].filter((name) => name !== "");
	const missing = names.filter((name) => scene.node(name) === undefined);
	const unready = names.flatMap((name) => scene.node(name) ?? []).filter((node) => !isReadyNode(node));
	return [
		...asked,
		...(missing.length === 0 || known.length === 0
			? []
			: [
					finding(
						"node-unknown",
						`Endpoints are on ${few(missing)}, which is no Node.`,
						missing.slice(0, 3).map((name) => ({ object: `Node/${name}` })),
					),
				]),
		...(unready.length === 0
			? []
			: [
					finding(
						"node-not-ready",
						`Endpoints are on Nodes that are not ready: ${few(unready.map(({ metadata }) => metadata.name))}.`,
						unready
							.slice(0, 3)
							.map(({ metadata }) => ({ object: `Node/${metadata.name}`, field: "status.conditions[Ready]" })),
						`kubectl describe node ${unready[0]?.metadata.name}`,
					),
				]),
	];
}

/** A Node that says nothing of it was made by hand, and is taken as it is. */
function isReadyNode({ status }: Node): boolean {
	const ready = status?.conditions?.find(({ type }) => type === "Ready");
	return ready === undefined || ready.status === "True";
}

function localPolicies(subject: Subject): readonly Finding[] {
	const { service, fromNode } = subject;
	const { internalTrafficPolicy, externalTrafficPolicy } = service.spec;
	const policies = [
		...(internalTrafficPolicy === "Local" ? ["internalTrafficPolicy"] : []),
		...(externalTrafficPolicy === "Local" ? ["externalTrafficPolicy"] : []),
	];
	const ready = placed(subject).filter(({ isReady }) => isReady);
	if (policies.length === 0 || ready.length === 0) return [];
	const evidence = policies.map((field) => ({ object: serviceName(subject), field: `spec.${field}`, value: "Local" }));
	const homeless = ready.filter(({ nodeName }) => nodeName === "");
	if (homeless.length === ready.length) {
		const text = `${policies.join(" and ")} is Local, and no endpoint has a nodeName: it is local nowhere, and traffic is dropped.`;
		return [
			finding("no-local-endpoint", text, evidence, "write nodeName into the endpoints, or set the policy to Cluster"),
		];
	}
	if (fromNode === undefined || ready.some(({ nodeName }) => nodeName === fromNode)) return [];
	const nodes = [...new Set(ready.map(({ nodeName }) => nodeName))].filter((name) => name !== "");
	const text = `${policies.join(" and ")} is Local, and no endpoint is on ${fromNode}; there are some on ${few(nodes)}.`;
	return [finding("no-local-endpoint", text, evidence, "run a Pod on that node, or set the policy to Cluster")];
}

function hints(subject: Subject): readonly Finding[] {
	const { fromNode } = subject;
	const asked = askedBy(subject);
	if (asked === undefined) return [];
	const ready = placed(subject).filter(({ isReady }) => isReady);
	if (ready.length > 0 && ready.every(({ hasHints }) => !hasHints)) {
		const text = `Hints are asked for (${asked.field}: ${asked.value}), and no endpoint has any: traffic goes to all zones. Nodes without a zone, or too few endpoints for the zones, are the usual reasons.`;
		return [
			finding(
				"hints-not-assigned",
				text,
				[asked],
				"kubectl get events --field-selector reason=TopologyAwareHintsDisabled; kubectl get nodes -L topology.kubernetes.io/zone",
			),
		];
	}
	const ignored =
		fromNode === undefined ? undefined : subject.table().ports.find(({ hints: use }) => use.mode === "none");
	if (ignored === undefined || ready.length === 0) return [];
	return [
		finding(
			"hints-ignored",
			`A proxy on ${fromNode} does not use the hints: one endpoint has none, or none is for its zone.`,
			[asked],
		),
	];
}

/** What in the Service makes its controller give hints. */
function askedBy(subject: Subject): Evidence | undefined {
	const { service } = subject;
	const object = serviceName(subject);
	const annotation = topologyHintsAnnotation(service);
	if (annotation !== undefined) {
		const value = service.metadata.annotations?.[annotation] ?? "";
		return { object, field: `metadata.annotations[${annotation}]`, value };
	}
	const value = trafficDistributionOf(service);
	return value === undefined ? undefined : { object, field: "spec.trafficDistribution", value };
}
