/** Where the client is that asks for the Service: on a node, somewhere in a zone, or in a Pod. */
import { keyOf } from "../api/resource.ts";
import { ZONE_LABEL } from "../api/well-known.ts";
import type { ProxyPlace } from "../plan/service-map/slice-endpoints.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl } from "./fix.ts";
import type { Scene } from "./snapshot.ts";

interface PodOrigin {
	readonly kind: "pod";
	readonly namespace: string;
	readonly name: string;
}

export type ClientOrigin =
	| { readonly kind: "node"; readonly name: string }
	| { readonly kind: "zone"; readonly name: string }
	| PodOrigin;

/** The view of one proxy, or of several that see the same. */
export interface ProxyView {
	/** `n1`; undefined: of no node in particular. */
	readonly node: string | undefined;
	readonly place: ProxyPlace;
}

export interface ClientPlace {
	readonly origin: ClientOrigin | undefined;
	/** `from Pod default/a on n1`; "" for nowhere in particular. */
	readonly words: string;
	/** Nodes that the client may be on; undefined: any. */
	readonly nodes: readonly string[] | undefined;
	readonly views: readonly ProxyView[];
	/** What is wrong with the place itself. */
	readonly findings: readonly Finding[];
}

const ANYWHERE: ClientPlace = {
	origin: undefined,
	words: "",
	nodes: undefined,
	views: [{ node: undefined, place: {} }],
	findings: [],
};

export function clientPlace(scene: Scene, origin: ClientOrigin | undefined): ClientPlace {
	if (origin === undefined) return ANYWHERE;
	if (origin.kind === "zone") return inZone(scene, origin);
	if (origin.kind === "pod") return inPod(scene, origin);
	return onNode(scene, origin, origin.name);
}

function onNode(scene: Scene, origin: ClientOrigin, name: string): ClientPlace {
	return {
		origin,
		words: `from ${name}`,
		nodes: [name],
		views: [viewOf(scene, name)],
		findings: scene.has("Node") && scene.node(name) === undefined ? [unknownNode(scene, name)] : [],
	};
}

export function viewOf(scene: Scene, node: string): ProxyView {
	const zone = scene.node(node)?.metadata.labels?.[ZONE_LABEL];
	return { node, place: { nodeName: node, ...(zone === undefined ? {} : { zone }) } };
}

function unknownNode(scene: Scene, name: string): Finding {
	const known = scene.snapshot.nodes.map(({ metadata }) => metadata.name);
	return finding(
		"node-unknown",
		`There is no Node ${name}; there are ${few(known)}. A proxy that takes itself for ${name} finds nothing local.`,
		[{ object: `Node/${name}` }],
		"start the proxy with --hostname-override and the Node's own name",
	);
}

/** Every node of the zone has a proxy of its own, and what is local differs. */
function inZone(scene: Scene, origin: ClientOrigin): ClientPlace {
	const zone = origin.name;
	const nodes = scene.snapshot.nodes.filter(({ metadata }) => metadata.labels?.[ZONE_LABEL] === zone);
	const zones = [...new Set(scene.snapshot.nodes.flatMap(({ metadata }) => metadata.labels?.[ZONE_LABEL] ?? []))];
	const names = nodes.map(({ metadata }) => metadata.name);
	const unknown = finding(
		"zone-unknown",
		`No Node is in zone ${zone}; there are ${zones.length === 0 ? "no zones" : few(zones.sort())}.`,
		[{ object: "Node/*", field: `metadata.labels[${ZONE_LABEL}]` }],
		kubectl(["get", "nodes", "-L", ZONE_LABEL]),
	);
	return {
		origin,
		words: `from zone ${zone}`,
		nodes: names.length === 0 ? undefined : names,
		views: names.length === 0 ? [{ node: undefined, place: { zone } }] : names.map((name) => viewOf(scene, name)),
		findings: scene.has("Node") && names.length === 0 ? [unknown] : [],
	};
}

function inPod(scene: Scene, origin: PodOrigin): ClientPlace {
	const { namespace, name } = origin;
	const pod = scene.pod(namespace, name);
	const node = pod?.spec.nodeName ?? "";
	if (pod !== undefined && node !== "") {
		return { ...onNode(scene, origin, node), words: `from Pod ${keyOf(pod)} on ${node}` };
	}
	const text =
		pod === undefined
			? `There is no Pod ${name} in namespace ${namespace} to ask from.`
			: `Pod ${namespace}/${name} is on no node yet, so it reaches nothing.`;
	const at = { object: `Pod/${name}`, namespace, ...(pod === undefined ? {} : { field: "spec.nodeName" }) };
	const found = finding("client-pod-unknown", text, [at], kubectl(["-n", namespace, "get", "pods", "-o", "wide"]));
	return {
		...ANYWHERE,
		origin,
		words: `from Pod ${namespace}/${name}`,
		findings: scene.has("Pod", namespace) ? [found] : [],
	};
}
