/** Expectations of what `explain` says. */
import {
	DEPLOYMENTS,
	ENDPOINT_SLICES,
	ENDPOINTS,
	NODES,
	PODS,
	REPLICA_SETS,
	SERVICES,
	STATEFUL_SETS,
} from "../../api/resource-names.ts";
import type { Endpoints, Node, Pod, Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { explainService } from "../../explain/explain.ts";
import { explanationText } from "../../explain/render.ts";
import type { ClusterSnapshot, Workload } from "../../explain/snapshot.ts";
import type { ExplainExpectation } from "../format/expectations.ts";
import type { ScenarioRun } from "../run.ts";
import { type Problem, unless } from "./verdict.ts";

const NAMESPACE = "demo";
/** Wide enough that no text is broken. */
const WIDTH = 10_000;

export function judgeExplain(run: ScenarioRun, wanted: ExplainExpectation, path: string): readonly Problem[] {
	const {
		service: name,
		ns: namespace = NAMESPACE,
		from_node: fromNode,
		cause,
		warning,
		must_say,
		must_not_say,
	} = wanted;
	const found = explainService(snapshotOf(run), { namespace, name, ...(fromNode === undefined ? {} : { fromNode }) });
	const text = explanationText(found, { width: WIDTH, isColoured: false }).toLowerCase();
	const says = (words: string): boolean => text.includes(words.toLowerCase());
	const names = found.findings.map((each) => each.name);
	return [
		...unless(
			cause === undefined || (found.cause?.name ?? "ok") === cause,
			`${path}.cause`,
			cause,
			found.cause?.name ?? "ok",
		),
		...unless(warning === undefined || names.some((each) => each === warning), `${path}.warning`, warning, names),
		...(must_say ?? []).flatMap((words, at) => unless(says(words), `${path}.must_say[${at}]`, words, text)),
		...(must_not_say ?? []).flatMap((words, at) =>
			unless(!says(words), `${path}.must_not_say[${at}]`, `not ${words}`, text),
		),
	];
}

function snapshotOf({ plane }: ScenarioRun): ClusterSnapshot {
	return {
		services: plane.stored(SERVICES) as readonly Service[],
		pods: plane.stored(PODS) as readonly Pod[],
		endpoints: plane.stored(ENDPOINTS) as readonly Endpoints[],
		slices: plane.stored(ENDPOINT_SLICES) as readonly EndpointSlice[],
		nodes: plane.stored(NODES) as readonly Node[],
		workloads: [DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS].flatMap((resource) =>
			plane.stored(resource),
		) as readonly Workload[],
		missing: [],
	};
}
