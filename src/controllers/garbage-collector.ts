/** Deletes what lost its owners, and finishes deletions that wait for dependents. */
import { apiVersionOf, keyOf, type ObjectKey, type Resource, splitKey } from "../api/resource.ts";
import { hasReason } from "../api/status.ts";
import type { KubeObject, OwnerReference } from "../api/types/meta.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import {
	blocks,
	FOREGROUND_FINALIZER,
	isDeleting,
	ORPHAN_FINALIZER,
	type OwnerState,
	planDependent,
	waitsInForeground,
	waitsToOrphan,
} from "../plan/garbage.ts";
import { AbsentOwners } from "./absent-owners.ts";
import { CustomResourceFollower } from "./custom-resource-follower.ts";
import { type GraphNode, isMeant, ObjectGraph } from "./object-graph.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const WORKERS = 20;

export class GarbageCollector implements Controller, Reconciler {
	readonly name = "garbage-collector-controller";
	readonly #ports: ControllerPorts;
	readonly #resources: readonly Resource[];
	/** Resources that come and go with their definitions, by the name of that and their uid. */
	readonly #custom: CustomResourceFollower;
	readonly #graph = new ObjectGraph();
	readonly #absent = new AbsentOwners();
	/** Keys are uids. */
	readonly #queue: WorkQueue<string>;

	/** @param resources Every resource whose objects own or are owned. */
	constructor(ports: ControllerPorts, resources: readonly Resource[]) {
		this.#ports = ports;
		this.#resources = resources;
		this.#queue = ports.queues.make({ name: "garbage_collector" });
		this.#custom = new CustomResourceFollower(ports.informers, {
			added: (resource) => this.#follow(resource),
			removed: (resource, isGone) => {
				for (const { object } of this.#graph.of(resource)) this.#forget(object, isGone);
			},
		});
	}

	async run(signal: AbortSignal): Promise<void> {
		const { informers, clock, log } = this.#ports;
		for (const resource of this.#resources) this.#follow(resource);
		this.#custom.start();
		const synced = this.#resources.map((resource) => informers.of(resource).whenSynced(signal));
		await Promise.all(synced).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(uid: string): Promise<Outcome> {
		const node = this.#graph.get(uid);
		if (node === undefined) return SETTLED;
		if (waitsToOrphan(node.object)) await this.#orphanDependents(node);
		else if (waitsInForeground(node.object)) await this.#deleteDependents(node);
		else if (!isDeleting(node.object)) await this.#checkOwners(node);
		return SETTLED;
	}

	#follow(resource: Resource): void {
		this.#ports.informers.of(resource).addHandlers({
			added: (object) => this.#see(resource, object),
			updated: (_old, object) => this.#see(resource, object),
			deleted: (object) => this.#forget(object, true),
		});
	}

	#see(resource: Resource, object: KubeObject): void {
		const known = this.#graph.get(object.metadata.uid)?.object;
		this.#graph.put(resource, object);
		const { uid } = object.metadata;
		this.#absent.remove(uid);
		if (waitsInForeground(object) || waitsToOrphan(object)) this.#queue.add(uid);
		else if (this.#mayBeGarbage(object, known)) this.#queue.add(uid);
		this.#tellWaiting(object);
		// It may have let an owner go.
		if (known !== undefined) this.#tellWaiting(known);
	}

	/** An owner in foreground waits until its dependents are gone, or no longer hold it. */
	#tellWaiting({ metadata }: KubeObject): void {
		for (const { uid } of metadata.ownerReferences ?? []) {
			const owner = this.#graph.get(uid);
			if (owner !== undefined && waitsInForeground(owner.object)) this.#queue.add(uid);
		}
	}

	/** Only what changed, and what the graph does not show as safe, is worth a look. */
	#mayBeGarbage(object: KubeObject, known: KubeObject | undefined): boolean {
		const { ownerReferences } = object.metadata;
		if (ownerReferences === undefined || known?.metadata.ownerReferences === ownerReferences) return false;
		return ownerReferences.some((reference) => {
			const owner = this.#graph.get(reference.uid);
			return owner === undefined || !isMeant(owner, reference, object) || waitsInForeground(owner.object);
		});
	}

	/** @param isGone It was deleted, not only lost from sight. */
	#forget(object: KubeObject, isGone: boolean): void {
		const { uid } = object.metadata;
		const dependents = this.#graph.dependentsOf(uid);
		const node = this.#graph.get(uid);
		if (isGone && node !== undefined && dependents.length > 0) this.#absent.add(node);
		for (const dependent of dependents) this.#queue.add(dependent.object.metadata.uid);
		this.#graph.remove(object);
		this.#tellWaiting(object);
	}

	async #checkOwners({ resource, object }: GraphNode): Promise<void> {
		const references = object.metadata.ownerReferences ?? [];
		if (references.length === 0) return;
		const owners = await Promise.all(
			references.map(async (reference) => ({ reference, state: await this.#stateOf(reference, object) })),
		);
		const hasDependents = this.#graph.dependentsOf(object.metadata.uid).length > 0;
		const plan = planDependent({ object, owners, hasDependents });
		if (plan.kind === "disown") await this.#disown(resource, object, plan.uids);
		if (plan.kind !== "delete") return;
		if (plan.propagationPolicy === "Foreground") await this.#breakCircle(resource, object);
		await this.#delete(resource, object, plan.propagationPolicy);
	}

	/** The graph may be behind: an owner that it does not know is looked up before it counts as absent. */
	async #stateOf(reference: OwnerReference, object: KubeObject): Promise<OwnerState> {
		const known = this.#graph.get(reference.uid);
		if (known !== undefined && isMeant(known, reference, object)) {
			return waitsInForeground(known.object) ? "waiting" : "solid";
		}
		const resource =
			this.#resources.find(
				(served) => served.kind === reference.kind && apiVersionOf(served) === reference.apiVersion,
			) ?? this.#custom.ofKind(reference.apiVersion, reference.kind);
		if (resource === undefined) return this.#absent.has(reference, object) ? "absent" : "unknown";
		const namespace = resource.namespaced ? (object.metadata.namespace ?? "") : "";
		const owner = await ignoreNotFound(this.#ports.client.get(resource, { namespace, name: reference.name }));
		if (owner === undefined || owner.metadata.uid !== reference.uid) return "absent";
		// It may go before the graph ever saw it, and nobody would be told: look until it was seen, as upstream does.
		if (known === undefined) this.#queue.addAfter(object.metadata.uid, UNSEEN_OWNER_RETRY_MS);
		return waitsInForeground(owner) ? "waiting" : "solid";
	}

	/** Dependents that hold the owner are deleted first; when none is left, the owner goes. */
	async #deleteDependents({ resource, object }: GraphNode): Promise<void> {
		const dependents = this.#graph.dependentsOf(object.metadata.uid);
		for (const dependent of dependents) {
			if (!isDeleting(dependent.object)) this.#queue.add(dependent.object.metadata.uid);
		}
		if (dependents.some((dependent) => blocks(object, dependent.object))) return;
		await this.#removeFinalizer(resource, object, FOREGROUND_FINALIZER);
	}

	async #orphanDependents({ resource, object }: GraphNode): Promise<void> {
		for (const dependent of this.#graph.dependentsOf(object.metadata.uid)) {
			await this.#disown(dependent.resource, dependent.object, [object.metadata.uid]);
		}
		await this.#removeFinalizer(resource, object, ORPHAN_FINALIZER);
	}

	/** The references to these owners go; whatever else is written meanwhile stays. */
	async #disown(resource: Resource, object: KubeObject, uids: readonly string[]): Promise<void> {
		if (this.#custom.has(resource)) {
			const left = (object.metadata.ownerReferences ?? []).filter((owner) => !uids.includes(owner.uid));
			return this.#replace(resource, object, { ownerReferences: left });
		}
		const ownerReferences = uids.map((uid) => ({ $patch: "delete", uid }));
		await this.#patch(resource, object, { uid: object.metadata.uid, ownerReferences });
	}

	/**
	 * An object that is about to wait for its dependents, one of which waits for its own already, may wait for
	 * itself in the end: its owners need not wait for it any more.
	 */
	async #breakCircle(resource: Resource, object: KubeObject): Promise<void> {
		const { uid, ownerReferences = [] } = object.metadata;
		if (!this.#graph.dependentsOf(uid).some((dependent) => waitsInForeground(dependent.object))) return;
		if (this.#custom.has(resource)) {
			const loose = ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
			return this.#replace(resource, object, { ownerReferences: loose });
		}
		const unblocked = ownerReferences
			.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
			.map((reference) => ({ uid: reference.uid, blockOwnerDeletion: false }));
		if (unblocked.length > 0) await this.#patch(resource, object, { uid, ownerReferences: unblocked });
	}

	async #removeFinalizer(resource: Resource, object: KubeObject, finalizer: string): Promise<void> {
		const { uid, finalizers = [] } = object.metadata;
		if (this.#custom.has(resource)) {
			return this.#replace(resource, object, { finalizers: finalizers.filter((name) => name !== finalizer) });
		}
		await this.#patch(resource, object, { uid, "$deleteFromPrimitiveList/finalizers": [finalizer] });
	}

	/** Lists of custom resources are replaced as a whole, so nobody else may have written meanwhile. */
	async #replace(resource: Resource, object: KubeObject, metadata: object): Promise<void> {
		const { uid, resourceVersion } = object.metadata;
		const patch = { type: "merge", body: { metadata: { uid, resourceVersion, ...metadata } } } as const;
		await ignoreNotFound(this.#ports.client.patch(resource, placeOf(object), patch));
	}

	async #patch(resource: Resource, object: KubeObject, metadata: object): Promise<void> {
		const patch = { type: "strategic", body: { metadata } } as const;
		await ignoreNotFound(this.#ports.client.patch(resource, placeOf(object), patch));
	}

	async #delete(
		resource: Resource,
		object: KubeObject,
		propagationPolicy: "Background" | "Foreground" | "Orphan",
	): Promise<void> {
		const { uid, resourceVersion } = object.metadata;
		const options = { propagationPolicy, preconditions: { uid, resourceVersion } };
		try {
			await ignoreNotFound(this.#ports.client.delete(resource, placeOf(object), options));
		} catch (error) {
			// It changed meanwhile: its event comes, or has come, and it is looked at again.
			if (!hasReason(error, "Conflict")) throw error;
			this.#queue.addAfter(uid, CONFLICT_RETRY_MS);
		}
	}
}

const CONFLICT_RETRY_MS = 20;
const UNSEEN_OWNER_RETRY_MS = 1_000;

function placeOf(object: KubeObject): ObjectKey {
	return splitKey(keyOf(object));
}
