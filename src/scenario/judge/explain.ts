/** Expectations of what `explain` says. */
import { explainService } from "../../explain/explain.ts";
import { explanationText } from "../../explain/render.ts";
import { snapshotOf } from "../../explain/snapshot.ts";
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
	const found = explainService(
		snapshotOf((resource) => run.plane.stored(resource)),
		{ namespace, name, ...(fromNode === undefined ? {} : { from: { kind: "node", name: fromNode } as const }) },
	);
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
