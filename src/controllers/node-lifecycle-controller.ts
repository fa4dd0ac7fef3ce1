/** Notices nodes that fell silent: says so in their conditions, taints them, and takes their Pods out of service. */
import { keyOf } from "../api/resource.ts";
import { LEASES, NODES, PODS } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Node, Pod } from "../api/types/core.ts";
import { type Outcome, type Reconciler, runWorkers, SETTLED } from "../machinery/controller.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import type { WorkQueue } from "../machinery/work-queue.ts";
import {
	type NodeProbe,
	nextProbe,
	readyOf,
	readyStatusOf,
	silentConditions,
	unreadyStatus,
} from "../plan/node-lifecycle/node-health.ts";
import { wantedTaints } from "../plan/node-lifecycle/node-taints.ts";
import { PodsByNode } from "./pods-by-node.ts";
import type { Controller, ControllerPorts } from "./ports.ts";

export interface NodeLifecycleOptions {
	/** `--node-monitor-grace-period`: silence after which nothing is known of a node. Default 50 s. */
	readonly gracePeriodMs: number;
}

const DEFAULTS: NodeLifecycleOptions = { gracePeriodMs: 50_000 };

const COMPONENT = "node-controller";
const WORKERS = 8;
/** `--node-monitor-period` of kube-controller-manager, at its default. */
const MONITOR_MS_MAX = 5_000;
/** So many looks fit into the time after which a node counts as lost. */
const LOOKS_PER_GRACE = 10;
const LEASE_NAMESPACE = "kube-node-lease";

export class NodeLifecycleController implements Controller, Reconciler {
	readonly name = "node-lifecycle-controller";
	readonly #ports: ControllerPorts;
	readonly #options: NodeLifecycleOptions;
	readonly #nodes: Informer<Node>;
	readonly #leases: Informer<Lease>;
	readonly #podsByNode: PodsByNode;
	/** Keys are names of nodes. */
	readonly #queue: WorkQueue<string>;
	readonly #probes = new Map<string, NodeProbe>();

	constructor(ports: ControllerPorts, options: Partial<NodeLifecycleOptions> = {}) {
		this.#ports = ports;
		this.#options = { ...DEFAULTS, ...options };
		this.#nodes = ports.informers.of(NODES);
		this.#leases = ports.informers.of(LEASES);
		this.#podsByNode = new PodsByNode(ports.informers.of(PODS));
		this.#queue = ports.queues.make({ name: "node_lifecycle" });
	}

	async run(signal: AbortSignal): Promise<void> {
		const { clock, informers, log } = this.#ports;
		this.#nodes.addHandlers({
			added: ({ metadata }) => this.#queue.add(metadata.name),
			updated: (_old, { metadata }) => this.#queue.add(metadata.name),
			deleted: ({ metadata }) => {
				this.#probes.delete(metadata.name);
			},
		});
		const read = [this.#nodes, this.#leases, informers.of(PODS)];
		await Promise.all(read.map((informer) => informer.whenSynced(signal))).catch(() => undefined);
		const workers = runWorkers(this.#queue, this, { workers: WORKERS, clock, log, signal, retriesMax: 0 });
		const monitorMs = Math.min(MONITOR_MS_MAX, this.#options.gracePeriodMs / LOOKS_PER_GRACE);
		while (!signal.aborted) {
			for (const { metadata } of this.#nodes.list()) this.#queue.add(metadata.name);
			await clock.sleep(monitorMs, signal).catch(() => undefined);
		}
		await workers;
	}

	async reconcile(name: string): Promise<Outcome> {
		const found = this.#nodes.get(name);
		if (found === undefined) return SETTLED;
		const { clock } = this.#ports;
		const lease = this.#leases.get(`${LEASE_NAMESPACE}/${name}`);
		const probe = nextProbe(this.#probes.get(name), found, lease, clock.monotonicMs());
		this.#probes.set(name, probe);
		// Made by hand: what its maker says of it, or does not say, stands.
		if (!probe.hasReporter && readyOf(found) === undefined) return SETTLED;
		const isSilent = probe.hasReporter && clock.monotonicMs() - probe.seenMs > this.#options.gracePeriodMs;
		const node = isSilent ? await this.#markSilent(found) : found;
		if (node === undefined) return SETTLED;
		if (readyStatusOf(node) !== "True") await this.#markPods(name);
		await this.#taint(node);
		return SETTLED;
	}

	/** undefined when somebody else wrote first: that write brings the node here again. */
	async #markSilent(node: Node): Promise<Node | undefined> {
		const conditions = silentConditions(node, this.#ports.clock.wallMs());
		if (conditions === undefined) return node;
		const wasReady = readyStatusOf(node) === "True";
		const next = { ...node, status: { ...node.status, conditions } };
		const written = await ignoreRace(this.#ports.client.update(NODES, next, { subresource: "status" }));
		if (written !== undefined && wasReady) {
			const message = `Node ${node.metadata.name} status is now: NodeNotReady`;
			this.#ports.recorder.record({
				component: COMPONENT,
				resource: NODES,
				object: node,
				type: "Normal",
				reason: "NodeNotReady",
				message,
			});
		}
		return written;
	}

	/** Nobody can say that they are ready, so nobody should be sent to them. */
	async #markPods(nodeName: string): Promise<void> {
		for (const pod of this.#podsByNode.on(nodeName)) await this.#markPod(pod);
	}

	async #markPod(pod: Pod): Promise<void> {
		const status = unreadyStatus(pod, this.#ports.clock.wallMs());
		if (status === undefined) return;
		const update = this.#ports.client.update(PODS, { ...pod, status }, { subresource: "status" });
		if ((await ignoreRace(update)) === undefined) return;
		this.#ports.recorder.record({
			component: COMPONENT,
			resource: PODS,
			object: pod,
			type: "Warning",
			reason: "NodeNotReady",
			message: "Node is not ready",
		});
	}

	async #taint(node: Node): Promise<void> {
		const evicts = this.#nodes.list().some((other) => readyStatusOf(other) === "True");
		const taints = wantedTaints(node, { evicts, nowMs: this.#ports.clock.wallMs() });
		if (taints === undefined) return;
		const { taints: _, ...spec } = node.spec ?? {};
		const next = { ...node, spec: taints.length === 0 ? spec : { ...spec, taints } };
		await ignoreRace(this.#ports.client.update(NODES, next));
		this.#ports.log.debug("Node was tainted", { node: keyOf(node), taints: taints.map(({ key }) => key) });
	}
}

/** Gone, or changed by somebody else: the next look sees it. */
async function ignoreRace<T>(write: Promise<T>): Promise<T | undefined> {
	try {
		return await ignoreNotFound(write);
	} catch (error) {
		if (hasReason(error, "Conflict")) return undefined;
		throw error;
	}
}
