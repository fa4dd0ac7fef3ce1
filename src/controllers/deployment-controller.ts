/** Keeps the ReplicaSets of every Deployment, and rolls new templates out. */
import { matchesLabels, requirementsOf } from "../api/label-selector.ts";
import { controllerOf, keyOf } from "../api/resource.ts";
import { DEPLOYMENTS, PODS, REPLICA_SETS } from "../api/resource-names.ts";
import { hasCause, hasReason } from "../api/status.ts";
import type { Deployment, ReplicaSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import type { Draft } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { BY_NAMESPACE, type Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { type DeploymentPlan, planDeployment, type Resize } from "../plan/workloads/deployment.ts";
import { withCreateError } from "../plan/workloads/deployment-conditions.ts";
import { hasTemplateOf } from "../plan/workloads/deployment-replica-sets.ts";
import { claimObjects } from "./claim-objects.ts";
import { OwnerIndex } from "./owner-index.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { SeenWrites } from "./seen-writes.ts";
import { asError } from "./sync-error.ts";

const COMPONENT = "deployment-controller";
const WORKERS = 5;
const BEHIND_RECHECK_MS = 1_000;

export class DeploymentController implements Controller, Reconciler {
	readonly name = "deployment-controller";
	readonly #ports: ControllerPorts;
	readonly #deployments: Informer<Deployment>;
	readonly #sets: Informer<ReplicaSet>;
	readonly #pods: Informer<Pod>;
	readonly #setOwners: OwnerIndex<ReplicaSet>;
	readonly #podOwners: OwnerIndex<Pod>;
	readonly #queue: WorkQueue<string>;
	readonly #writes = new SeenWrites();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#deployments = ports.informers.of(DEPLOYMENTS);
		this.#sets = ports.informers.of(REPLICA_SETS);
		this.#pods = ports.informers.of(PODS);
		this.#queue = ports.queues.make({ name: "deployment" });
		this.#setOwners = new OwnerIndex(this.#sets);
		this.#podOwners = new OwnerIndex(this.#pods);
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		const enqueue = (deployment: Deployment): void => this.#queue.add(keyOf(deployment));
		this.#deployments.addHandlers({
			added: enqueue,
			updated: (_old, deployment) => enqueue(deployment),
			deleted: enqueue,
		});
		this.#sets.addHandlers({
			added: (set) => this.#enqueueOwner(set),
			updated: (old, set) => {
				this.#enqueueOwner(set);
				if (controllerOf(old)?.uid !== controllerOf(set)?.uid) this.#enqueueOwner(old);
			},
			deleted: (set) => this.#enqueueOwner(set),
		});
		// Recreate waits for the last old Pod to go.
		this.#pods.addHandlers({ deleted: (pod) => this.#enqueueRecreateOf(pod) });
		const read = [this.#deployments, this.#sets, this.#pods] as const;
		await Promise.all(read.map((informer) => informer.whenSynced(signal))).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(key: string): Promise<Outcome> {
		const deployment = this.#deployments.get(key);
		if (deployment === undefined) {
			this.#writes.forget(key);
			return SETTLED;
		}
		if (this.#writes.isBehind(key, this.#sets.asOf)) {
			return {
				kind: "recheck",
				afterMs: BEHIND_RECHECK_MS,
				why: "the cache of ReplicaSets lacks this controller's writes",
			};
		}
		const plan = planDeployment({
			deployment,
			replicaSets: await this.#claimSets(key, deployment),
			podsOf: (set) => this.#podOwners.ownedBy(set.metadata.uid),
			nowMs: this.#ports.clock.wallMs(),
		});
		await this.#apply(key, deployment, plan);
		const { recheckAfterMs } = plan;
		return recheckAfterMs === undefined
			? SETTLED
			: { kind: "recheck", afterMs: recheckAfterMs, why: "the progress deadline may pass" };
	}

	#claimSets(key: string, deployment: Deployment): Promise<readonly ReplicaSet[]> {
		const { client } = this.#ports;
		const wrote = (version: string | undefined): void => this.#writes.wrote(key, version);
		const claimant = { client, resource: DEPLOYMENTS, owner: deployment, selector: deployment.spec.selector, wrote };
		return claimObjects(claimant, REPLICA_SETS, this.#setOwners.claimable(deployment));
	}

	#enqueueOwner(set: ReplicaSet): void {
		const owner = controllerOf(set);
		const namespace = set.metadata.namespace ?? "";
		if (owner !== undefined) {
			if (owner.kind === DEPLOYMENTS.kind) this.#queue.add(`${namespace}/${owner.name}`);
			return;
		}
		for (const deployment of this.#deployments.index(BY_NAMESPACE, namespace)) {
			const requirements = requirementsOf(deployment.spec.selector);
			if (matchesLabels(requirements, set.metadata.labels)) this.#queue.add(keyOf(deployment));
		}
	}

	#enqueueRecreateOf(pod: Pod): void {
		const owner = controllerOf(pod);
		if (owner?.kind !== REPLICA_SETS.kind) return;
		const set = this.#sets.get(`${pod.metadata.namespace ?? ""}/${owner.name}`);
		const deployment = set === undefined ? undefined : controllerOf(set)?.name;
		const key = `${pod.metadata.namespace ?? ""}/${deployment ?? ""}`;
		if (this.#deployments.get(key)?.spec.strategy?.type === "Recreate") this.#queue.add(key);
	}

	async #apply(key: string, deployment: Deployment, plan: DeploymentPlan): Promise<void> {
		if (plan.create !== undefined && !(await this.#create(key, deployment, plan.create))) return;
		for (const resize of plan.updates) await this.#resize(key, deployment, resize);
		for (const set of plan.deletes) await this.#delete(key, set);
		if (plan.next !== undefined) await this.#writeStatus(plan.next);
	}

	/** False where nothing is made any more, and that is right. */
	async #create(key: string, deployment: Deployment, draft: Draft<ReplicaSet>): Promise<boolean> {
		try {
			const set = await this.#ports.client.create(REPLICA_SETS, deployment.metadata.namespace ?? "", draft);
			this.#writes.wrote(key, set.metadata.resourceVersion);
			const size = set.spec.replicas ?? 0;
			if (size > 0) this.#recordScaling(deployment, "up", set.metadata.name, 0, size);
			return true;
		} catch (error) {
			if (hasCause(error, "NamespaceTerminating")) return false;
			if (hasReason(error, "AlreadyExists")) await this.#countCollision(deployment, draft.metadata.name ?? "");
			else await this.#reportRefusal(deployment, draft.metadata.name ?? "", asError(error));
			throw error;
		}
	}

	/** The name is taken by something else: the next try hashes to another one. */
	async #countCollision(deployment: Deployment, name: string): Promise<void> {
		const namespace = deployment.metadata.namespace ?? "";
		const taken = await ignoreNotFound(this.#ports.client.get(REPLICA_SETS, { namespace, name }));
		if (taken === undefined) return;
		// Its own, of this template, and not in the cache yet: no collision, the next sync finds it.
		if (controllerOf(taken)?.uid === deployment.metadata.uid && hasTemplateOf(taken, deployment)) return;
		const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
		await this.#writeStatus({ ...deployment, status: { ...deployment.status, collisionCount } });
	}

	async #reportRefusal(deployment: Deployment, name: string, { message: why }: Error): Promise<void> {
		const message = `Failed to create new replica set "${name}": ${why}`;
		this.#record(deployment, "Warning", "ReplicaSetCreateError", message);
		const conditions = withCreateError(deployment, message, this.#ports.clock.wallMs());
		if (conditions === deployment.status?.conditions) return;
		await this.#writeStatus({ ...deployment, status: { ...deployment.status, conditions } });
	}

	async #writeStatus(next: Deployment): Promise<void> {
		await ignoreNotFound(this.#ports.client.update(DEPLOYMENTS, next, { subresource: "status" }));
	}

	async #resize(key: string, deployment: Deployment, { next, from, to }: Resize): Promise<void> {
		const set = await this.#ports.client.update(REPLICA_SETS, next);
		this.#writes.wrote(key, set.metadata.resourceVersion);
		if (from !== to) this.#recordScaling(deployment, to > from ? "up" : "down", next.metadata.name, from, to);
	}

	async #delete(key: string, { metadata }: ReplicaSet): Promise<void> {
		const { namespace = "", name, uid } = metadata;
		const options = { preconditions: { uid } };
		const answer = await ignoreNotFound(this.#ports.client.delete(REPLICA_SETS, { namespace, name }, options));
		this.#writes.wrote(key, answer?.metadata.resourceVersion);
	}

	#recordScaling(object: Deployment, way: "up" | "down", name: string, from: number, to: number): void {
		this.#record(object, "Normal", "ScalingReplicaSet", `Scaled ${way} replica set ${name} from ${from} to ${to}`);
	}

	#record(object: Deployment, type: "Normal" | "Warning", reason: string, message: string): void {
		this.#ports.recorder.record({ component: COMPONENT, resource: DEPLOYMENTS, object, type, reason, message });
	}
}
