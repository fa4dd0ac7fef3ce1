/**
 * A Deployment whose ReplicaSets do at once what they are told, as long as nothing becomes available before
 * the test says so: rollouts as sequences of sizes.
 */
import type { Deployment, ReplicaSet } from "../api/types/apps.ts";
import { deepEqual } from "../kernel/json.ts";
import { type DeploymentPlan, planDeployment } from "../plan/workloads/deployment.ts";
import { generationsOf } from "../plan/workloads/deployment-replica-sets.ts";
import { BORN } from "./builders.ts";
import { storedSet } from "./workloads.ts";

/** Syncs without a decision after which a rollout counts as at rest. */
const SYNCS_MAX = 200;

export class RolloutModel {
	deployment: Deployment;
	sets: ReplicaSet[] = [];
	nowMs: number = Date.parse(BORN);
	#made = 0;

	constructor(deployment: Deployment) {
		this.deployment = deployment;
	}

	/** One sync, whose writes are stored. */
	sync(): DeploymentPlan {
		const { deployment, sets: replicaSets, nowMs } = this;
		const plan = planDeployment({ deployment, replicaSets, podsOf: () => [], nowMs });
		for (const { next } of plan.updates) this.#store(next);
		if (plan.create !== undefined) this.sets.push(storedSet(plan.create, this.#made++));
		this.sets = this.sets.filter((set) => !plan.deletes.includes(set));
		if (plan.next !== undefined) this.deployment = plan.next;
		return plan;
	}

	/** Every Pod of every ReplicaSet is there and available, and what was given up is gone. */
	makeAvailable(): void {
		for (const set of this.sets) {
			const replicas = set.spec.replicas ?? 0;
			const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas };
			this.#store({ ...set, status: { ...set.status, ...counts } });
		}
	}

	/** Syncs until nothing changes, with Pods becoming available whenever nothing else moves. */
	complete(): void {
		for (let i = 0; i < SYNCS_MAX; i++) {
			const plan = this.sync();
			if (plan.create !== undefined || plan.updates.length > 0) continue;
			const before = this.sets;
			this.makeAvailable();
			if (plan.next === undefined && plan.deletes.length === 0 && deepEqual(before, this.sets)) return;
		}
		throw new Error(`still moving after ${SYNCS_MAX} syncs: ${JSON.stringify(this.sizes())}`);
	}

	/** Changes the spec, as a user does. */
	change(spec: Partial<Deployment["spec"]>): void {
		const { metadata } = this.deployment;
		const generation = (metadata.generation ?? 1) + 1;
		this.deployment = {
			...this.deployment,
			metadata: { ...metadata, generation },
			spec: { ...this.deployment.spec, ...spec },
		};
	}

	/** Sizes as `new 52 + old 154`, with every old ReplicaSet that has one. */
	sizes(): { readonly new: number; readonly old: number } {
		const { newSet, oldSets } = generationsOf(this.deployment, this.sets);
		const old = oldSets.reduce((total, { spec }) => total + (spec.replicas ?? 0), 0);
		return { new: newSet?.spec.replicas ?? 0, old };
	}

	/** The rollout to its end: `new 1 + old 3 → new 2 → avail → old 1`. */
	sequence(): string {
		const steps: string[] = [];
		let before = this.sizes();
		for (let syncs = 0; syncs < SYNCS_MAX; syncs++) {
			this.sync();
			const after = this.sizes();
			const changed = [
				...(after.new === before.new ? [] : [`new ${after.new}`]),
				...(after.old === before.old ? [] : [`old ${after.old}`]),
			];
			before = after;
			if (changed.length > 0) steps.push(changed.join(" + "));
			else if (steps.at(-1) === "avail") return steps.slice(0, -1).join(" → ");
			else {
				this.makeAvailable();
				steps.push("avail");
			}
		}
		throw new Error(`no end in sight: ${steps.join(" → ")}`);
	}

	#store(next: ReplicaSet): void {
		const shrunk = Math.min(next.spec.replicas ?? 0, next.status?.availableReplicas ?? 0);
		const replicas = next.spec.replicas ?? 0;
		// What is given up leaves the counts at once; what is new counts as a Pod, though not as available.
		const status = { ...next.status, replicas, readyReplicas: shrunk, availableReplicas: shrunk };
		this.sets = this.sets.map((set) => (set.metadata.uid === next.metadata.uid ? { ...next, status } : set));
	}
}
