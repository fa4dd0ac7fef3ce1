/**
 * All simulated nodes as one object: thousands of nodes and Pods are data and one heap of timers, not threads.
 *
 * Each Pod that is bound to one of the nodes is brought through its life (plan/pod-lifecycle): a status
 * write for every step, addresses from its node's range, and at the end the delete that makes it disappear.
 */
import { keyOf, splitKey } from "../api/resource.ts";
import { NODES, PODS } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Pod } from "../api/types/core.ts";
import type { Clock } from "../kernel/clock.ts";
import { deepEqual } from "../kernel/json.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import { MinHeap } from "../kernel/min-heap.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { EventSink } from "../machinery/event-recorder.ts";
import { ignoreAlreadyExists } from "../machinery/expected-errors.ts";
import type { Informers } from "../machinery/informers.ts";
import { type Behaviour, behaviourOf } from "../plan/pod-lifecycle/behaviour.ts";
import { podStatusAt } from "../plan/pod-lifecycle/pod-status.ts";
import { nextStageMs, type PodRun, stageAt } from "../plan/pod-lifecycle/stage.ts";
import { AddressPool } from "./address-pool.ts";
import { type NodePoolOptions, nodeObject, type SimulatedNode, simulatedNodes } from "./node-pool.ts";

export interface FleetPorts {
	readonly client: ApiClient;
	readonly informers: Informers;
	readonly clock: Clock;
	readonly log: Logger;
	readonly metrics: Metrics;
	readonly recorder: EventSink;
}

/** A Pod as its node knows it. */
interface Runtime {
	readonly key: string;
	readonly uid: string;
	readonly node: NodeRuntime;
	readonly behaviour: Behaviour;
	readonly podIPs: readonly string[];
	run: PodRun;
	/** The time of the next step in the heap; an older entry there is void. */
	dueMs: number | undefined;
	isBusy: boolean;
	/** Seen while a step was under way: look again when it is done. */
	isMissed: boolean;
	failures: number;
}

interface Due {
	readonly runtime: Runtime;
	readonly atMs: number;
	/** Of steps due at one time the one that was scheduled first goes first. */
	readonly order: number;
}

interface NodeRuntime {
	readonly node: SimulatedNode;
	readonly pools: readonly AddressPool[];
}

/** Status writes under way at once. */
const WRITES_MAX = 32;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 10_000;

export class Fleet {
	readonly name = "kubelet";
	readonly #ports: FleetPorts;
	readonly #options: NodePoolOptions;
	readonly #nodes: ReadonlyMap<string, NodeRuntime>;
	readonly #runtimes = new Map<string, Runtime>();
	readonly #due = new MinHeap<Due>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));
	#scheduled = 0;
	#wake: () => void = () => undefined;
	#writing = 0;

	/** @throws {RangeError} As {@link simulatedNodes}. */
	constructor(ports: FleetPorts, options: NodePoolOptions) {
		this.#ports = ports;
		this.#options = options;
		this.#nodes = new Map(
			simulatedNodes(options).map((node) => [
				node.name,
				{ node, pools: node.podCIDRs.map((range) => new AddressPool(range)) },
			]),
		);
	}

	async run(signal: AbortSignal): Promise<void> {
		await this.#register();
		const pods = this.#ports.informers.of(PODS);
		pods.addHandlers({
			added: (pod) => this.#see(pod),
			updated: (_old, pod) => this.#see(pod),
			deleted: (pod) => this.#forget(pod),
		});
		while (!signal.aborted) {
			this.#startDue();
			await this.#untilNext(signal);
		}
	}

	/** Makes the Node objects that are not there yet. */
	async #register(): Promise<void> {
		const { client, clock } = this.#ports;
		const now = `${new Date(clock.wallMs()).toISOString().slice(0, 19)}Z`;
		for (const { node } of this.#nodes.values()) {
			await ignoreAlreadyExists(client.create(NODES, "", nodeObject(node, this.#options, now)));
		}
	}

	#see(pod: Pod): void {
		const runtime = this.#runtimeOf(pod);
		if (runtime === undefined) return;
		const { deletionTimestamp } = pod.metadata;
		if (deletionTimestamp !== undefined) {
			const deadlineMs = Date.parse(deletionTimestamp);
			const sinceMs = runtime.run.stopping?.sinceMs ?? this.#ports.clock.wallMs();
			runtime.run = { ...runtime.run, stopping: { sinceMs, deadlineMs } };
		}
		this.#schedule(runtime, this.#ports.clock.wallMs());
	}

	/** What this Pod's node knows of it; undefined for Pods of other nodes, and for those that have ended. */
	#runtimeOf(pod: Pod): Runtime | undefined {
		const known = this.#runtimes.get(pod.metadata.uid);
		if (known !== undefined) return known;
		const node = this.#nodes.get(pod.spec.nodeName ?? "");
		if (node === undefined || isTerminal(pod)) return undefined;
		const behaviour = behaviourOf(pod);
		for (const message of behaviour.problems) this.#warn(pod, "InvalidAnnotation", message);
		const runtime: Runtime = {
			key: keyOf(pod),
			uid: pod.metadata.uid,
			node,
			behaviour,
			podIPs: this.#addressesFor(pod, node),
			run: { boundMs: startOf(pod) ?? this.#ports.clock.wallMs() },
			dueMs: undefined,
			isBusy: false,
			isMissed: false,
			failures: 0,
		};
		this.#runtimes.set(runtime.uid, runtime);
		return runtime;
	}

	/** A Pod that had addresses keeps them: they do not change while it lives. */
	#addressesFor(pod: Pod, { node, pools }: NodeRuntime): readonly string[] {
		if (pod.spec.hostNetwork === true) return node.addresses;
		const had = (pod.status?.podIPs ?? []).map(({ ip }) => ip);
		if (had.length > 0) {
			for (const pool of pools) for (const ip of had) pool.adopt(ip);
			return had;
		}
		const taken = pools.map((pool) => pool.take());
		const addresses = taken.filter((address) => address !== undefined);
		if (addresses.length < pools.length) {
			this.#warn(pod, "FailedCreatePodSandBox", `no free address in the range of node ${node.name}`);
		}
		return addresses;
	}

	#warn(object: Pod, reason: string, message: string): void {
		this.#ports.recorder.record({ component: "kubelet", resource: PODS, object, type: "Warning", reason, message });
	}

	#forget(pod: Pod): void {
		const runtime = this.#runtimes.get(pod.metadata.uid);
		if (runtime === undefined) return;
		this.#runtimes.delete(runtime.uid);
		if (pod.spec.hostNetwork === true) return;
		for (const pool of runtime.node.pools) for (const ip of runtime.podIPs) pool.release(ip);
	}

	#schedule(runtime: Runtime, atMs: number): void {
		if (runtime.dueMs !== undefined && runtime.dueMs <= atMs) return;
		runtime.dueMs = atMs;
		this.#due.push({ runtime, atMs, order: this.#scheduled++ });
		this.#wake();
	}

	/** Starts the steps that are due, as far as the limit of writes under way allows. */
	#startDue(): void {
		const nowMs = this.#ports.clock.wallMs();
		while (this.#writing < WRITES_MAX) {
			const due = this.#due.peek();
			if (due === undefined || due.atMs > nowMs) return;
			this.#due.pop();
			const { runtime, atMs } = due;
			if (runtime.dueMs !== atMs) continue;
			runtime.dueMs = undefined;
			if (this.#runtimes.get(runtime.uid) !== runtime) continue;
			if (runtime.isBusy) runtime.isMissed = true;
			else this.#start(runtime);
		}
	}

	#start(runtime: Runtime): void {
		this.#writing++;
		runtime.isBusy = true;
		runtime.isMissed = false;
		void this.#step(runtime).then((againMs) => {
			this.#writing--;
			runtime.isBusy = false;
			const nextMs = runtime.isMissed ? this.#ports.clock.wallMs() : againMs;
			if (nextMs !== undefined) this.#schedule(runtime, nextMs);
			this.#wake();
		});
	}

	async #untilNext(signal: AbortSignal): Promise<void> {
		const woken = new AbortController();
		const wake = (): void => woken.abort();
		this.#wake = wake;
		signal.addEventListener("abort", wake, { once: true });
		const nextMs = this.#due.peek()?.atMs;
		const isFull = this.#writing >= WRITES_MAX;
		const waitMs = nextMs === undefined || isFull ? IDLE_MS : Math.max(0, nextMs - this.#ports.clock.wallMs());
		await this.#ports.clock.sleep(Math.min(waitMs, IDLE_MS), woken.signal).catch(() => undefined);
		signal.removeEventListener("abort", wake);
	}

	/** One step in the life of a Pod. Resolves with the time of the next one. */
	async #step(runtime: Runtime): Promise<number | undefined> {
		const { clock, log } = this.#ports;
		try {
			const pod = this.#ports.informers.of(PODS).get(runtime.key);
			if (pod === undefined || pod.metadata.uid !== runtime.uid) return undefined;
			await this.#bringForward(runtime, pod);
			runtime.failures = 0;
			return nextStageMs(runtime.run, runtime.behaviour, clock.wallMs());
		} catch (error) {
			if (hasReason(error, "NotFound")) return undefined;
			runtime.failures++;
			const delayMs = Math.min(RETRY_MS_MIN * 2 ** (runtime.failures - 1), RETRY_MS_MAX);
			if (!hasReason(error, "Conflict")) log.warn("Pod step failed", { pod: runtime.key, error, delayMs });
			return clock.wallMs() + delayMs;
		}
	}

	/** Writes the status of the Pod's stage; one that was deleted and has ended is removed. */
	async #bringForward(runtime: Runtime, pod: Pod): Promise<void> {
		const { client, clock } = this.#ports;
		const nowMs = clock.wallMs();
		const stage = stageAt(runtime.run, runtime.behaviour, nowMs);
		const place = { hostIPs: runtime.node.node.addresses, podIPs: runtime.podIPs };
		const status = podStatusAt(pod, place, stage, runtime.run.boundMs, nowMs);
		if (!isTerminal(pod) && !deepEqual(status, pod.status)) {
			await client.update(PODS, { ...pod, status }, { subresource: "status" });
		}
		if (stage.kind !== "ended" || pod.metadata.deletionTimestamp === undefined) return;
		await client.delete(PODS, splitKey(runtime.key), { gracePeriodSeconds: 0, preconditions: { uid: runtime.uid } });
	}
}

/** With nothing due, the loop still looks around so often. */
const IDLE_MS = 60_000;

function isTerminal(pod: Pod): boolean {
	return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** When its node began with it, for a Pod that an earlier run of this program brought up. */
function startOf(pod: Pod): number | undefined {
	const { startTime } = pod.status ?? {};
	return startTime === undefined ? undefined : Date.parse(startTime);
}
