/** Keeps as many Pods as each ReplicaSet wants. */
import { matchesLabels, requirementsOf } from "../api/label-selector.ts";
import { controllerOf, keyOf, splitKey } from "../api/resource.ts";
import { PODS, REPLICA_SETS } from "../api/resource-names.ts";
import { hasCause } from "../api/status.ts";
import type { ReplicaSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import { deepEqual } from "../kernel/json.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { BY_NAMESPACE, type Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { hasEnded, isActive, mattersToWorkload } from "../plan/workloads/pod-state.ts";
import {
	planReplicaSet,
	podFromTemplate,
	type ReplicaSetPlan,
	recheckOfAvailabilityMs,
	replicaSetStatus,
} from "../plan/workloads/replica-set.ts";
import { claimObjects } from "./claim-objects.ts";
import { OwnerIndex } from "./owner-index.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { SeenWrites } from "./seen-writes.ts";
import { asError } from "./sync-error.ts";

const COMPONENT = "replicaset-controller";
const WORKERS = 5;
/** Should an event get lost, a ReplicaSet that waits to see its own writes looks again. */
const BEHIND_RECHECK_MS = 1_000;

export class ReplicaSetController implements Controller, Reconciler {
	readonly name = "replicaset-controller";
	readonly #ports: ControllerPorts;
	readonly #sets: Informer<ReplicaSet>;
	readonly #pods: Informer<Pod>;
	readonly #setOwners: OwnerIndex<ReplicaSet>;
	readonly #podOwners: OwnerIndex<Pod>;
	readonly #queue: WorkQueue<string>;
	readonly #writes = new SeenWrites();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#sets = ports.informers.of(REPLICA_SETS);
		this.#pods = ports.informers.of(PODS);
		this.#queue = ports.queues.make({ name: "replicaset" });
		this.#setOwners = new OwnerIndex(this.#sets);
		this.#podOwners = new OwnerIndex(this.#pods);
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		this.#sets.addHandlers({
			added: (set) => this.#queue.add(keyOf(set)),
			updated: (_old, set) => this.#queue.add(keyOf(set)),
			deleted: (set) => this.#queue.add(keyOf(set)),
		});
		this.#pods.addHandlers({
			added: (pod) => this.#enqueueOwner(pod),
			updated: (old, pod) => {
				if (!mattersToWorkload(old, pod)) return;
				this.#enqueueOwner(pod);
				if (controllerOf(old)?.uid !== controllerOf(pod)?.uid) this.#enqueueOwner(old);
			},
			deleted: (pod) => this.#enqueueOwner(pod),
		});
		await Promise.all([this.#sets.whenSynced(signal), this.#pods.whenSynced(signal)]).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
		const replicaSet = this.#sets.get(key);
		if (replicaSet === undefined) {
			this.#writes.forget(key);
			return SETTLED;
		}
		if (this.#writes.isBehind(key, this.#pods.asOf)) {
			return { kind: "recheck", afterMs: BEHIND_RECHECK_MS, why: "the cache of Pods lacks this controller's writes" };
		}
		const world = {
			replicaSet,
			pods: await this.#claimPods(key, replicaSet),
			podsOnNode: () => this.#podsOnNode(replicaSet),
			nowMs: this.#ports.clock.wallMs(),
		};
		const failure = await this.#applyPods(key, replicaSet, planReplicaSet(world), signal);
		const status = replicaSetStatus(world, failure?.message);
		if (!deepEqual(status, replicaSet.status)) await this.#writeStatus({ ...replicaSet, status });
		if (failure !== undefined) throw failure;
		const afterMs = recheckOfAvailabilityMs(world);
		return afterMs === undefined ? SETTLED : { kind: "recheck", afterMs, why: "a ready Pod is not available yet" };
	}

	/** Pods that have ended count for nothing: neither are they counted, nor deleted, nor claimed. */
	#claimPods(key: string, replicaSet: ReplicaSet): Promise<readonly Pod[]> {
		const candidates = this.#podOwners.claimable(replicaSet).filter((pod) => !hasEnded(pod));
		const { client } = this.#ports;
		const wrote = (version: string | undefined): void => this.#writes.wrote(key, version);
		const { selector } = replicaSet.spec;
		return claimObjects({ client, resource: REPLICA_SETS, owner: replicaSet, selector, wrote }, PODS, candidates);
	}

	/** The group of a Pod is every ReplicaSet of the same Deployment. */
	#podsOnNode(replicaSet: ReplicaSet): ReadonlyMap<string, number> {
		const deployment = controllerOf(replicaSet);
		const group = deployment === undefined ? [replicaSet] : this.#setOwners.ownedBy(deployment.uid);
		const counts = new Map<string, number>();
		for (const set of group) {
			for (const pod of this.#podOwners.ownedBy(set.metadata.uid)) {
				const { nodeName = "" } = pod.spec;
				if (isActive(pod)) counts.set(nodeName, (counts.get(nodeName) ?? 0) + 1);
			}
		}
		return counts;
	}

	#enqueueOwner(pod: Pod): void {
		const owner = controllerOf(pod);
		const namespace = pod.metadata.namespace ?? "";
		if (owner !== undefined) {
			if (owner.kind === REPLICA_SETS.kind) this.#queue.add(`${namespace}/${owner.name}`);
			return;
		}
		for (const set of this.#sets.index(BY_NAMESPACE, namespace)) {
			if (matchesLabels(requirementsOf(set.spec.selector), pod.metadata.labels)) this.#queue.add(keyOf(set));
		}
	}

	/** Resolves with the first failure, when not all of the plan could be done. */
	async #applyPods(
		key: string,
		replicaSet: ReplicaSet,
		{ creates, deletes }: ReplicaSetPlan,
		signal: AbortSignal,
	): Promise<Error | undefined> {
		if (creates > 0) return this.#create(key, replicaSet, creates, signal);
		const failures = await Promise.all(deletes.map((pod) => this.#delete(key, replicaSet, pod)));
		return failures.find((failure) => failure !== undefined);
	}

	/** In batches of 1, 2, 4 and so on: when the server refuses Pods, it is asked few times. */
	async #create(key: string, replicaSet: ReplicaSet, count: number, signal: AbortSignal): Promise<Error | undefined> {
		let left = count;
		for (let batch = 1; left > 0; batch = Math.min(batch * 2, left)) {
			signal.throwIfAborted();
			const answers = await Promise.all(Array.from({ length: batch }, () => this.#createOne(key, replicaSet)));
			left -= batch;
			const refusal = answers.find((answer) => answer !== undefined);
			if (refusal !== undefined) return refusal === "unwanted" ? undefined : refusal;
		}
		return undefined;
	}

	/** Resolves with why there is no Pod; "unwanted" where nothing is made any more, and that is right. */
	async #createOne(key: string, replicaSet: ReplicaSet): Promise<Error | "unwanted" | undefined> {
		const namespace = replicaSet.metadata.namespace ?? "";
		try {
			const pod = await this.#ports.client.create(PODS, namespace, podFromTemplate(replicaSet));
			this.#writes.wrote(key, pod.metadata.resourceVersion);
			this.#record(replicaSet, "Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
			return undefined;
		} catch (error) {
			if (hasCause(error, "NamespaceTerminating")) return "unwanted";
			const failure = asError(error);
			this.#record(replicaSet, "Warning", "FailedCreate", `Error creating: ${failure.message}`);
			return failure;
		}
	}

	async #delete(key: string, replicaSet: ReplicaSet, pod: Pod): Promise<Error | undefined> {
		try {
			const options = { preconditions: { uid: pod.metadata.uid } };
			const answer = await ignoreNotFound(this.#ports.client.delete(PODS, splitKey(keyOf(pod)), options));
			if (answer === undefined) return undefined;
			this.#writes.wrote(key, answer.metadata.resourceVersion);
			this.#record(replicaSet, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
			return undefined;
		} catch (error) {
			const failure = asError(error);
			this.#record(replicaSet, "Warning", "FailedDelete", `Error deleting: ${failure.message}`);
			return failure;
		}
	}

	async #writeStatus(next: ReplicaSet): Promise<void> {
		await ignoreNotFound(this.#ports.client.update(REPLICA_SETS, next, { subresource: "status" }));
	}

	#record(object: ReplicaSet, type: "Normal" | "Warning", reason: string, message: string): void {
		this.#ports.recorder.record({ component: COMPONENT, resource: REPLICA_SETS, object, type, reason, message });
	}
}
