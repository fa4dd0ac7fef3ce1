/** Keeps the pods of every StatefulSet: with names that stay, in order. */
import { matchesLabels, requirementsOf } from "../api/label-selector.ts";
import { controllerOf, keyOf, splitKey } from "../api/resource.ts";
import { CONTROLLER_REVISIONS, PODS, STATEFUL_SETS } from "../api/resource-names.ts";
import { hasCause, hasReason } from "../api/status.ts";
import type { ControllerRevision, StatefulSet } from "../api/types/apps.ts";
import type { Pod } from "../api/types/core.ts";
import type { Draft, KubeObject, StringMap } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { BY_NAMESPACE, type Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { planStatefulSet, type StatefulSetPlan } from "../plan/workloads/stateful-set.ts";
import { ordinalOf } from "../plan/workloads/stateful-set-pod.ts";
import type { RevisionChange } from "../plan/workloads/stateful-set-revisions.ts";
import { claimObjects } from "./claim-objects.ts";
import { OwnerIndex } from "./owner-index.ts";
import type { Controller, ControllerPorts } from "./ports.ts";
import { SeenWrites } from "./seen-writes.ts";
import { asError } from "./sync-error.ts";

const COMPONENT = "statefulset-controller";
const WORKERS = 5;
/** Should an event get lost, a StatefulSet that waits to see its own writes looks again. */
const BEHIND_RECHECK_MS = 1_000;
/** Pods made at once when they are made in parallel. */
const BATCH_MAX = 500;

export class StatefulSetController implements Controller, Reconciler {
	readonly name = "statefulset-controller";
	readonly #ports: ControllerPorts;
	readonly #sets: Informer<StatefulSet>;
	readonly #pods: Informer<Pod>;
	readonly #revisions: Informer<ControllerRevision>;
	readonly #podOwners: OwnerIndex<Pod>;
	readonly #revisionOwners: OwnerIndex<ControllerRevision>;
	readonly #queue: WorkQueue<string>;
	readonly #podWrites = new SeenWrites();
	readonly #revisionWrites = new SeenWrites();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#sets = ports.informers.of(STATEFUL_SETS);
		this.#pods = ports.informers.of(PODS);
		this.#revisions = ports.informers.of(CONTROLLER_REVISIONS);
		this.#queue = ports.queues.make({ name: "statefulset" });
		this.#podOwners = new OwnerIndex(this.#pods);
		this.#revisionOwners = new OwnerIndex(this.#revisions);
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		const enqueue = (set: StatefulSet): void => this.#queue.add(keyOf(set));
		this.#sets.addHandlers({ added: enqueue, updated: (_old, set) => enqueue(set), deleted: enqueue });
		this.#pods.addHandlers({
			added: (pod) => this.#enqueueOwner(pod),
			updated: (_old, pod) => this.#enqueueOwner(pod),
			deleted: (pod) => this.#enqueueOwner(pod),
		});
		this.#revisions.addHandlers({ added: (revision) => this.#enqueueOwner(revision) });
		const read = [this.#sets, this.#pods, this.#revisions] as const;
		await Promise.all(read.map((informer) => informer.whenSynced(signal))).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
		const set = this.#sets.get(key);
		if (set === undefined) {
			this.#podWrites.forget(key);
			this.#revisionWrites.forget(key);
			return SETTLED;
		}
		if (this.#podWrites.isBehind(key, this.#pods.asOf) || this.#revisionWrites.isBehind(key, this.#revisions.asOf)) {
			return { kind: "recheck", afterMs: BEHIND_RECHECK_MS, why: "a cache lacks this controller's writes" };
		}
		const plan = planStatefulSet({
			set,
			pods: await this.#claimPods(key, set),
			revisions: await this.#claimRevisions(key, set),
			nowMs: this.#ports.clock.wallMs(),
		});
		try {
			await this.#apply(key, set, plan, signal);
		} finally {
			await this.#applyStatus(set, plan);
		}
		const { recheckAfterMs } = plan;
		return recheckAfterMs === undefined
			? SETTLED
			: { kind: "recheck", afterMs: recheckAfterMs, why: "a ready pod is not available yet" };
	}

	/** Only pods with a name of the set's are claimed. */
	#claimPods(key: string, set: StatefulSet): Promise<readonly Pod[]> {
		const candidates = this.#podOwners.claimable(set).filter((pod) => ordinalOf(set, pod) !== undefined);
		const { client } = this.#ports;
		const wrote = (version: string | undefined): void => this.#podWrites.wrote(key, version);
		const { selector } = set.spec;
		return claimObjects({ client, resource: STATEFUL_SETS, owner: set, selector, wrote }, PODS, candidates);
	}

	/** A StatefulSet that was deleted without its pods left them behind; its successor goes on from there. */
	#claimRevisions(key: string, set: StatefulSet): Promise<readonly ControllerRevision[]> {
		const { client } = this.#ports;
		const wrote = (version: string | undefined): void => this.#revisionWrites.wrote(key, version);
		const claimant = { client, resource: STATEFUL_SETS, owner: set, selector: set.spec.selector, wrote };
		return claimObjects(claimant, CONTROLLER_REVISIONS, this.#revisionOwners.claimable(set));
	}

	#enqueueOwner(object: KubeObject): void {
		const owner = controllerOf(object);
		const namespace = object.metadata.namespace ?? "";
		if (owner !== undefined) {
			if (owner.kind === STATEFUL_SETS.kind) this.#queue.add(`${namespace}/${owner.name}`);
			return;
		}
		for (const set of this.#sets.index(BY_NAMESPACE, namespace)) {
			if (matchesLabels(requirementsOf(set.spec.selector), object.metadata.labels)) this.#queue.add(keyOf(set));
		}
	}

	async #apply(key: string, set: StatefulSet, plan: StatefulSetPlan, signal: AbortSignal): Promise<void> {
		await this.#changeRevision(key, set, plan.revision);
		for (const { pod, labels } of plan.relabels) await this.#relabel(key, pod, labels);
		for (let done = 0, batch = 1; done < plan.creates.length; done += batch, batch = Math.min(batch * 2, BATCH_MAX)) {
			signal.throwIfAborted();
			await all(plan.creates.slice(done, done + batch).map((draft) => this.#create(key, set, draft)));
		}
		await all(plan.deletes.map((pod) => this.#delete(key, set, pod)));
		for (const revision of plan.outdated) await this.#deleteRevision(key, revision);
	}

	async #changeRevision(key: string, set: StatefulSet, change: RevisionChange): Promise<void> {
		const { client } = this.#ports;
		if (change.kind === "none") return;
		if (change.kind === "renumber") {
			const renumbered = await client.update(CONTROLLER_REVISIONS, change.next);
			this.#revisionWrites.wrote(key, renumbered.metadata.resourceVersion);
			return;
		}
		try {
			const created = await client.create(CONTROLLER_REVISIONS, set.metadata.namespace ?? "", change.draft);
			this.#revisionWrites.wrote(key, created.metadata.resourceVersion);
		} catch (error) {
			if (hasReason(error, "AlreadyExists")) await this.#countCollision(set, change.draft.metadata.name ?? "");
			throw error;
		}
	}

	/** The name is taken by something else: the next try hashes to another one. */
	async #countCollision(set: StatefulSet, name: string): Promise<void> {
		const taken = this.#revisions.get(`${set.metadata.namespace ?? ""}/${name}`);
		if (taken === undefined || controllerOf(taken)?.uid === set.metadata.uid) return;
		const status = { ...set.status, collisionCount: (set.status?.collisionCount ?? 0) + 1 };
		await this.#ports.client.update(STATEFUL_SETS, { ...set, status }, { subresource: "status" });
	}

	async #relabel(key: string, pod: Pod, labels: StringMap): Promise<void> {
		const body = { metadata: { uid: pod.metadata.uid, labels } };
		const patched = await ignoreNotFound(this.#ports.client.patch(PODS, splitKey(keyOf(pod)), { type: "merge", body }));
		this.#podWrites.wrote(key, patched?.metadata.resourceVersion);
	}

	async #create(key: string, set: StatefulSet, draft: Draft<Pod>): Promise<void> {
		const name = draft.metadata.name ?? "";
		try {
			const pod = await this.#ports.client.create(PODS, set.metadata.namespace ?? "", draft);
			this.#podWrites.wrote(key, pod.metadata.resourceVersion);
			this.#record(set, "Create", name);
		} catch (error) {
			if (hasCause(error, "NamespaceTerminating")) return; // Nothing is made there any more, and that is right.
			// A pod of the name that another one left behind: it is tried again, and nothing to tell.
			if (!hasReason(error, "AlreadyExists")) this.#record(set, "Create", name, error);
			throw error;
		}
	}

	async #delete(key: string, set: StatefulSet, pod: Pod): Promise<void> {
		const { name, uid } = pod.metadata;
		try {
			const options = { preconditions: { uid } };
			const answer = await ignoreNotFound(this.#ports.client.delete(PODS, splitKey(keyOf(pod)), options));
			this.#podWrites.wrote(key, answer?.metadata.resourceVersion);
			this.#record(set, "Delete", name);
		} catch (error) {
			this.#record(set, "Delete", name, error);
			throw error;
		}
	}

	async #deleteRevision(key: string, revision: ControllerRevision): Promise<void> {
		const options = { preconditions: { uid: revision.metadata.uid } };
		const place = splitKey(keyOf(revision));
		const answer = await ignoreNotFound(this.#ports.client.delete(CONTROLLER_REVISIONS, place, options));
		this.#revisionWrites.wrote(key, answer?.metadata.resourceVersion);
	}

	async #applyStatus(set: StatefulSet, { status }: StatefulSetPlan): Promise<void> {
		if (status === undefined) return;
		await ignoreNotFound(this.#ports.client.update(STATEFUL_SETS, { ...set, status }, { subresource: "status" }));
	}

	#record(object: StatefulSet, verb: "Create" | "Delete", podName: string, error?: unknown): void {
		const what = `${verb} Pod ${podName} in StatefulSet ${object.metadata.name}`;
		const isFailed = error !== undefined;
		this.#ports.recorder.record({
			component: COMPONENT,
			resource: STATEFUL_SETS,
			object,
			type: isFailed ? "Warning" : "Normal",
			reason: `${isFailed ? "Failed" : "Successful"}${verb}`,
			message: isFailed ? `${what} failed error: ${asError(error).message}` : `${what} successful`,
		});
	}
}

/** Waits for all of them, then rejects with the first failure. */
async function all(writes: readonly Promise<void>[]): Promise<void> {
	const failed = (await Promise.allSettled(writes)).find(({ status }) => status === "rejected");
	if (failed?.status === "rejected") throw failed.reason;
}
