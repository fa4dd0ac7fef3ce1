/**
 * All simulated nodes as one object: thousands of nodes and Pods are data and one heap of timers, not threads.
 *
 * Each Pod that is bound to one of the nodes is brought through its life (plan/pod-lifecycle): a status
 * write for every step, addresses from its node's range, and at the end the delete that makes it disappear.
 */
import { keyOf, splitKey } from "../api/resource.ts";
import { NODES, PODS } from "../api/resource-names.ts";
import { compareResourceVersions } from "../api/resource-version.ts";
import { hasReason } from "../api/status.ts";
import type { Pod } from "../api/types/core.ts";
import { deepEqual } from "../kernel/json.ts";
import type { Metrics } from "../kernel/metrics.ts";
import { MinHeap } from "../kernel/min-heap.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { asManager } from "../machinery/as-manager.ts";
import type { Informers } from "../machinery/informers.ts";
import { type Behaviour, behaviourOf } from "../plan/pod-lifecycle/behaviour.ts";
import { type PodPlace, podStatusAt } from "../plan/pod-lifecycle/pod-status.ts";
import { healthTimes, nextStageMs, type PodRun, runOf, stageAt, stoppedRun } from "../plan/pod-lifecycle/stage.ts";
import { hasEnded } from "../plan/workloads/pod-state.ts";
import { FAILED_ANNOTATION, Heartbeats } from "./heartbeats.ts";
import { NodeAddresses } from "./node-addresses.ts";
import { type NodePoolOptions, type SimulatedNode, simulatedNodes } from "./node-pool.ts";
import { hasOwnLife, hasProcess, PodContainers, type PodContainersPorts } from "./pod-containers.ts";
import { PodLogger } from "./pod-logger.ts";
import type { PortMap } from "./ports.ts";
import { Registration } from "./registration.ts";

export interface FleetPorts extends PodContainersPorts {
	readonly client: ApiClient;
	readonly informers: Informers;
	readonly metrics: Metrics;
}

/** What its node knows of a Pod beyond its status. */
export interface PodInside {
	/** When it is well, by its annotations. */
	readonly health: ReturnType<typeof healthTimes>;
	/** Ports of this machine that its processes listen on, by its own; undefined: it has none. */
	readonly forwards: PortMap | undefined;
}

/** A Pod as its node knows it. */
interface Runtime {
	readonly key: string;
	readonly uid: string;
	readonly node: NodeRuntime;
	readonly behaviour: Behaviour;
	/** undefined as long as it has none. */
	podIPs: readonly string[] | undefined;
	run: PodRun;
	/** undefined before they run, and where time alone tells how they are doing. */
	containers: PodContainers | undefined;
	/** The Pod as its status was written last: nothing new comes with its event, which may be still to come. */
	written: Pod | undefined;
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
	readonly addresses: NodeAddresses;
	/** Pods that wait for an address. */
	readonly waiting: Set<Runtime>;
}

/** Status writes under way at once. */
const WRITES_MAX = 32;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 10_000;

export class Fleet {
	readonly name = "kubelet";
	readonly #ports: FleetPorts;
	readonly #nodes: ReadonlyMap<string, NodeRuntime>;
	readonly #podLogger: PodLogger;
	readonly #runtimes = new Map<string, Runtime>();
	readonly #registration: Registration;
	readonly #heartbeats: Heartbeats;
	readonly #due = new MinHeap<Due>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));
	#scheduled = 0;
	#wake: () => void = () => undefined;
	#writing = 0;

	/** @throws {RangeError} As {@link simulatedNodes}. */
	constructor(given: FleetPorts, options: NodePoolOptions) {
		const ports = { ...given, client: asManager(given.client, "kubelet") };
		this.#ports = ports;
		this.#podLogger = new PodLogger(ports.logs);
		this.#nodes = new Map(
			simulatedNodes(options).map((node) => [
				node.name,
				{ node, addresses: new NodeAddresses(node.podCIDRs), waiting: new Set<Runtime>() },
			]),
		);
		const { nodeMonitorGracePeriodMs: gracePeriodMs = 50_000 } = options;
		const names = [...this.#nodes.keys()];
		const nodes = [...this.#nodes.values()].map(({ node }) => node);
		this.#registration = new Registration(ports, nodes, options);
		this.#heartbeats = new Heartbeats(ports, { names, gracePeriodMs }, (name) => this.#resume(name));
	}

	async run(signal: AbortSignal): Promise<void> {
		await this.#registration.attempt();
		const pods = this.#ports.informers.of(PODS);
		pods.addHandlers({
			added: (pod) => this.#see(pod),
			updated: (_old, pod) => this.#see(pod),
			deleted: (pod) => this.#forget(pod),
		});
		await Promise.all([this.#registration.run(signal), this.#heartbeats.run(signal), this.#bringOn(signal)]);
	}

	async #bringOn(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			this.#startDue();
			await this.#untilNext(signal);
		}
		for (const { containers } of this.#runtimes.values()) containers?.leave();
	}

	/** undefined for Pods that are none of its own. */
	inside(podUID: string): PodInside | undefined {
		const runtime = this.#runtimes.get(podUID);
		if (runtime === undefined) return undefined;
		return { health: healthTimes(runtime.run, runtime.behaviour), forwards: runtime.containers?.forwards };
	}

	/** Makes the node fall silent: no heartbeats, and nothing happens to its Pods. */
	async fail(nodeName: string): Promise<void> {
		await this.#annotate(nodeName, "true");
	}

	/** Lets the node come back; what happened to its Pods meanwhile is made up for. */
	async recover(nodeName: string): Promise<void> {
		await this.#annotate(nodeName, null);
	}

	async #annotate(name: string, failed: "true" | null): Promise<void> {
		const body = { metadata: { annotations: { [FAILED_ANNOTATION]: failed } } };
		await this.#ports.client.patch(NODES, { namespace: "", name }, { type: "merge", body });
	}

	#resume(nodeName: string): void {
		const nowMs = this.#ports.clock.wallMs();
		for (const runtime of this.#runtimes.values()) {
			if (runtime.node.node.name === nodeName) this.#schedule(runtime, nowMs);
		}
	}

	/** One of its Pods answered a request; unknown ones are none of its Pods any more. */
	answered({ podUID, port, atMs, text }: AnsweredRequest): void {
		const pod = this.#ports.informers.of(PODS).get(this.#runtimes.get(podUID)?.key ?? "");
		if (pod?.metadata.uid === podUID) this.#podLogger.answered(pod, port, atMs, text);
	}

	#see(pod: Pod): void {
		const runtime = this.#runtimeOf(pod);
		if (runtime === undefined || isSame(pod, runtime.written)) return;
		const nowMs = this.#ports.clock.wallMs();
		runtime.run = stoppedRun(runtime.run, pod, nowMs);
		this.#schedule(runtime, nowMs);
	}

	/** What this Pod's node knows of it; undefined for Pods of other nodes, and for those that have ended for good. */
	#runtimeOf(pod: Pod): Runtime | undefined {
		const known = this.#runtimes.get(pod.metadata.uid);
		if (known !== undefined) return known;
		const node = this.#nodes.get(pod.spec.nodeName ?? "");
		if (node === undefined || (hasEnded(pod) && pod.metadata.deletionTimestamp === undefined)) return undefined;
		const isProcess = hasProcess(pod, this.#ports);
		const byTime = behaviourOf(pod, this.#ports.prober !== undefined || isProcess);
		const behaviour = isProcess ? { ...byTime, ...ENDS_BY_ITSELF } : byTime;
		for (const message of behaviour.problems) this.#warn(pod, "InvalidAnnotation", message);
		const runtime: Runtime = {
			key: keyOf(pod),
			uid: pod.metadata.uid,
			node,
			behaviour,
			podIPs: adoptedAddresses(pod, node),
			run: runOf(pod, behaviour, this.#ports.clock.wallMs()),
			containers: undefined,
			written: undefined,
			dueMs: undefined,
			isBusy: false,
			isMissed: false,
			failures: 0,
		};
		this.#runtimes.set(runtime.uid, runtime);
		return runtime;
	}

	/**
	 * Gives the Pod addresses, if it has none. Not when it is seen, but with its first step: by then those of all
	 * Pods that were there before are known as taken.
	 */
	#place(runtime: Runtime, pod: Pod): void {
		const { node, run } = runtime;
		if (run.placedMs !== undefined || run.stopping !== undefined) return;
		runtime.podIPs ??= pod.spec.hostNetwork === true ? node.node.addresses : node.addresses.take();
		if (runtime.podIPs !== undefined) {
			// Pods that were seen together start together, however long their writes take.
			const placedMs = node.waiting.delete(runtime) ? this.#ports.clock.wallMs() : run.seenMs;
			runtime.run = { ...run, placedMs };
		} else if (!node.waiting.has(runtime)) {
			node.waiting.add(runtime);
			this.#warn(pod, "FailedCreatePodSandBox", `no free address in the range of node ${node.node.name}`);
		}
	}

	/** Its addresses are free again, for those who wait for one. */
	#release(runtime: Runtime, pod: Pod): void {
		const { node, podIPs } = runtime;
		node.waiting.delete(runtime);
		if (podIPs === undefined || pod.spec.hostNetwork === true) return;
		runtime.podIPs = undefined;
		node.addresses.release(podIPs);
		const [next] = node.waiting;
		if (next !== undefined) this.#schedule(next, this.#ports.clock.wallMs());
	}

	#warn(object: Pod, reason: string, message: string): void {
		this.#ports.recorder.record({ component: "kubelet", resource: PODS, object, type: "Warning", reason, message });
	}

	#forget(pod: Pod): void {
		const runtime = this.#runtimes.get(pod.metadata.uid);
		if (runtime === undefined) return;
		this.#runtimes.delete(runtime.uid);
		runtime.containers?.close();
		this.#podLogger.forget(runtime.uid);
		this.#release(runtime, pod);
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
		const wake = (): void => woken.abort(WOKEN);
		this.#wake = wake;
		signal.addEventListener("abort", wake, { once: true });
		await this.#ports.clock.sleep(this.#msToNext(), woken.signal).catch(() => undefined);
		signal.removeEventListener("abort", wake);
	}

	/** With nothing due, or too much under way, it is the next event or the end of a write that wakes. */
	#msToNext(): number {
		const nextMs = this.#due.peek()?.atMs;
		if (nextMs === undefined || this.#writing >= WRITES_MAX) return IDLE_MS;
		const waitMs = nextMs - this.#ports.clock.wallMs();
		return Math.min(Math.max(0, waitMs), IDLE_MS);
	}

	/** One step in the life of a Pod. Resolves with the time of the next one. */
	async #step(runtime: Runtime): Promise<number | undefined> {
		const { clock, log } = this.#ports;
		if (this.#heartbeats.isSilent(runtime.node.node.name)) return undefined;
		try {
			const seen = this.#ports.informers.of(PODS).get(runtime.key);
			if (seen === undefined || seen.metadata.uid !== runtime.uid) return undefined;
			const pod = newer(seen, runtime.written);
			this.#place(runtime, pod);
			const nowMs = clock.wallMs();
			await this.#bringForward(runtime, pod, nowMs);
			runtime.failures = 0;
			// From the time of the step, not from now: a stage that came while it was written is still to be written.
			return nextStageMs(runtime.run, runtime.behaviour, nowMs);
		} catch (error) {
			if (hasReason(error, "NotFound")) return undefined;
			runtime.failures++;
			const delayMs = Math.min(RETRY_MS_MIN * 2 ** (runtime.failures - 1), RETRY_MS_MAX);
			if (!hasReason(error, "Conflict")) log.warn("Pod step failed", { pod: runtime.key, error, delayMs });
			return clock.wallMs() + delayMs;
		}
	}

	/** Writes the status of the Pod's stage; one that was deleted and has ended is removed. */
	async #bringForward(runtime: Runtime, pod: Pod, nowMs: number): Promise<void> {
		const isOver = hasEnded(pod) || (await this.#writeStatus(runtime, pod, nowMs));
		if (!isOver) return;
		runtime.containers?.close();
		this.#release(runtime, pod);
		if (pod.metadata.deletionTimestamp === undefined) return;
		const options = { gracePeriodSeconds: 0, preconditions: { uid: runtime.uid } };
		await this.#ports.client.delete(PODS, splitKey(runtime.key), options);
	}

	/** Whether the Pod has ended. */
	async #writeStatus(runtime: Runtime, pod: Pod, nowMs: number): Promise<boolean> {
		const { run, behaviour, node, podIPs = [] } = runtime;
		const place = { hostIPs: node.node.addresses, podIPs };
		const byTime = stageAt(run, behaviour, nowMs);
		if (byTime.kind === "running") runtime.containers ??= await this.#startContainers(runtime, pod, place, byTime);
		const { containers } = runtime;
		if (run.stopping !== undefined) containers?.stop(run.stopping.deadlineMs);
		const stage = containers?.stage(byTime) ?? byTime;
		const status = podStatusAt(pod, place, stage, run.seenMs, nowMs, containers?.runs);
		if (!deepEqual(status, pod.status)) {
			runtime.written = await this.#ports.client.update(PODS, { ...pod, status }, { subresource: "status" });
		}
		this.#podLogger.at(pod, podIPs, stage, containers?.forwards === undefined);
		return stage.kind === "ended";
	}

	async #startContainers(
		runtime: Runtime,
		pod: Pod,
		place: PodPlace,
		{ startedMs }: { readonly startedMs: number },
	): Promise<PodContainers | undefined> {
		if (!hasOwnLife(pod, this.#ports)) return undefined;
		const changed = (): void => this.#schedule(runtime, this.#ports.clock.wallMs());
		return PodContainers.start(this.#ports, pod, place, { behaviour: runtime.behaviour, startedMs, changed });
	}
}

function isSame(pod: Pod, other: Pod | undefined): boolean {
	return pod.metadata.resourceVersion === other?.metadata.resourceVersion;
}

function newer(pod: Pod, other: Pod | undefined): Pod {
	const [a, b] = [pod.metadata.resourceVersion ?? "", other?.metadata.resourceVersion ?? ""];
	return other !== undefined && compareResourceVersions(a, b) < 0 ? other : pod;
}

/** A process ends when it does, and not when an annotation says so. */
const ENDS_BY_ITSELF = { stopMs: undefined, exitAfterMs: undefined } as const;
/** With nothing due, the loop still looks around so often. */
const IDLE_MS = 60_000;
/** Why a sleep ended early: made once, since an AbortController makes an error with a stack of its own each time. */
const WOKEN = new Error("woken");

/** A Pod that had addresses keeps them: they do not change while it lives. */
function adoptedAddresses(pod: Pod, { addresses }: NodeRuntime): readonly string[] | undefined {
	const { spec, status } = pod;
	const had = (status?.podIPs ?? []).map(({ ip }) => ip);
	// Those of a Pod that has ended are free, and may be another one's by now.
	if (had.length === 0 || hasEnded(pod)) return undefined;
	if (spec.hostNetwork !== true) addresses.adopt(had);
	return had;
}
