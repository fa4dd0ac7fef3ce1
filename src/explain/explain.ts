/**
 * Why does a Service have no endpoints, or wrong ones? Pure over a snapshot of the cluster.
 *
 *     explainService(snapshot, { namespace: "default", name: "web" }).cause?.text
 *     // "No Pod in namespace default has the labels of the selector app=wbe. ..."
 */
import type { EndpointSlice } from "../api/types/discovery.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import { isTerminating } from "../plan/pod-facts.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import { type Finding, finding } from "./finding.ts";
import { manualFindings } from "./manual-checks.ts";
import { nameFindings } from "./name-checks.ts";
import { podFindings, stateText } from "./pod-checks.ts";
import { portFindings } from "./port-checks.ts";
import { selectorFindings } from "./selector-checks.ts";
import { sliceFindings } from "./slice-checks.ts";
import { type ClusterSnapshot, Scene } from "./snapshot.ts";
import { type Subject, selectorText, subjectOf } from "./subject.ts";
import { trafficFindings } from "./traffic-checks.ts";

export interface ExplainTarget {
	readonly namespace: string;
	readonly name: string;
	/** The node of the client that asks; what is local there, and which hints hold. */
	readonly fromNode?: string;
}

/** One link from the Service to what answers: what there is, in a line. */
export interface ChainStep {
	readonly link: "Service" | "selector" | "Pods" | "ports" | "EndpointSlices" | "reached";
	readonly text: string;
}

export interface Explanation {
	/** `namespace/name` */
	readonly service: string;
	/** The finding that decides; undefined: nothing stands between the Service and its endpoints. */
	readonly cause: Finding | undefined;
	/** All of them, the one that decides first. */
	readonly findings: readonly Finding[];
	readonly chain: readonly ChainStep[];
	/** Kinds that were not looked at. */
	readonly missing: readonly string[];
}

/** One Service; see {@link Explainer} for many of one snapshot. */
export function explainService(snapshot: ClusterSnapshot, target: ExplainTarget): Explanation {
	return new Explainer(snapshot).explain(target);
}

export class Explainer {
	readonly #scene: Scene;

	constructor(snapshot: ClusterSnapshot) {
		this.#scene = new Scene(snapshot);
	}

	/** Every Service, those in trouble first; without the chain of each. */
	explainAll(fromNode?: string): readonly Explanation[] {
		const all = this.#scene.snapshot.services.map(({ metadata }) =>
			this.#found({
				namespace: metadata.namespace ?? "",
				name: metadata.name,
				...(fromNode === undefined ? {} : { fromNode }),
			}),
		);
		return all.sort((a, b) => weight(a) - weight(b));
	}

	explain(target: ExplainTarget): Explanation {
		const found = this.#found(target);
		const service = this.#scene.service(found.service);
		if (service === undefined) return found;
		const subject = subjectOf(this.#scene, service, target.fromNode);
		return { ...found, chain: chainOf(subject, this.#scene.snapshot.slices.length > 0) };
	}

	#found({ namespace, name, fromNode }: ExplainTarget): Explanation {
		const key = `${namespace}/${name}`;
		const { missing } = this.#scene.snapshot;
		const service = this.#scene.service(key);
		if (service === undefined) {
			const findings = [absent(namespace, name), ...leftOver(this.#scene.slicesOf(key))];
			return { service: key, cause: findings[0], findings, chain: [], missing };
		}
		const subject = subjectOf(this.#scene, service, fromNode);
		const findings = CHECKS.flatMap((check) => check(subject)).sort((a, b) => RANK[a.severity] - RANK[b.severity]);
		const cause = findings.find(decides);
		const sorted = cause === undefined ? findings : [cause, ...findings.filter((each) => each !== cause)];
		return { service: key, cause, findings: sorted, chain: [], missing };
	}
}

const CHECKS: readonly ((subject: Subject) => readonly Finding[])[] = [
	selectorFindings,
	podFindings,
	portFindings,
	manualFindings,
	sliceFindings,
	trafficFindings,
	nameFindings,
];

const RANK = { error: 0, warning: 1, info: 2 } as const;

/** An error does; so does what makes the question none. */
function decides({ severity, name }: Finding): boolean {
	return severity === "error" || name === "externalname-has-no-endpoints";
}

function weight({ cause, findings }: Explanation): number {
	if (cause?.severity === "error") return 0;
	return findings.some(({ severity }) => severity === "warning") ? 1 : 2;
}

function absent(namespace: string, name: string): Finding {
	return finding(
		"service-does-not-exist",
		`There is no Service ${name} in namespace ${namespace}.`,
		[{ object: `Service/${name}`, field: "metadata.namespace", value: namespace }],
		`kubectl get services -A | grep ${name}`,
	);
}

function leftOver(slices: readonly EndpointSlice[]): readonly Finding[] {
	const [first] = slices;
	if (first === undefined) return [];
	const text = `EndpointSlice/${first.metadata.name} is labelled for the Service that is not there.`;
	return [
		finding(
			"slice-left-over",
			text,
			[{ object: `EndpointSlice/${first.metadata.name}`, field: "metadata.labels" }],
			`kubectl -n ${first.metadata.namespace} delete endpointslice ${first.metadata.name}`,
		),
	];
}

const SHOWN_MAX = 8;

function chainOf(subject: Subject, hasSlices: boolean): readonly ChainStep[] {
	const { service, selector, pods, slices, fromNode } = subject;
	const { type = "ClusterIP", clusterIP = "", externalName = "", ports = [] } = service.spec;
	const address = type === "ExternalName" ? externalName : clusterIP || "no cluster IP";
	const numbers = ports.map(
		({ name = "", port, protocol = "TCP", nodePort }) =>
			`${name === "" ? "" : `${name} `}${port}${nodePort === undefined ? "" : `:${nodePort}`}/${protocol}`,
	);
	const steps: ChainStep[] = [
		{
			link: "Service",
			text: `${type} ${address}, ${numbers.length === 0 ? "no ports" : `ports ${numbers.join(", ")}`}`,
		},
	];
	if (type === "ExternalName") return steps;
	steps.push({
		link: "selector",
		text: selector === undefined ? "none: endpoints are made by hand" : selectorText(selector),
	});
	if (selector !== undefined && subject.scene.has("Pod"))
		steps.push({ link: "Pods", text: shown(pods.map(podText), "none") });
	if (hasSlices || slices.length > 0)
		steps.push({ link: "EndpointSlices", text: shown(slices.flatMap(sliceTexts), "none") });
	const reached = subject.table().ports.map(({ name, port, cluster, local, isInternalLocal }) => {
		const targets = fromNode !== undefined && isInternalLocal ? local : cluster;
		return `${name === "" ? port : name} -> ${shown(targets.map(endpointText), "nothing")}`;
	});
	steps.push({
		link: "reached",
		text: `${fromNode === undefined ? "" : `from ${fromNode}: `}${reached.join("; ") || "nothing"}`,
	});
	return steps;
}

function shown(texts: readonly string[], none: string): string {
	if (texts.length === 0) return none;
	const rest = texts.length - SHOWN_MAX;
	return `${texts.slice(0, SHOWN_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function podText(pod: Subject["pods"][number]): string {
	const ready = pod.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True" ? "ready" : "not ready";
	const { podIP = "no address" } = pod.status ?? {};
	return `${stateText(pod)}, ${isTerminating(pod) ? "terminating, " : ""}${ready}, ${podIP}`;
}

function sliceTexts(slice: EndpointSlice): readonly string[] {
	const { metadata, endpoints, ports, addressType } = slice;
	const numbers = (ports ?? []).map(({ name, port }) => `${name ?? ""}:${port ?? "*"}`).join(" ");
	const list = (endpoints ?? []).slice(0, SHOWN_MAX).map(endpointWords);
	const rest = (endpoints ?? []).length - list.length;
	const more = rest > 0 ? ` and ${rest} more` : "";
	const kind = `${addressType}${numbers === "" ? "" : ` ${numbers}`}${keeperOf(slice)}`;
	return [`${metadata.name} (${kind}): ${list.join(" ") || "empty"}${more}`];
}

function endpointWords({ addresses, conditions, targetRef }: NonNullable<EndpointSlice["endpoints"]>[number]): string {
	const target = targetRef?.name === undefined ? "" : ` (${targetRef.kind}/${targetRef.name})`;
	return `${addresses[0]}${target}${conditions.ready === false ? " (not ready)" : ""}`;
}

/** Who makes the slice, and of what. */
function keeperOf({ metadata }: EndpointSlice): string {
	const manager = metadata.labels?.[SLICE_MANAGED_BY_LABEL];
	if (manager === ENDPOINTSLICE_CONTROLLER) return "";
	if (manager === ENDPOINTSLICEMIRRORING_CONTROLLER) {
		return `, a copy of Endpoints/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ""}`;
	}
	return manager === undefined ? ", of nobody known" : `, of ${manager}`;
}
