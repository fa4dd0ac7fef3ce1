/** Faults of the plane that begin at random, and end some steps later. */

import type { Resource } from "../../api/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, REPLICA_SETS, SERVICES } from "../../api/resource-names.ts";
import type { Controllers } from "../../scenario/plane/controllers.ts";
import type { ScenarioPlane } from "../../scenario/plane/scenario-plane.ts";
import type { ClusterModel } from "./cluster-model.ts";
import type { Dice } from "./dice.ts";
import type { Tampering } from "./tampering.ts";
import type { Watchers } from "./watchers.ts";

export interface FaultTargets {
	readonly plane: ScenarioPlane;
	readonly model: ClusterModel;
	readonly watchers: Watchers;
	readonly tampering: Tampering;
	readonly dice: Dice;
	did(text: string): void;
}

type FaultName = keyof typeof WEIGHTS;

const WEIGHTS = {
	watchesCut: 3,
	everyWatchCut: 1,
	repliesLost: 4,
	replyHeld: 4,
	requestsFail: 4,
	informerLags: 5,
	controllersPaused: 2,
	controllersKilled: 3,
	collectorKilled: 1,
	collectorPaused: 2,
	apiStopped: 2,
	historyCompacted: 3,
} as const;

const LAGGING: readonly Resource[] = [PODS, SERVICES, ENDPOINT_SLICES, ENDPOINT_SLICES, ENDPOINTS, NODES, REPLICA_SETS];
const CODES = [409, 500, 503, 429];
const STEPS_MAX = 25;
const FAILING_MS_MAX = 8_000;
/** So much of the past is kept at least, so that not every watch that resumes must list. */
const KEPT_REVISIONS_MAX = 60;

interface Running {
	readonly name: FaultName;
	readonly untilStep: number;
	end(): void | Promise<void>;
}

export class FaultSchedule {
	/** Faults so far. */
	count = 0;
	readonly #targets: FaultTargets;
	#running: Running[] = [];

	constructor(targets: FaultTargets) {
		this.#targets = targets;
	}

	async begin(step: number): Promise<void> {
		const { dice, did } = this.#targets;
		const name = dice.weighted(WEIGHTS);
		// Two of a kind would end each other.
		if (this.#running.some((running) => running.name === name)) return;
		this.count++;
		did(`fault ${name}`);
		const end = await this.#faults[name]();
		if (end !== undefined) this.#running.push({ name, untilStep: step + 1 + dice.below(STEPS_MAX), end });
	}

	async endDue(step: number): Promise<void> {
		const due = this.#running.filter(({ untilStep }) => untilStep <= step);
		this.#running = this.#running.filter(({ untilStep }) => untilStep > step);
		for (const { name, end } of due) {
			this.#targets.did(`fault ${name} ends`);
			await end();
		}
	}

	/** The plane is whole again. */
	async endAll(): Promise<void> {
		await this.endDue(Number.POSITIVE_INFINITY);
		this.#targets.plane.serverFaults.heal();
		for (const { faults } of this.#targets.plane.components) faults.heal();
	}

	/** Another process takes over, which knows nothing. */
	async restart(component: Controllers): Promise<void> {
		await this.#kill(component);
		this.#start(component);
	}

	readonly #faults: Readonly<Record<FaultName, () => Promise<Running["end"] | undefined>>> = {
		watchesCut: async () => {
			this.#targets.dice.of(this.#targets.plane.components).breakWatches();
			return undefined;
		},
		everyWatchCut: async () => {
			for (const component of this.#targets.plane.components) component.breakWatches();
			await this.#targets.watchers.breakAll();
			return undefined;
		},
		repliesLost: async () => {
			this.#component().faults.loseReplies(1 + this.#targets.dice.below(3));
			return undefined;
		},
		replyHeld: async () => {
			const { faults } = this.#component();
			faults.holdReply(() => true);
			return () => faults.releaseReply();
		},
		requestsFail: async () => {
			const { plane, dice } = this.#targets;
			const verb = dice.of([undefined, undefined, "list", "watch"] as const);
			plane.serverFaults.fail({
				code: dice.of(CODES),
				for: 500 + dice.below(FAILING_MS_MAX),
				times: 1 + dice.below(30),
				...(verb === undefined ? {} : { verb }),
			});
			if (dice.chance(0.5)) this.#component().breakWatches();
			return undefined;
		},
		informerLags: async () => {
			const { faults } = this.#component();
			faults.lag(this.#targets.dice.of(LAGGING));
			return () => faults.releaseLag();
		},
		controllersPaused: async () => this.#pause(this.#targets.plane.controllers),
		controllersKilled: () => this.#killFor(this.#targets.plane.controllers),
		collectorKilled: () => this.#killFor(this.#targets.plane.garbageCollector),
		collectorPaused: async () => this.#pause(this.#targets.plane.garbageCollector),
		apiStopped: async () => {
			const { plane, watchers } = this.#targets;
			plane.setStopped(true);
			await watchers.breakAll();
			return () => plane.setStopped(false);
		},
		historyCompacted: async () => {
			const { plane, model, dice } = this.#targets;
			const revision = Math.max(model.compacted, model.revision - dice.below(KEPT_REVISIONS_MAX));
			model.compacted = revision;
			plane.server.store.view.compact(revision);
			if (dice.chance(0.5)) for (const component of plane.components) component.breakWatches();
			return undefined;
		},
	};

	/** Mostly the controllers: they write most. */
	#component(): Controllers {
		const { plane, dice } = this.#targets;
		return dice.chance(0.8) ? plane.controllers : plane.garbageCollector;
	}

	#pause({ faults }: Controllers): Running["end"] {
		faults.pause.close();
		return () => faults.pause.open();
	}

	async #killFor(component: Controllers): Promise<Running["end"]> {
		await this.#kill(component);
		return () => this.#start(component);
	}

	/** At whatever call it is: no answer comes back. */
	async #kill(component: Controllers): Promise<void> {
		component.faults.cut();
		await component.stop();
		component.faults.restore();
	}

	#start(component: Controllers): void {
		if (component === this.#targets.plane.controllers) this.#targets.tampering.forget();
		component.start();
	}
}
