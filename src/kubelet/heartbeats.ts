/**
 * The signs of life of simulated nodes: a Lease that each renews, and the conditions of its Node.
 *
 * A node can be told to fall silent, and to come back. Which nodes are silent is written on the Node itself, so
 * that anyone who may write there can say so, and a restart does not forget it.
 */
import { LEASES, NODES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Node } from "../api/types/core.ts";
import type { Condition, Draft } from "../api/types/meta.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import type { Informer } from "../machinery/informer.ts";
import { timestamp } from "../plan/timestamp.ts";
import type { FleetPorts } from "./fleet.ts";
import { healthyConditions } from "./node-pool.ts";

/** On a Node, with the value "true": its kubelet does nothing. */
export const FAILED_ANNOTATION = "sliceplane.dev/failed";

const NAMESPACE = "kube-node-lease";
/** Each node renews its Lease at least so often; a kubelet's number, as are the seconds that it is good for. */
const RENEW_MS_MAX = 10_000;
/** So many renewals fit into the time after which a node counts as lost. */
const RENEWALS_PER_GRACE = 5;
const LEASE_SECONDS = 40;
/** The nodes take turns, in so many parts of the interval. */
const TURNS_MAX = 10;

export interface HeartbeatsOptions {
	readonly names: readonly string[];
	/** Silence after which a node counts as lost. */
	readonly gracePeriodMs: number;
}

export class Heartbeats {
	readonly #ports: Pick<FleetPorts, "client" | "informers" | "clock" | "log">;
	readonly #names: readonly string[];
	readonly #nodes: Informer<Node>;
	readonly #resumed: (nodeName: string) => void;
	readonly #silent = new Set<string>();

	readonly #renewMs: number;

	/** @param resumed Called when a node is back. */
	constructor(ports: FleetPorts, { names, gracePeriodMs }: HeartbeatsOptions, resumed: (nodeName: string) => void) {
		this.#ports = ports;
		this.#renewMs = Math.min(RENEW_MS_MAX, gracePeriodMs / RENEWALS_PER_GRACE);
		this.#names = names;
		this.#nodes = ports.informers.of(NODES);
		this.#resumed = resumed;
	}

	isSilent(nodeName: string): boolean {
		return this.#silent.has(nodeName);
	}

	/** Works until `signal` aborts. Never rejects. */
	async run(signal: AbortSignal): Promise<void> {
		const own = new Set(this.#names);
		const see = (node: Node): void => {
			if (own.has(node.metadata.name)) this.#follow(node);
		};
		this.#nodes.addHandlers({ added: see, updated: (_old, node) => see(node) });
		await this.#nodes.whenSynced(signal).catch(() => undefined);
		const turns = Math.max(1, Math.min(this.#names.length, TURNS_MAX));
		for (let turn = 0; !signal.aborted; turn = (turn + 1) % turns) {
			for (const [index, name] of this.#names.entries()) if (index % turns === turn) await this.#beat(name);
			await this.#ports.clock.sleep(this.#renewMs / turns, signal).catch(() => undefined);
		}
	}

	/** Makes the node silent, or wakes it, as its annotation says. */
	#follow({ metadata }: Node): void {
		const { name, annotations } = metadata;
		const isFailed = annotations?.[FAILED_ANNOTATION] === "true";
		if (isFailed === this.#silent.has(name)) return;
		if (isFailed) this.#silent.add(name);
		else {
			this.#silent.delete(name);
			void this.#beat(name).then(() => this.#resumed(name));
		}
	}

	async #beat(name: string): Promise<void> {
		const node = this.#nodes.get(name);
		// A kubelet does not bring back a Node that was deleted; it would register when it is started again.
		if (node === undefined || this.#silent.has(name)) return;
		try {
			await this.#renew(node);
			await this.#tell(node);
		} catch (error) {
			// Somebody else wrote first: the next beat starts from what is there then.
			if (hasReason(error, "Conflict") || hasReason(error, "AlreadyExists")) return;
			this.#ports.log.warn("Heartbeat failed", { node: name, error });
		}
	}

	async #renew(node: Node): Promise<void> {
		const { client, clock } = this.#ports;
		const { name } = node.metadata;
		const renewTime = `${new Date(clock.wallMs()).toISOString().slice(0, -1)}000Z`;
		const patch = { type: "merge", body: { spec: { renewTime } } } as const;
		const renewed = await ignoreNotFound(client.patch(LEASES, { namespace: NAMESPACE, name }, patch));
		if (renewed === undefined) await client.create(LEASES, NAMESPACE, leaseOf(node, renewTime));
	}

	/** Written only when it changes: the Lease says that the node lives. */
	async #tell(node: Node): Promise<void> {
		const before = node.status?.conditions ?? [];
		const now = timestamp(this.#ports.clock.wallMs());
		const healthy = healthyConditions(now);
		if (healthy.every(({ type, status }) => before.some((known) => known.type === type && known.status === status))) {
			return;
		}
		const foreign = before.filter(({ type }) => !healthy.some((condition) => condition.type === type));
		const conditions = [...foreign, ...healthy.map((condition) => withTransition(condition, before))];
		await this.#ports.client.update(
			NODES,
			{ ...node, status: { ...node.status, conditions } },
			{ subresource: "status" },
		);
	}
}

function withTransition(condition: Condition, before: readonly Condition[]): Condition {
	const known = before.find(({ type }) => type === condition.type);
	const isSame = known?.status === condition.status && known.lastTransitionTime !== undefined;
	return isSame ? { ...condition, lastTransitionTime: known.lastTransitionTime } : condition;
}

function leaseOf({ metadata }: Node, renewTime: string): Draft<Lease> {
	const { name, uid } = metadata;
	return {
		metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
		spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
	};
}
