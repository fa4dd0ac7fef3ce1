/** Deletes Pods that do not tolerate the NoExecute taints of their node, or not for longer. */
import { keyOf, splitKey } from "../api/resource.ts";
import { NODES, PODS } from "../api/resource-names.ts";
import type { Node, Pod } from "../api/types/core.ts";
import { deepEqual } from "../kernel/json.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import { disruptedStatus, evictionOf } from "../plan/node-lifecycle/eviction.ts";
import { PodsByNode } from "./pods-by-node.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const COMPONENT = "taint-eviction-controller";
const WORKERS = 8;

export class TaintEvictionController implements Controller, Reconciler {
	readonly name = "taint-eviction-controller";
	readonly #ports: ControllerPorts;
	readonly #nodes: Informer<Node>;
	readonly #pods: Informer<Pod>;
	readonly #podsByNode: PodsByNode;
	/** Keys of Pods. */
	readonly #queue: WorkQueue<string>;

	constructor(ports: ControllerPorts) {
		this.#ports = ports;
		this.#nodes = ports.informers.of(NODES);
		this.#pods = ports.informers.of(PODS);
		this.#podsByNode = new PodsByNode(this.#pods);
		this.#queue = ports.queues.make({ name: "noexec_taint" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, log } = this.#ports;
		this.#pods.addHandlers({
			added: (pod) => this.#see(pod),
			updated: (old, pod) => {
				if (old.spec !== pod.spec) this.#see(pod);
			},
		});
		this.#nodes.addHandlers({
			added: (node) => this.#seeNode(node),
			updated: (old, node) => {
				if (!deepEqual(old.spec?.taints, node.spec?.taints)) this.#seeNode(node);
			},
		});
		await Promise.all([this.#nodes.whenSynced(signal), this.#pods.whenSynced(signal)]).catch(() => undefined);
		await runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
	}

	async reconcile(key: string): Promise<Outcome> {
		const pod = this.#pods.get(key);
		const node = this.#nodes.get(pod?.spec.nodeName ?? "");
		if (pod === undefined || node === undefined) return SETTLED;
		const nowMs = this.#ports.clock.wallMs();
		const eviction = evictionOf(pod, node, nowMs);
		switch (eviction.kind) {
			case "none":
				return SETTLED;
			case "later":
				return { kind: "recheck", afterMs: eviction.atMs - nowMs, why: "it tolerates its node's taints until then" };
			case "now":
				await this.#evict(pod);
				return SETTLED;
		}
	}

	#see(pod: Pod): void {
		const node = this.#nodes.get(pod.spec.nodeName ?? "");
		if (node !== undefined && isTainted(node)) this.#queue.add(keyOf(pod));
	}

	#seeNode(node: Node): void {
		if (isTainted(node)) for (const pod of this.#podsByNode.on(node.metadata.name)) this.#queue.add(keyOf(pod));
	}

	async #evict(pod: Pod): Promise<void> {
		const { client, clock, recorder } = this.#ports;
		const place = splitKey(keyOf(pod));
		const { uid } = pod.metadata;
		const message = `Marking for deletion Pod ${keyOf(pod)}`;
		recorder.record({
			component: COMPONENT,
			resource: PODS,
			object: pod,
			type: "Normal",
			reason: "TaintManagerEviction",
			message,
		});
		const why = { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };
		const { conditions } = disruptedStatus(pod, why, clock.wallMs());
		const body = { metadata: { uid }, status: { conditions } };
		await ignoreNotFound(client.patch(PODS, place, { type: "strategic", body }, { subresource: "status" }));
		await ignoreNotFound(client.delete(PODS, place, { preconditions: { uid } }));
	}
}

function isTainted({ spec }: Node): boolean {
	return (spec?.taints ?? []).some(({ effect }) => effect === "NoExecute");
}
