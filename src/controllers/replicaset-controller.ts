/** Keeps as many Pods as each ReplicaSet wants. */

import { matchesLabels, requirementsOf } from "../api/label-selector.ts";
import { controllerOf, keyOf, splitKey } from "../api/resource.ts";
import { PODS, REPLICA_SETS } from "../api/resource-names.ts";
import { hasCause } from "../api/status.ts";
import type { ReplicaSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { BY_NAMESPACE, type Informer } from "../machinery/informer.ts";
import { WorkQueue } from "../machinery/work-queue.ts";
import { controllerReference } from "../plan/workloads/owned-by.ts";
import { isActive } from "../plan/workloads/pod-state.ts";
import { planReplicaSet, podFromTemplate, type ReplicaSetPlan } from "../plan/workloads/replica-set.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { SeenWrites } from "./seen-writes.ts";

const COMPONENT = "replicaset-controller";
const WORKERS = 5;
/** Should an event get lost, a ReplicaSet that waits to see its own writes looks again. */
const BEHIND_RECHECK_MS = 1_000;
/** Index of Pods by the uid of their controller; Pods without one are under "". */
export const BY_CONTROLLER = "byController";

export function indexByController(pods: Informer<Pod>): void {
	pods.addIndex(BY_CONTROLLER, (pod) => {
		const uid = controllerOf(pod)?.uid;
		return [uid ?? `orphan/${pod.metadata.namespace ?? ""}`];
	});
}

export class ReplicaSetController implements Controller, Reconciler {
	readonly name = "replicaset-controller";
	readonly #ports: ControllerPorts;
	readonly #sets: Informer<ReplicaSet>;
	readonly #pods: Informer<Pod>;
	readonly #queue: WorkQueue<string>;
	readonly #writes = new SeenWrites();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#sets = ports.informers.of(REPLICA_SETS);
		this.#pods = ports.informers.of(PODS);
		this.#queue = new WorkQueue({ name: "replicaset", clock: ports.clock, metrics: ports.metrics });
		indexByController(this.#pods);
		this.#sets.addIndex("byOwner", (set) => [controllerOf(set)?.uid ?? set.metadata.uid]);
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
		const plan = planReplicaSet({
			replicaSet,
			pods: this.#podsOf(replicaSet),
			podsOnNode: this.#podsOnNode(replicaSet),
			nowMs: this.#ports.clock.wallMs(),
		});
		try {
			await this.#applyPods(key, replicaSet, plan, signal);
		} finally {
			await this.#applyStatus(replicaSet, plan);
		}
		const { recheckAfterMs } = plan;
		return recheckAfterMs === undefined
			? SETTLED
			: { kind: "recheck", afterMs: recheckAfterMs, why: "a ready Pod is not available yet" };
	}

	#podsOf({ metadata }: ReplicaSet): readonly Pod[] {
		const owned = this.#pods.index(BY_CONTROLLER, metadata.uid);
		const orphans = this.#pods.index(BY_CONTROLLER, `orphan/${metadata.namespace ?? ""}`);
		return [...owned, ...orphans];
	}

	/** Counted only when Pods may have to go: the group is every ReplicaSet of the same Deployment. */
	#podsOnNode(replicaSet: ReplicaSet): ReadonlyMap<string, number> {
		const group = this.#sets.index("byOwner", controllerOf(replicaSet)?.uid ?? replicaSet.metadata.uid);
		const counts = new Map<string, number>();
		for (const set of group) {
			for (const pod of this.#pods.index(BY_CONTROLLER, set.metadata.uid)) {
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

	async #applyPods(key: string, replicaSet: ReplicaSet, plan: ReplicaSetPlan, signal: AbortSignal): Promise<void> {
		for (const pod of plan.adoptions) await this.#adopt(key, replicaSet, pod);
		if (plan.creates > 0) await this.#create(key, replicaSet, plan.creates, signal);
		await Promise.all(plan.deletes.map((pod) => this.#delete(key, replicaSet, pod)));
	}

	async #adopt(key: string, replicaSet: ReplicaSet, pod: Pod): Promise<void> {
		const reference = controllerReference(REPLICA_SETS, replicaSet);
		const body = {
			metadata: { uid: pod.metadata.uid, ownerReferences: [...(pod.metadata.ownerReferences ?? []), reference] },
		};
		const patch = { type: "merge", body } as const;
		const adopted = await ignoreNotFound(this.#ports.client.patch(PODS, splitKey(keyOf(pod)), patch));
		this.#writes.wrote(key, adopted?.metadata.resourceVersion);
	}

	/** In batches of 1, 2, 4 and so on: when the server refuses Pods, it is asked few times. */
	async #create(key: string, replicaSet: ReplicaSet, count: number, signal: AbortSignal): Promise<void> {
		let left = count;
		for (let batch = 1; left > 0; batch = Math.min(batch * 2, left)) {
			signal.throwIfAborted();
			const creates = Array.from({ length: Math.min(batch, left) }, () => this.#createOne(key, replicaSet));
			left -= creates.length;
			const failed = (await Promise.allSettled(creates)).find(({ status }) => status === "rejected");
			if (failed?.status === "rejected") throw failed.reason;
		}
	}

	async #createOne(key: string, replicaSet: ReplicaSet): Promise<void> {
		const namespace = replicaSet.metadata.namespace ?? "";
		try {
			const pod = await this.#ports.client.create(PODS, namespace, podFromTemplate(replicaSet));
			this.#writes.wrote(key, pod.metadata.resourceVersion);
			this.#record(replicaSet, "Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
		} catch (error) {
			if (hasCause(error, "NamespaceTerminating")) return; // Nothing is made there any more, and that is right.
			this.#record(replicaSet, "Warning", "FailedCreate", `Error creating: ${messageOf(error)}`);
			throw error;
		}
	}

	async #delete(key: string, replicaSet: ReplicaSet, pod: Pod): Promise<void> {
		try {
			const options = { preconditions: { uid: pod.metadata.uid } };
			const answer = await ignoreNotFound(this.#ports.client.delete(PODS, splitKey(keyOf(pod)), options));
			this.#writes.wrote(key, answer?.metadata.resourceVersion);
			this.#record(replicaSet, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
		} catch (error) {
			this.#record(replicaSet, "Warning", "FailedDelete", `Error deleting: ${messageOf(error)}`);
			throw error;
		}
	}

	async #applyStatus(replicaSet: ReplicaSet, { status }: ReplicaSetPlan): Promise<void> {
		if (status === undefined) return;
		await ignoreNotFound(this.#ports.client.update(REPLICA_SETS, { ...replicaSet, status }, { subresource: "status" }));
	}

	#record(object: ReplicaSet, type: "Normal" | "Warning", reason: string, message: string): void {
		this.#ports.recorder.record({ component: COMPONENT, resource: REPLICA_SETS, object, type, reason, message });
	}
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
