/** Removes Pods that no kubelet will ever finish, and those that ended long ago. */
import { keyOf, splitKey } from "../api/resource.ts";
import { NODES, PODS } from "../api/resource-names.ts";
import type { Node, Pod } from "../api/types/core.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import { disruptedStatus } from "../plan/node-lifecycle/eviction.ts";
import { NODE_GONE, planPodGarbage } from "../plan/node-lifecycle/pod-garbage.ts";
import { hasEnded } from "../plan/workloads/pod-state.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

const SCAN_MS = 20_000;
/** A Node that is absent for so long is gone; one that was only made anew is back by then. */
const QUARANTINE_MS = 40_000;
/** `--terminated-pod-gc-threshold` of kube-controller-manager, at its default. */
const ENDED_MAX = 12_500;

export class PodGarbageCollector implements Controller {
	readonly name = "pod-garbage-collector-controller";
	readonly #ports: ControllerPorts;
	readonly #nodes: Informer<Node>;
	readonly #pods: Informer<Pod>;
	readonly #endedMax: number;
	/** When each Node that Pods name was first missed. */
	readonly #missedMs = new Map<string, number>();

	constructor(ports: ControllerPorts, endedMax: number = ENDED_MAX) {
		this.#ports = ports;
		this.#nodes = ports.informers.of(NODES);
		this.#pods = ports.informers.of(PODS);
		this.#endedMax = endedMax;
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock } = this.#ports;
		await Promise.all([this.#nodes.whenSynced(signal), this.#pods.whenSynced(signal)]).catch(() => undefined);
		while (!signal.aborted) {
			await this.#scan();
			await clock.sleep(SCAN_MS, signal).catch(() => undefined);
		}
	}

	async #scan(): Promise<void> {
		const nowMs = this.#ports.clock.monotonicMs();
		const pods = this.#pods.list();
		this.#noteMissing(pods, nowMs);
		const garbage = planPodGarbage({
			pods,
			node: (name) => this.#nodes.get(name),
			isGone: (name) => nowMs - (this.#missedMs.get(name) ?? nowMs) >= QUARANTINE_MS,
			endedMax: this.#endedMax,
		});
		for (const pod of garbage.orphaned) await this.#guard(pod, () => this.#removeOrphan(pod));
		for (const pod of garbage.removed) await this.#guard(pod, () => this.#remove(pod));
	}

	#noteMissing(pods: readonly Pod[], nowMs: number): void {
		const named = new Set(pods.map(({ spec }) => spec.nodeName ?? ""));
		for (const name of this.#missedMs.keys()) {
			if (!named.has(name) || this.#nodes.get(name) !== undefined) this.#missedMs.delete(name);
		}
		for (const name of named) {
			if (name === "" || this.#missedMs.has(name) || this.#nodes.get(name) !== undefined) continue;
			this.#missedMs.set(name, nowMs);
		}
	}

	/** It is told as failed first, so that whoever waits for its end sees one. */
	async #removeOrphan(pod: Pod): Promise<void> {
		if (!hasEnded(pod)) {
			const status = { ...disruptedStatus(pod, NODE_GONE, this.#ports.clock.wallMs()), phase: "Failed" as const };
			const { uid } = pod.metadata;
			const patch = { type: "strategic", body: { metadata: { uid }, status } } as const;
			await ignoreNotFound(this.#ports.client.patch(PODS, splitKey(keyOf(pod)), patch, { subresource: "status" }));
		}
		await this.#remove(pod);
	}

	async #remove(pod: Pod): Promise<void> {
		const options = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } };
		await ignoreNotFound(this.#ports.client.delete(PODS, splitKey(keyOf(pod)), options));
	}

	/** One that cannot be removed now is tried again at the next scan. */
	async #guard(pod: Pod, remove: () => Promise<void>): Promise<void> {
		try {
			await remove();
		} catch (error) {
			this.#ports.log.warn("Pod was not collected", { pod: keyOf(pod), error });
		}
	}
}
