/** Judges expectations against what a run has come to. */
import type { ExpectationKey, Expectations, KubectlExpectation } from "../format/expectations.ts";
import { type ScenarioRun, StepError } from "../run.ts";
import { judgeDns } from "./dns.ts";
import { judgeEndpoints } from "./endpoints.ts";
import { judgeExplain } from "./explain.ts";
import type { Kubectl } from "./kubectl.ts";
import { judgeObjects, judgeSaved, judgeUnique } from "./objects.ts";
import {
	judgeAffinityRecord,
	judgeFlows,
	judgeHttpOnNode,
	judgeKernelOrder,
	judgeProxy,
	judgeRuleset,
	judgeSavedRuleset,
	judgeSysctl,
} from "./proxy.ts";
import { judgeEvents, judgeHealth, judgeLog, judgeRetrying, judgeWrites } from "./records.ts";
import { judgeReply, judgeStream } from "./replies.ts";
import { judgeSlices } from "./slices.ts";
import type { Problem, Verdict } from "./verdict.ts";

/** How long an assertion may take to become true when the scenario does not say: a person would look twice. */
const PATIENCE_MS = 5_000;

/** Part of the plane that an expectation is about and that is not built yet. */
interface Pending {
	readonly pending: string;
}

type Judge<K extends ExpectationKey> = (
	run: ScenarioRun,
	wanted: NonNullable<Expectations[K]>,
) => readonly (Problem | Pending)[];

const awaits =
	(subject: string): (() => readonly Pending[]) =>
	() => [{ pending: subject }];

const client = awaits("client library");

/** What has to be waited for, and is judged last: `kubectl` is a process of its own. */
type AskedLater = "kubectl" | "dns";

/** By key of the format. */
const JUDGES: { readonly [K in Exclude<ExpectationKey, AskedLater>]: Judge<K> } = {
	slices: judgeSlices,
	endpoints: judgeEndpoints,
	objects: judgeObjects,
	saved: (run, wanted) =>
		Object.entries(wanted).flatMap(([name, state]): readonly (Problem | Pending)[] => judgeSavedAny(run, name, state)),
	unique: judgeUnique,
	writes: judgeWrites,
	events: judgeEvents,
	retrying: judgeRetrying,
	health: (run, wanted) => Object.entries(wanted).flatMap(([part, state]) => judgeHealth(run, part, state)),
	http: judgeReply,
	streams: (run, wanted) => Object.entries(wanted).flatMap(([name, stream]) => judgeStream(run, name, stream)),
	log: (run, wanted) => wanted.flatMap((line, index) => judgeLog(run, line, `log[${index}]`)),
	explain: (run, wanted) => wanted.flatMap((each, at) => judgeExplain(run, each, `explain[${at}]`)),
	proxy: (run, wanted) => wanted.flatMap((each, at) => judgeProxy(run, each, `proxy[${at}]`)),
	http_on_node: (run, wanted) => wanted.flatMap((each, at) => judgeHttpOnNode(run, each, `http_on_node[${at}]`)),
	conntrack_deleted: judgeFlows,
	kernel_order: judgeKernelOrder,
	ruleset: (run, wanted) => wanted.flatMap((each, at) => judgeRuleset(run, each, `ruleset[${at}]`)),
	affinity_records: (run, wanted) =>
		wanted.flatMap((each, at) => judgeAffinityRecord(run, each, `affinity_records[${at}]`)),
	sysctls: (_, wanted) => wanted.flatMap((each, at) => judgeSysctl(each, `sysctls[${at}]`)),
	dns_lookups: client,
	client_view: client,
	client_cache: client,
	client_events: client,
	client_list: client,
	client_warnings: client,
	requests: client,
	requests_begin: client,
};

function judgeSavedAny(run: ScenarioRun, name: string, state: "unchanged" | "same" | "gone"): readonly Problem[] {
	const ruleset = run.savedRulesets.get(name);
	return ruleset === undefined ? judgeSaved(run, name, state) : judgeSavedRuleset(run, name, ruleset, state);
}

/** Judges when all holds, or when time is up: what has a bound above is judged at the end. */
export async function judged(run: ScenarioRun, expected: Expectations, kubectl: Kubectl | undefined): Promise<Verdict> {
	const { waitMs = PATIENCE_MS } = run;
	run.waitMs = undefined;
	const holds = (): boolean => judgedNow(run, expected).problems.length === 0;
	await run.plane.clock.settle();
	if (!holds()) await run.plane.clock.until(holds, waitMs);
	const now = judgedNow(run, expected);
	const asked = await askedKubectl(kubectl, run, expected.kubectl ?? []);
	const named = await judgeDns(run, expected.dns ?? [], waitMs);
	return { problems: [...now.problems, ...named, ...asked.problems], pending: [...now.pending, ...asked.pending] };
}

function judgedNow(run: ScenarioRun, expected: Expectations): Verdict {
	const found = Object.entries(expected).flatMap(([key, wanted]) => {
		if (key === "kubectl" || key === "dns") return [];
		// The file was read by the shape of the key.
		const judge = JUDGES[key as Exclude<ExpectationKey, AskedLater>] as Judge<ExpectationKey>;
		return judge(run, wanted as never);
	});
	return {
		problems: found.filter((each): each is Problem => !("pending" in each)),
		pending: [...new Set(found.flatMap((each) => ("pending" in each ? [each.pending] : [])))],
	};
}

const NO_KUBECTL = "kubectl";

async function askedKubectl(
	kubectl: Kubectl | undefined,
	run: ScenarioRun,
	expected: readonly KubectlExpectation[],
): Promise<Verdict> {
	if (kubectl === undefined && expected.length > 0) return { problems: [], pending: [NO_KUBECTL] };
	const problems: Problem[] = [];
	for (const [index, wanted] of expected.entries()) {
		problems.push(...((await kubectl?.judge(run, wanted, `kubectl[${index}]`)) ?? []));
	}
	return { problems, pending: [] };
}

/** What a step that failed comes to. What is not told by the step itself is a fault of this program: its name helps. */
export function verdictOf(error: unknown): Verdict {
	const found = error instanceof StepError ? error.message : String(error);
	return { problems: [{ path: "", wanted: "the step to be done", found }], pending: [] };
}
