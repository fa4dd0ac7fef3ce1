/**
 * Runs one scenario on virtual time.
 *
 *     const result = await runScenario(readFileSync("lag.yaml", "utf8"));
 *     // result.kind === "passed"
 */
import type { Expectations } from "./format/expectations.ts";
import { type Given, parseScenario, readStep, type Scenario } from "./format/scenario-file.ts";
import type { Step, StepValues } from "./format/steps.ts";
import type { FileProblem } from "./format/yaml-text.ts";
import { judged, verdictOf } from "./judge/judge.ts";
import type { Kubectl } from "./judge/kubectl.ts";
import type { Problem, Verdict } from "./judge/verdict.ts";
import { withOnlyClusterIP } from "./objects/drafts.ts";
import { withTexts } from "./objects/repeat.ts";
import { ScenarioPlane } from "./plane/scenario-plane.ts";
import type { Trace } from "./plane/trace.ts";
import { ScenarioRun } from "./run.ts";
import { doStep } from "./steps/do-step.ts";
import { writeStartState } from "./steps/start-state.ts";

export interface RunOptions {
	/** Of names that the server makes. Default 1. */
	readonly seed?: number;
	/** Runs what is expected of a real kubectl. Absent: such expectations are pending. */
	readonly kubectl?: Kubectl;
	/** Called when the last step is done, or the one that cannot be, while its plane still stands. */
	readonly atEnd?: (run: ScenarioRun) => void;
}

/** What did not hold of one assertion: a `check`, or `expect` at the end. */
export interface StepProblem extends Problem {
	/** `steps[3].check.slices[0].exact`, `expect.http.code`. */
	readonly path: string;
	/** What happened before, the last thing last. */
	readonly history: readonly string[];
}

/** Lines of history told with a problem. */
const HISTORY_LINES = 25;

export type ScenarioResult = {
	/** The number of the scenario, when it has one, and its title; absent when the file cannot be read. */
	readonly id?: string;
	readonly title?: string;
	/** Virtual time that the run took. */
	readonly virtualMs: number;
	/** Every write and watch event, as it happened. */
	readonly trace: Trace | undefined;
} & (
	| { readonly kind: "passed" }
	| { readonly kind: "failed"; readonly problems: readonly StepProblem[]; readonly pending: readonly string[] }
	/** Nothing failed; these parts, which it is about, are not built yet. */
	| { readonly kind: "pending"; readonly pending: readonly string[] }
	| { readonly kind: "unreadable"; readonly faults: readonly FileProblem[] }
);

/**
 * Runs a scenario file's text on virtual time. The same text and seed give the same result, to the byte of the trace.
 *
 * Never rejects for what is in the text: a file that cannot be read is a result, too.
 *
 * @see docs/scenarios.md for the format.
 * @example
 *     const result = await runScenario(`
 *     title: a Service without Pods has a slice without endpoints
 *     given: {services: [{name: web, selector: {app: web}, ports: [{port: 80}]}]}
 *     steps: [{settle: true}]
 *     expect: {slices: [{service: web, exact: [{endpoints: []}]}]}
 *     `);
 *     assert.equal(result.kind, "passed");
 */
export async function runScenario(text: string, options: RunOptions = {}): Promise<ScenarioResult> {
	const parsed = parseScenario(text);
	if (parsed.kind === "problems")
		return { kind: "unreadable", faults: parsed.problems, virtualMs: 0, trace: undefined };
	const { scenario } = parsed;
	const { maxEndpointsPerSlice = 100 } = scenario.given.controller ?? {};
	const plane = await ScenarioPlane.start({ seed: options.seed ?? 1, maxEndpointsPerSlice });
	try {
		const given = withExpanded(scenario.given);
		const run = new ScenarioRun(plane, given);
		const verdict = await played(run, scenario, options.kubectl);
		options.atEnd?.(run);
		return { ...resultOf(scenario, verdict), virtualMs: plane.clock.monotonicMs(), trace: plane.trace };
	} finally {
		await plane.stop();
	}
}

interface Played {
	readonly problems: readonly StepProblem[];
	readonly pending: readonly string[];
}

function resultOf({ id, title }: Scenario, { problems, pending }: Played) {
	const about = { title, ...(id === undefined ? {} : { id }) };
	const parts = [...new Set(pending)];
	if (problems.length > 0) return { kind: "failed", ...about, problems, pending: parts } as const;
	if (parts.length > 0) return { kind: "pending", ...about, pending: parts } as const;
	return { kind: "passed", ...about } as const;
}

function withExpanded(given: Given): Given {
	return { ...given, services: withOnlyClusterIP(given.services ?? []) };
}

/** To the end, or to the first step that cannot be done; assertions that fail do not stop it. */
async function played(run: ScenarioRun, scenario: Scenario, kubectl: Kubectl | undefined): Promise<Played> {
	const { steps, expect } = scenario;
	const problems: StepProblem[] = [];
	const pending: string[] = [];
	const note = (verdict: Verdict, at: string): void => {
		const history = verdict.problems.length === 0 ? [] : historyOf(run);
		problems.push(...verdict.problems.map((each) => ({ ...each, path: `${at}${each.path}`, history })));
		pending.push(...verdict.pending);
	};
	const judge = async (expected: Expectations, at: string): Promise<void> =>
		note(await judged(run, expected, kubectl), `${at}.`);
	let path = "given";
	try {
		await writeStartState(run, scenario);
		for (const [index, step] of steps.entries()) {
			path = `steps[${index}]`;
			run.plane.trace.did(`${path} ${step.key}`);
			await playStep(run, step, path, judge);
		}
		await judge(expect, "expect");
	} catch (error) {
		note(verdictOf(error), path);
	}
	return { problems, pending };
}

/** Without what only the garbage collector and the API server's own parts saw. */
function historyOf({ plane }: ScenarioRun): readonly string[] {
	const told = plane.trace.history().filter((line) => !/^\S+ (garbage-collector|apiserver) saw /.test(line));
	return told.slice(-HISTORY_LINES);
}

type JudgeAt = (expected: Expectations, path: string) => Promise<void>;

async function playStep(run: ScenarioRun, step: Step, path: string, judge: JudgeAt): Promise<void> {
	if (step.key === "check") await judge(step.value, `${path}.check`);
	else if (step.key === "for_each") await playEach(run, step.value, path, judge);
	else await doStep(run, step);
}

async function playEach(
	run: ScenarioRun,
	{ value, create, check }: StepValues["for_each"],
	path: string,
	judge: JudgeAt,
): Promise<void> {
	for (const each of value) {
		const filled = (part: unknown): unknown => withTexts(part, (text) => text.replaceAll("{value}", each));
		for (const step of [{ create: filled(create) }, { check: filled(check) }].map(readStep)) {
			await playStep(run, step, `${path} ${each}`, judge);
		}
	}
}
