/** Binds Pods to nodes, spreading those of one workload. */
import { keyOf, splitKey } from "../api/resource.ts";
import { NODES, PODS } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Node, Pod } from "../api/types/core.ts";
import type { Condition } from "../api/types/meta.ts";
import { deepEqual } from "../kernel/json.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { timestamp } from "../plan/timestamp.ts";
import { demandOf } from "../plan/workloads/pod-demand.ts";
import { hasEnded } from "../plan/workloads/pod-state.ts";
import { placePod, siblingGroupOf, wantsNode } from "../plan/workloads/scheduling.ts";
import { NodeLoads } from "./node-loads.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const COMPONENT = "default-scheduler";

export class Scheduler implements Controller, Reconciler {
	readonly name = "scheduler";
	readonly #ports: ControllerPorts;
	readonly #pods: Informer<Pod>;
	readonly #nodes: Informer<Node>;
	readonly #queue: WorkQueue<string>;
	readonly #loads = new NodeLoads();
	/** Pods that no node takes: they are tried again when room may have come. */
	readonly #waiting = new Set<string>();

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#pods = ports.informers.of(PODS);
		this.#nodes = ports.informers.of(NODES);
		this.#queue = ports.queues.make({ name: "scheduler" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		this.#pods.addHandlers({
			added: (pod) => this.#seePod(pod),
			updated: (_old, pod) => this.#seePod(pod),
			deleted: (pod) => this.#forgetPod(pod),
		});
		this.#nodes.addHandlers({
			added: () => this.#retryWaiting(),
			updated: (old, node) => {
				if (mayTakeMore(old, node)) this.#retryWaiting();
			},
		});
		await Promise.all([this.#pods.whenSynced(signal), this.#nodes.whenSynced(signal)]).catch(() => undefined);
		// One worker: each decision sees the ones before it.
		await runWorkers(this.#queue, this, { workers: 1, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(key: string): Promise<Outcome> {
		const pod = this.#pods.get(key);
		if (pod === undefined || !wantsNode(pod)) return SETTLED;
		const placement = placePod({
			pod,
			nodes: this.#nodes.list(),
			podsOn: (nodeName) => this.#loads.on(nodeName, siblingGroupOf(pod)),
		});
		if (placement.kind === "bind") await this.#bind(pod, placement.nodeName);
		else await this.#refuse(pod, placement.message);
		return SETTLED;
	}

	#seePod(pod: Pod): void {
		const { nodeName = "" } = pod.spec;
		if (nodeName !== "") {
			if (!hasEnded(pod)) this.#count(pod, nodeName);
			else if (this.#loads.remove(pod.metadata.uid)) this.#retryWaiting();
		} else if (wantsNode(pod)) this.#queue.add(keyOf(pod));
	}

	/** Every write of a Pod comes by here: what it asks for is worked out the first time only. */
	#count(pod: Pod, nodeName: string): void {
		const { uid } = pod.metadata;
		if (!this.#loads.has(uid)) this.#loads.put(uid, nodeName, siblingGroupOf(pod), demandOf(pod));
	}

	#forgetPod(pod: Pod): void {
		this.#waiting.delete(keyOf(pod));
		if (this.#loads.remove(pod.metadata.uid)) this.#retryWaiting();
	}

	#retryWaiting(): void {
		for (const key of this.#waiting) this.#queue.add(key);
		this.#waiting.clear();
	}

	async #bind(pod: Pod, nodeName: string): Promise<void> {
		const { name, namespace = "", uid } = pod.metadata;
		// Counted before the cache shows it, so that the next decision sees it.
		this.#count(pod, nodeName);
		const body = { metadata: { name, namespace, uid }, target: { apiVersion: "v1", kind: "Node", name: nodeName } };
		try {
			await this.#ports.client.post(PODS, { namespace, name }, "binding", body);
			this.#record(pod, "Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${nodeName}`);
		} catch (error) {
			this.#loads.remove(uid);
			if (!hasReason(error, "NotFound") && !hasReason(error, "Conflict")) throw error;
		}
	}

	async #refuse(pod: Pod, message: string): Promise<void> {
		this.#waiting.add(keyOf(pod));
		const condition = unschedulable(pod, message, this.#ports.clock.wallMs());
		if (condition === undefined) return;
		const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
		const patch = { type: "strategic", body } as const;
		await ignoreNotFound(this.#ports.client.patch(PODS, splitKey(keyOf(pod)), patch, { subresource: "status" }));
		this.#record(pod, "Warning", "FailedScheduling", message);
	}

	#record(object: Pod, type: "Normal" | "Warning", reason: string, message: string): void {
		this.#ports.recorder.record({ component: COMPONENT, resource: PODS, object, type, reason, message });
	}
}

/** The condition that tells why; undefined when it is told already. */
function unschedulable(pod: Pod, message: string, nowMs: number): Condition | undefined {
	const known = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
	if (known?.status === "False" && known.message === message) return undefined;
	const now = timestamp(nowMs);
	return {
		type: "PodScheduled",
		status: "False",
		reason: "Unschedulable",
		message,
		lastProbeTime: null,
		lastTransitionTime: known?.status === "False" ? (known.lastTransitionTime ?? now) : now,
		observedGeneration: pod.metadata.generation ?? 1,
	};
}

function mayTakeMore(old: Node, node: Node): boolean {
	return (
		!deepEqual(old.spec, node.spec) ||
		!deepEqual(old.metadata.labels, node.metadata.labels) ||
		!deepEqual(old.status?.allocatable, node.status?.allocatable)
	);
}
