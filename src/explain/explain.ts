/**
 * Why does a Service have no endpoints, or wrong ones? Pure over a snapshot of the cluster.
 *
 *     explainService(snapshot, { namespace: "default", name: "web" }).cause?.text
 *     // "No Pod in namespace default has the labels of the selector app=wbe. ..."
 */
import type { EndpointSlice } from "../api/types/discovery.ts";
import { SERVICE_NAME_LABEL } from "../api/well-known.ts";
import { type ChainStep, chainOf } from "./chain.ts";
import { type ClientOrigin, type ClientPlace, clientPlace } from "./client-place.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl } from "./fix.ts";
import { manualFindings } from "./manual-checks.ts";
import { nameFindings } from "./name-checks.ts";
import { podFindings } from "./pod-checks.ts";
import { portFindings } from "./port-checks.ts";
import { selectorFindings } from "./selector-checks.ts";
import { sliceFindings } from "./slice-checks.ts";
import { type ClusterSnapshot, Scene } from "./snapshot.ts";
import { type Subject, subjectOf } from "./subject.ts";
import { trafficFindings } from "./traffic-checks.ts";

export interface ExplainTarget {
	readonly namespace: string;
	readonly name: string;
	/** Where the client is that asks: what is local there, and which hints hold. */
	readonly from?: ClientOrigin;
}

export interface Explanation {
	/** `namespace/name` */
	readonly service: string;
	/** The finding that decides; undefined: nothing stands between the Service and its endpoints. */
	readonly cause: Finding | undefined;
	/** All of them, the one that decides first. */
	readonly findings: readonly Finding[];
	/** Empty in lists of many. */
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
	explainAll(from?: ClientOrigin): readonly Explanation[] {
		const place = clientPlace(this.#scene, from);
		const all = this.#scene.snapshot.services.map(({ metadata }) =>
			this.#found(metadata.namespace ?? "", metadata.name, place),
		);
		return all.sort((a, b) => weight(a) - weight(b));
	}

	explain(target: ExplainTarget): Explanation {
		const place = clientPlace(this.#scene, target.from);
		const found = this.#found(target.namespace, target.name, place);
		const service = this.#scene.service(found.service);
		return service === undefined ? found : { ...found, chain: chainOf(subjectOf(this.#scene, service, place)) };
	}

	#found(namespace: string, name: string, place: ClientPlace): Explanation {
		const key = `${namespace}/${name}`;
		const { missing } = this.#scene.snapshot;
		const service = this.#scene.service(key);
		if (service === undefined) {
			const findings = [absent(this.#scene, namespace, name), ...leftOver(this.#scene.slicesOf(key))];
			return { service: key, cause: findings[0], findings, chain: [], missing };
		}
		const subject = subjectOf(this.#scene, service, place);
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

function absent(scene: Scene, namespace: string, name: string): Finding {
	const elsewhere = scene.snapshot.services.filter(({ metadata }) => metadata.name === name);
	const others = elsewhere.map(({ metadata }) => metadata.namespace ?? "").sort();
	const there = others.length === 0 ? "" : ` There is one in ${few(others)}.`;
	return finding(
		"service-does-not-exist",
		`There is no Service ${name} in namespace ${namespace}.${there}`,
		[{ object: `Service/${name}`, field: "metadata.namespace", value: namespace }],
		kubectl(["get", "services", "-A", "--field-selector", `metadata.name=${name}`]),
	);
}

function leftOver(slices: readonly EndpointSlice[]): readonly Finding[] {
	const [first] = slices;
	if (first === undefined) return [];
	const { name, namespace = "" } = first.metadata;
	const at = { object: `EndpointSlice/${name}`, field: `metadata.labels[${SERVICE_NAME_LABEL}]` };
	const text = `EndpointSlice/${name} is labelled for the Service that is not there.`;
	return [finding("slice-left-over", text, [at], kubectl(["-n", namespace, "delete", "endpointslice", name]))];
}
