/**
 * A whole plane under users, faults and watchers, all of them made from one seed, on virtual time.
 *
 *     const { violations, hash } = await simulate({ seed: 1, steps: 500 });
 *
 * The same seed and number of steps give the same history, to the byte: `hash` is of all of it.
 */

import { isObject } from "../../kernel/json.ts";
import { ScenarioPlane } from "../../scenario/plane/scenario-plane.ts";
import type { Revision } from "../../store/entry.ts";
import type { Store } from "../../store/store.ts";
import { SeededRandom } from "../seeded.ts";
import type { TestServer } from "../test-server.ts";
import { VirtualClock } from "../virtual-clock.ts";
import { createNamespace, createNode } from "./cluster-changes.ts";
import { ClusterModel } from "./cluster-model.ts";
import { CommitRules } from "./commit-rules.ts";
import { Dice } from "./dice.ts";
import { FaultSchedule } from "./fault-schedule.ts";
import { History } from "./history.ts";
import { ListReader } from "./list-reader.ts";
import { operate } from "./operations.ts";
import { recordedStore } from "./recording-engine.ts";
import { checkAtRest, type RestPorts } from "./rest.ts";
import { Tampering } from "./tampering.ts";
import { USER_NAMESPACES, User } from "./user.ts";
import { Verdict, type Violation } from "./verdict.ts";
import { Watchers } from "./watchers.ts";

export interface SimulationOptions {
	readonly seed: number;
	/** Operations of users, those at once counted as one. Default 500. */
	readonly steps?: number;
}

export interface SimulationResult {
	readonly seed: number;
	/** Nothing, when every promise was kept. */
	readonly violations: readonly Violation[];
	/** Of the whole history. */
	readonly hash: string;
	/** The end of the history: who did what, with virtual milliseconds. */
	readonly history: readonly string[];
	readonly faults: number;
	readonly commits: number;
}

export const STEPS_DEFAULT = 500;
const START_REVISION: Revision = 100;
/** Small, so that there are many slices. */
const ENDPOINTS_PER_SLICE_MAX = 4;
/**
 * A controller whose cache lags makes again what the collector deletes, as fast as both can: without it no virtual time
 * would pass meanwhile, and with less of it a watch that waits half a minute costs thousands of rounds.
 */
const COLLECTOR_LATENCY_MS = 100;
/** A fault begins every so many steps. */
const STEPS_PER_FAULT = 14;
/** How often the plane comes to rest. */
const RESTS = 3;

interface Stage extends RestPorts {
	readonly dice: Dice;
	readonly lists: ListReader;
	readonly server: TestServer;
}

export async function simulate({ seed, steps = STEPS_DEFAULT }: SimulationOptions): Promise<SimulationResult> {
	const dice = new Dice(new SeededRandom(Math.imul(seed, 0x9e3779b1)));
	const record = new CommitRecord();
	const tampering = new Tampering();
	const plane = await ScenarioPlane.start({
		seed,
		maxEndpointsPerSlice: ENDPOINTS_PER_SLICE_MAX,
		store: record.store,
		collectorLatencyMs: COLLECTOR_LATENCY_MS,
		wrote: (_verb, answer) => tampering.wrote(uidOf(answer)),
	});
	record.follow(plane.clock);
	const { model, verdict, history } = record;
	const did = (text: string): void => history.add(text);
	const ports = { server: plane.server, model, verdict, told: did };
	const watchers = new Watchers(ports, dice, USER_NAMESPACES);
	const user = new User({ client: plane.server.client, clock: plane.clock, model, dice, verdict, tampering, did });
	const faults = new FaultSchedule({ plane, model, watchers, tampering, dice, did });
	const stage: Stage = {
		plane,
		user,
		faults,
		watchers,
		verdict,
		dice,
		server: plane.server,
		lists: new ListReader(ports, dice, USER_NAMESPACES),
		endpointsPerSliceMax: ENDPOINTS_PER_SLICE_MAX,
		commits: () => record.commits,
	};
	await furnish(stage);
	await play(stage, steps);
	await watchers.stop();
	await faults.endAll();
	// No time passes any more: a write that is on its way would never arrive.
	for (const component of plane.components) component.faults.cut();
	await plane.stop();
	return {
		seed,
		violations: verdict.violations,
		history: history.end(),
		hash: history.hash(),
		faults: faults.count,
		commits: record.commits,
	};
}

async function furnish({ plane, user, watchers }: Stage): Promise<void> {
	for (const name of USER_NAMESPACES.slice(1)) await createNamespace(user, name);
	for (const name of ["n1", "n2", "n3"]) await createNode(user, name);
	plane.startControllers();
	await plane.clock.settle();
	await watchers.start();
}

async function play(stage: Stage, steps: number): Promise<void> {
	const { faults, user, verdict } = stage;
	const restEvery = Math.max(1, Math.ceil(steps / RESTS));
	for (let step = 1; step <= steps && !verdict.isBroken; step++) {
		await faults.endDue(step);
		if (step % STEPS_PER_FAULT === 0) await faults.begin(step);
		await operate(user);
		await meanwhile(stage);
		if (step % restEvery === 0 || step === steps) await checkAtRest(stage);
	}
}

/** Readers read, and time passes, or not. */
async function meanwhile({ dice, watchers, lists, plane }: Stage): Promise<void> {
	if (dice.chance(0.12)) await watchers.step();
	if (dice.chance(0.12)) await lists.step();
	if (dice.chance(0.25)) watchers.read();
	const roll = dice.below(10);
	if (roll < 2) await plane.clock.settle();
	else if (roll < 4) await plane.clock.advance(dice.below(1500));
}

/** The store, and everything that is known of its commits. */
class CommitRecord {
	readonly model: ClusterModel = new ClusterModel(START_REVISION);
	readonly store: Store = recordedStore(START_REVISION, (revision, writes) => {
		const events = this.model.apply(revision, writes);
		this.#rules.check(revision, events);
		for (const { space, key, isDeletion, object } of events) {
			if (space !== "/registry/events/") this.commits++;
			const text = `${isDeletion ? "delete" : "put"} ${space}${key} @${revision}`;
			this.history.add(text, JSON.stringify(object));
		}
	});
	/** Writes of objects so far, Events left out. */
	commits = 0;
	#clock: VirtualClock = new VirtualClock();
	readonly history: History = new History(() => this.#clock.monotonicMs());
	readonly verdict: Verdict = new Verdict(() => this.#clock.monotonicMs());
	readonly #rules: CommitRules = new CommitRules(this.verdict);

	/** The time of the plane, once it is there. */
	follow(clock: VirtualClock): void {
		this.#clock = clock;
	}
}

/** "" of an answer that is no object. */
function uidOf(answer: unknown): string {
	if (!isObject(answer) || !isObject(answer["metadata"])) return "";
	return String(answer["metadata"]["uid"] ?? "");
}
