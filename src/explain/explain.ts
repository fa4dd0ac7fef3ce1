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
import { type Finding, few, finding, type Verdict, verdictOf } from "./finding.ts";
import { kubectl } from "./fix.ts";
import { manualFindings } from "./manual-checks.ts";
import { nameFindings, serviceBehind } from "./name-checks.ts";
import { podFindings } from "./pod-checks.ts";
import { portFindings } from "./port-checks.ts";
import { labelFindings, reachFindings } from "./reach-checks.ts";
import { selectorFindings } from "./selector-checks.ts";
import { sliceFindings } from "./slice-checks.ts";
import { type ClusterSnapshot, Scene } from "./snapshot.ts";
import { type Subject, serviceName, subjectOf } from "./subject.ts";
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
	readonly verdict: Verdict;
	/** Of verdict `unknown`: what was not looked at, a sentence. */
	readonly unknown?: string;
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

	/** Whether all Services were looked at, or those of the namespace. */
	isSighted(namespace?: string): boolean {
		return this.#scene.has("Service", namespace);
	}

	/** Every Service, or those of a namespace, those in trouble first; without the chain of each. */
	explainAll(from?: ClientOrigin, namespace?: string): readonly Explanation[] {
		const place = clientPlace(this.#scene, from);
		const all = this.#scene.snapshot.services
			.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
			.map(({ metadata }) => this.#found(metadata.namespace ?? "", metadata.name, place));
		return all.sort((a, b) => weight(a) - weight(b));
	}

	explain(target: ExplainTarget): Explanation {
		const place = clientPlace(this.#scene, target.from);
		const found = this.#found(target.namespace, target.name, place);
		const service = this.#scene.service(found.service);
		return service === undefined ? found : { ...found, chain: chainOf(subjectOf(this.#scene, service, place)) };
	}

	/** @param hops Names that have led here. */
	#found(namespace: string, name: string, place: ClientPlace, hops = 0): Explanation {
		const key = `${namespace}/${name}`;
		const service = this.#scene.service(key);
		if (service === undefined) {
			if (!this.#scene.has("Service", namespace)) return this.#told(key, [], unseen("Services"));
			return this.#told(key, [absent(this.#scene, namespace, name), ...leftOver(this.#scene.slicesOf(key))]);
		}
		const subject = subjectOf(this.#scene, service, place);
		const named = CHECKS.flatMap((check) => check(subject));
		const behind = hops < HOPS_MAX && !named.some(isError) ? this.#behind(subject, place, hops) : [];
		const findings = [...named, ...behind, ...reachFindings(subject, named.some(isError))];
		const isBlind = service.spec.type !== "ExternalName" && !this.#scene.has("EndpointSlice", namespace);
		return this.#told(key, findings, isBlind ? unseen("EndpointSlices") : undefined);
	}

	#told(service: string, found: readonly Finding[], unknown?: string): Explanation {
		const sorted = [...found].sort((a, b) => RANK[a.severity] - RANK[b.severity]);
		const cause = sorted.find(decides);
		const findings = cause === undefined ? sorted : [cause, ...sorted.filter((each) => each !== cause)];
		const verdict = verdictOf(cause, findings, unknown !== undefined);
		return {
			service,
			verdict,
			...(verdict === "unknown" ? { unknown: unknown ?? "" } : {}),
			cause,
			findings,
			chain: [],
			missing: this.#scene.snapshot.missing,
		};
	}

	/** What is in the way of the Service that another name stands for. */
	#behind(subject: Subject, place: ClientPlace, hops: number): readonly Finding[] {
		const key = serviceBehind(subject);
		const target = key === undefined ? undefined : this.#scene.service(key);
		if (key === undefined || target === undefined) return [];
		const { namespace = "", name } = target.metadata;
		const { cause, verdict } = this.#found(namespace, name, place, hops + 1);
		if (cause === undefined || verdict !== "error") return [];
		const { externalName = "" } = subject.service.spec;
		return [
			finding(
				"externalname-target-in-trouble",
				`The Service is another name for ${key}, which has ${cause.code} ${cause.name}: ${cause.text}`,
				[
					{ object: serviceName(subject), field: "spec.externalName", value: externalName },
					...cause.evidence.map((each) => ({ namespace, ...each })),
				],
				cause.fix,
			),
		];
	}
}

/** Names of names that are longer are none that people make. */
const HOPS_MAX = 16;

function unseen(kinds: string): string {
	return `${kinds} were not looked at`;
}

function isError({ severity }: Finding): boolean {
	return severity === "error";
}

const CHECKS: readonly ((subject: Subject) => readonly Finding[])[] = [
	selectorFindings,
	podFindings,
	portFindings,
	labelFindings,
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

const WEIGHT: Readonly<Record<Verdict, number>> = { error: 0, unknown: 1, warning: 2, ok: 3 };

function weight({ verdict }: Explanation): number {
	return WEIGHT[verdict];
}

function absent(scene: Scene, namespace: string, name: string): Finding {
	const elsewhere = scene.snapshot.services.filter(({ metadata }) => metadata.name === name);
	const others = elsewhere.map(({ metadata }) => metadata.namespace ?? "").sort();
	const there = others.length === 0 ? "" : ` There is one in ${few(others)}.`;
	const isOdd = scene.isEmptyNamespace(namespace);
	const odd = isOdd ? ` Nothing else that was looked at is in that namespace: does it exist?` : "";
	return finding(
		"service-does-not-exist",
		`There is no Service ${name} in namespace ${namespace}.${there}${odd}`,
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
