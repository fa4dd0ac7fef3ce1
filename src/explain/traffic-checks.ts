/** What a client on a node would reach: policies, hints, nodes. */
import type { Node } from "../api/types/core.ts";
import { SERVICE_PROXY_NAME_LABEL, ZONE_LABEL } from "../api/well-known.ts";
import { topologyHintsAnnotation, trafficDistributionOf } from "../plan/endpointslice/hints.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { kubectl, labelFix, patchFix } from "./fix.ts";
import { isReadyNode } from "./node-state.ts";
import { type Subject, serviceName, serviceTarget } from "./subject.ts";

export function trafficFindings(subject: Subject): readonly Finding[] {
	const { from, service } = subject;
	if (service.spec.type === "ExternalName") return from.findings;
	return [
		...from.findings,
		...nodeFindings(subject),
		...localPolicies(subject),
		...hints(subject),
		...outside(subject),
	];
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
			isReady: conditions?.ready ?? true,
			hasHints: (own?.forZones ?? []).length > 0 || (own?.forNodes ?? []).length > 0,
		})),
	);
}

function nodeFindings(subject: Subject): readonly Finding[] {
	const { scene } = subject;
	if (!scene.has("Node") || scene.snapshot.nodes.length === 0) return [];
	const names = nodeNames(subject);
	const missing = names.filter((name) => scene.node(name) === undefined);
	const unready = names.flatMap((name) => scene.node(name) ?? []).filter((node) => !isReadyNode(node));
	return [
		...(missing.length === 0
			? []
			: [
					finding(
						"node-unknown",
						`Endpoints are on ${few(missing)}, which is no Node.`,
						missing.slice(0, 3).map((name) => ({ object: `Node/${name}` })),
						kubectl(["get", "nodes"], "Pods of a Node that is gone for good are deleted by the garbage collector"),
					),
				]),
		...(unready.length === 0 ? [] : [nodesNotReady(unready)]),
	];
}

function nodeNames({ slices }: Subject): readonly string[] {
	const names = new Set<string>();
	for (const { endpoints } of slices)
		for (const { nodeName = "" } of endpoints ?? []) if (nodeName !== "") names.add(nodeName);
	return [...names];
}

function nodesNotReady(nodes: readonly Node[]): Finding {
	const [first] = nodes;
	return finding(
		"node-not-ready",
		`Endpoints are on Nodes that are not ready: ${few(nodes.map(({ metadata }) => metadata.name))}.`,
		nodes.slice(0, 3).map(({ metadata, status }) => {
			const ready = status?.conditions?.find(({ type }) => type === "Ready");
			return {
				object: `Node/${metadata.name}`,
				field: "status.conditions[Ready]",
				value: [ready?.status, ready?.reason].filter((text) => text !== undefined).join(" "),
			};
		}),
		kubectl(["describe", "node", first?.metadata.name ?? ""]),
	);
}

function localPolicies(subject: Subject): readonly Finding[] {
	const { service, from } = subject;
	const { internalTrafficPolicy, externalTrafficPolicy } = service.spec;
	const policies = [
		...(internalTrafficPolicy === "Local" ? ["internalTrafficPolicy"] : []),
		...(externalTrafficPolicy === "Local" ? ["externalTrafficPolicy"] : []),
	];
	if (policies.length === 0) return [];
	const { scene } = subject;
	const ready = placed(subject).filter(({ isReady }) => isReady);
	if (ready.length === 0) return [];
	const evidence = policies.map((field) => ({ object: serviceName(subject), field: `spec.${field}`, value: "Local" }));
	const homeless = ready.filter(({ nodeName }) => nodeName === "");
	if (homeless.length === ready.length) {
		const text = `${policies.join(" and ")} is Local, and no endpoint has a nodeName: it is local nowhere, and traffic is dropped.`;
		return [finding("no-local-endpoint", text, evidence, clusterPolicy(subject, policies))];
	}
	const named = [...new Set(ready.map(({ nodeName }) => nodeName))].filter((name) => name !== "");
	const nodes = named.filter((name) => !scene.lacksNode(name));
	if (nodes.length === 0) {
		const text = `${policies.join(" and ")} is Local, and the endpoints are on ${few(named)}, which is no Node: they are local nowhere, and traffic is dropped.`;
		return [finding("no-local-endpoint", text, evidence, clusterPolicy(subject, policies))];
	}
	if (from.nodes === undefined) return onSomeNodes(subject, policies, nodes);
	if (from.nodes.some((name) => nodes.includes(name))) return [];
	const where = from.nodes.length === 1 ? from.nodes[0] : `a node of it (${few(from.nodes)})`;
	const text = `${policies.join(" and ")} is Local, and no endpoint is on ${where}; there are some on ${few(nodes)}.`;
	return [finding("no-local-endpoint", text, evidence, clusterPolicy(subject, policies))];
}

function clusterPolicy(subject: Subject, policies: readonly string[]) {
	const spec = Object.fromEntries(policies.map((name) => [name, "Cluster"]));
	return patchFix(serviceTarget(subject), { spec }, "or run a Pod on that node");
}

/** Nobody asks from anywhere: which clients would find nothing? */
function onSomeNodes(subject: Subject, policies: readonly string[], nodes: readonly string[]): readonly Finding[] {
	const { scene } = subject;
	const all = scene.snapshot.nodes;
	if (!scene.has("Node") || all.length <= nodes.length) return [];
	const without = all.filter(({ metadata }) => !nodes.includes(metadata.name));
	return [
		finding(
			"local-on-some-nodes",
			`${policies.join(" and ")} is Local: of ${all.length} nodes ${without.length} have no endpoint, such as ${few(without.map(({ metadata }) => metadata.name))}; --from-node shows what a client there reaches.`,
			policies.map((field) => ({ object: serviceName(subject), field: `spec.${field}`, value: "Local" })),
		),
	];
}

/** Who serves the Service, and from where. */
function outside(subject: Subject): readonly Finding[] {
	const { service } = subject;
	const other = service.metadata.labels?.[SERVICE_PROXY_NAME_LABEL];
	const { type } = service.spec;
	const ingress = service.status?.loadBalancer?.ingress ?? [];
	return [
		...(other === undefined
			? []
			: [
					finding(
						"served-by-other-proxy",
						`The label ${SERVICE_PROXY_NAME_LABEL} gives the Service to ${other === "" ? "another proxy" : other}: kube-proxy makes no rules for it.`,
						[{ object: serviceName(subject), field: `metadata.labels[${SERVICE_PROXY_NAME_LABEL}]`, value: other }],
						labelFix(serviceTarget(subject), [SERVICE_PROXY_NAME_LABEL, null], "if that is not meant"),
					),
				]),
		...(type === "LoadBalancer" && ingress.length === 0
			? [
					finding(
						"load-balancer-pending",
						"The load balancer has no address yet: inside the cluster the Service works, from outside by its node ports.",
						[{ object: serviceName(subject), field: "status.loadBalancer.ingress" }],
						kubectl(["-n", subject.namespace, "describe", "service", service.metadata.name], "its events say why"),
					),
				]
			: []),
	];
}

function hints(subject: Subject): readonly Finding[] {
	const asked = askedBy(subject);
	if (asked === undefined) return [];
	const ready = placed(subject).filter(({ isReady }) => isReady);
	if (ready.length === 0) return [];
	if (ready.every(({ hasHints }) => !hasHints)) {
		const text = `Hints are asked for (${asked.field}: ${asked.value}), and no endpoint has any: traffic goes to all zones. Nodes without a zone, or too few endpoints for the zones, are the usual reasons.`;
		const look = kubectl(["get", "nodes", "-L", ZONE_LABEL], "Events with reason TopologyAwareHintsDisabled say why");
		return [finding("hints-not-assigned", text, [asked], look)];
	}
	return [...ignoredHints(subject, asked), ...concentrated(subject, asked)];
}

function ignoredHints(subject: Subject, asked: Evidence): readonly Finding[] {
	const { from } = subject;
	if (from.origin === undefined) return [];
	const ignored = subject
		.tables()
		.flatMap(({ node, table }) => table.ports.map(({ hints: use }) => ({ node, why: use.ignored })))
		.find(({ why }) => why !== undefined);
	if (ignored === undefined) return [];
	const where = ignored.node === undefined ? "there" : `on ${ignored.node}`;
	return [
		finding(
			"hints-ignored",
			`A proxy ${where} does not use the hints: ${ignored.why}. Its clients go to all zones.`,
			[asked],
			kubectl(["get", "nodes", "-L", ZONE_LABEL]),
		),
	];
}

/** An endpoint that would get so many times its share is told of. */
const SHARES_MAX = 2;

/** Nodes stand for clients: how many there are in a zone, for each endpoint that is hinted at it. */
function concentrated(subject: Subject, asked: Evidence): readonly Finding[] {
	const { scene, slices } = subject;
	const nodes = scene.snapshot.nodes.filter(isReadyNode);
	const nodesIn = countBy(nodes.flatMap(({ metadata }) => metadata.labels?.[ZONE_LABEL] ?? []));
	const ready = slices
		.flatMap(({ endpoints }) => endpoints ?? [])
		.filter(({ conditions }) => conditions?.ready !== false);
	const hinted = countBy(ready.flatMap(({ hints: own }) => (own?.forZones ?? []).map(({ name }) => name)));
	if (nodes.length === 0 || ready.length < 2) return [];
	const loads = [...hinted].map(([zone, endpoints]) => {
		const share = (nodesIn.get(zone) ?? 0) / nodes.length;
		return { zone, endpoints, shares: (share / endpoints) * ready.length };
	});
	const [worst] = loads.sort((a, b) => b.shares - a.shares);
	if (worst === undefined || worst.shares < SHARES_MAX) return [];
	const { zone, endpoints, shares } = worst;
	return [
		finding(
			"hints-concentrate",
			`Hints send all clients of zone ${zone}, ${nodesIn.get(zone)} of ${nodes.length} nodes, to ${endpoints} of ${ready.length} endpoints: each of them gets ${shares.toFixed(1)} times its share.`,
			[asked],
			"spread the Pods over the zones (topologySpreadConstraints), or run more of them there",
		),
	];
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
	return counts;
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
