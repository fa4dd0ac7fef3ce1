/** Keeps the ReplicaSets of every Deployment, and rolls new templates out. */
import { controllerOf, keyOf } from "../api/resource.ts";
import { DEPLOYMENTS, PODS, REPLICA_SETS } from "../api/resource-names.ts";
import { hasCause, hasReason } from "../api/status.ts";
import type { Deployment, ReplicaSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import type { Draft } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { BY_NAMESPACE, type Informer } from "../machinery/informer.ts";
import { WorkQueue } from "../machinery/work-queue.ts";
import { type DeploymentPlan, planDeployment, type Resize } from "../plan/workloads/deployment.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { BY_CONTROLLER, indexByController } from "./replicaset-controller.ts";
import { SeenWrites } from "./seen-writes.ts";

const COMPONENT = "deployment-controller";
const WORKERS = 5;
const BEHIND_RECHECK_MS = 1_000;

export class DeploymentController implements Controller, Reconciler {
	readonly name = "deployment-controller";
	readonly #ports: ControllerPorts;
	readonly #deployments: Informer<Deployment>;
	readonly #sets: Informer<ReplicaSet>;
	readonly #pods: Informer<Pod>;
	readonly #queue: WorkQueue<string>;
	readonly #writes = new SeenWrites();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#deployments = ports.informers.of(DEPLOYMENTS);
		this.#sets = ports.informers.of(REPLICA_SETS);
		this.#pods = ports.informers.of(PODS);
		this.#queue = new WorkQueue({ name: "deployment", clock: ports.clock, metrics: ports.metrics });
		indexByController(this.#pods);
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
			updated: (_old, set) => this.#enqueueOwner(set),
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
		const replicaSets = this.#setsOf(deployment);
		const pods = replicaSets.flatMap((set) => this.#pods.index(BY_CONTROLLER, set.metadata.uid));
		const plan = planDeployment({ deployment, replicaSets, pods, nowMs: this.#ports.clock.wallMs() });
		await this.#apply(key, deployment, plan);
		const { recheckAfterMs } = plan;
		return recheckAfterMs === undefined
			? SETTLED
			: { kind: "recheck", afterMs: recheckAfterMs, why: "the progress deadline may pass" };
	}

	#setsOf({ metadata }: Deployment): readonly ReplicaSet[] {
		return this.#sets
			.index(BY_NAMESPACE, metadata.namespace ?? "")
			.filter((set) => controllerOf(set)?.uid === metadata.uid);
	}

	#enqueueOwner(set: ReplicaSet): void {
		const owner = controllerOf(set);
		if (owner?.kind === DEPLOYMENTS.kind) this.#queue.add(`${set.metadata.namespace ?? ""}/${owner.name}`);
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
		if (plan.create !== undefined) await this.#create(key, deployment, plan.create);
		for (const resize of plan.updates) await this.#resize(key, deployment, resize);
		for (const set of plan.deletes) await this.#delete(key, set);
		const annotated = await this.#annotate(deployment, plan);
		if (plan.status === undefined) return;
		const next = { ...annotated, status: plan.status };
		await ignoreNotFound(this.#ports.client.update(DEPLOYMENTS, next, { subresource: "status" }));
	}

	async #create(key: string, deployment: Deployment, draft: Draft<ReplicaSet>): Promise<void> {
		try {
			const set = await this.#ports.client.create(REPLICA_SETS, deployment.metadata.namespace ?? "", draft);
			this.#writes.wrote(key, set.metadata.resourceVersion);
			const size = set.spec.replicas ?? 0;
			if (size > 0) this.#recordScaling(deployment, "up", set.metadata.name, 0, size);
		} catch (error) {
			if (hasCause(error, "NamespaceTerminating")) return;
			if (hasReason(error, "AlreadyExists")) await this.#countCollision(deployment, draft.metadata.name ?? "");
			throw error;
		}
	}

	/** The name is taken by something else: the next try hashes to another one. */
	async #countCollision(deployment: Deployment, name: string): Promise<void> {
		const taken = this.#sets.get(`${deployment.metadata.namespace ?? ""}/${name}`);
		if (taken === undefined || controllerOf(taken)?.uid === deployment.metadata.uid) return;
		const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
		const status = { ...deployment.status, collisionCount };
		await this.#ports.client.update(DEPLOYMENTS, { ...deployment, status }, { subresource: "status" });
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

	async #annotate(deployment: Deployment, { annotations }: DeploymentPlan): Promise<Deployment> {
		if (annotations === undefined) return deployment;
		return this.#ports.client.update(DEPLOYMENTS, { ...deployment, metadata: { ...deployment.metadata, annotations } });
	}

	#recordScaling(object: Deployment, way: "up" | "down", name: string, from: number, to: number): void {
		const message = `Scaled ${way} replica set ${name} from ${from} to ${to}`;
		const reason = "ScalingReplicaSet";
		this.#ports.recorder.record({
			component: COMPONENT,
			resource: DEPLOYMENTS,
			object,
			type: "Normal",
			reason,
			message,
		});
	}
}
