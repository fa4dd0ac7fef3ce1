/**
 * The data plane with a network namespace for each node: pods listen there, rules are in their kernels, DNS is in the
 * network that joins them. The ordinary data plane runs beside it, in memory, for probes and what the API sends to pods.
 *
 * An update is carried out in an order that loses no connection: new pods listen before rules lead to them, and pods
 * that are gone listen until no rule does.
 */
import type { EchoPod } from "../edge/echo-pod.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ServedService } from "../plan/service-map/served-service.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { Channel, ChannelUser } from "./data-plane-channel.ts";
import type { Changes, DataPlaneUpdate, FromDataPlane, ToDataPlane } from "./data-plane-messages.ts";
import { ListenedPorts } from "./listened-ports.ts";
import type { NodeKernel } from "./node-kernel.ts";

export interface NetnsNode {
	readonly agent: Pick<AgentProcess, "ask">;
	readonly kernel: Pick<NodeKernel, "decide" | "commit" | "checked" | "synced">;
}

export interface NetnsSites {
	readonly nodes: ReadonlyMap<string, NetnsNode>;
	readonly lan: Pick<AgentProcess, "ask">;
	/** Addresses that pods on a node's own network share. */
	readonly nodeAddresses: ReadonlySet<string>;
}

/** A kernel that refuses its rules must not keep pods from coming and going. */
const RULES_MS_MAX = 2_000;

export class NetnsChannel implements Channel {
	readonly #sites: NetnsSites;
	readonly #clock: Clock;
	readonly #user: ChannelUser;
	readonly #inner: Channel;
	/** By key, with the ports that they listen on. */
	readonly #pods = new Map<string, EchoPod>();
	readonly #keys = new Map<string, string>();
	readonly #ports: ListenedPorts;
	readonly #zone = { services: new Map<string, ServedService>(), namespaces: new Set<string>() };
	#innerApplied: () => void = () => undefined;
	#firstApplied: () => void = () => undefined;
	/** Resolves when pods and rules of the first update are there. */
	readonly ready: Promise<void> = new Promise((resolve) => {
		this.#firstApplied = resolve;
	});
	/** The next update says everything that there is: what it does not name is gone. */
	#isNextFull = true;
	#last: Promise<void> = Promise.resolve();

	/** @param openInner Opens the data plane in memory, with this as its user. */
	constructor(sites: NetnsSites, clock: Clock, user: ChannelUser, openInner: (user: ChannelUser) => Channel) {
		this.#sites = sites;
		this.#ports = new ListenedPorts(sites.nodeAddresses);
		this.#clock = clock;
		this.#user = user;
		this.#inner = openInner({
			started: () => this.#started(),
			received: (message) => this.#received(message),
		});
	}

	post(message: ToDataPlane): void {
		if (message.kind !== "update") {
			this.#inner.post(message);
			return;
		}
		// By what is known now: what comes later leads to pods of the next update.
		for (const { kernel } of this.#sites.nodes.values()) kernel.decide();
		this.#last = this.#last.then(() => this.#update(message));
	}

	stop(): Promise<void> {
		return this.#inner.stop();
	}

	/** Everything that a process of a node has to know which knows nothing. */
	async tellNode(name: string): Promise<void> {
		const node = this.#sites.nodes.get(name);
		if (node === undefined) return;
		const put = [...this.#pods.values()].filter(({ nodeName }) => nodeName === name);
		await node.agent.ask({ kind: "pods", pods: { put, remove: [] } });
		await node.agent.ask({ kind: "tables", tables: { put: node.kernel.checked, remove: [] } });
	}

	async tellLan(): Promise<void> {
		const services = { put: [...this.#zone.services.values()], remove: [] };
		await this.#sites.lan.ask({ kind: "zone", services, namespaces: { put: [...this.#zone.namespaces], remove: [] } });
	}

	#started(): void {
		this.#innerApplied();
		this.#isNextFull = true;
		this.#user.started();
	}

	#received(message: FromDataPlane): void {
		if (message.kind === "applied") this.#innerApplied();
		else this.#user.received(message);
	}

	async #update(told: DataPlaneUpdate): Promise<void> {
		const { nodes, lan } = this.#sites;
		const update = this.#isNextFull ? this.#withGone(told) : told;
		this.#isNextFull = false;
		const applied = new Promise<void>((resolve) => {
			this.#innerApplied = resolve;
		});
		this.#inner.post(update);
		await Promise.all([...this.#comers(update)].map(([node, put]) => this.#tellPods(node, { put, remove: [] })));
		this.#keepZone(update);
		await lan.ask({ kind: "zone", services: update.services, namespaces: update.namespaces });
		for (const { kernel, agent } of nodes.values()) {
			const tables = kernel.commit();
			if (tables.put.length > 0 || tables.remove.length > 0) void agent.ask({ kind: "tables", tables });
		}
		await this.#rulesSynced();
		await Promise.all([...this.#goers(update)].map(([node, remove]) => this.#tellPods(node, { put: [], remove })));
		await applied;
		this.#firstApplied();
		this.#user.received({ kind: "applied", asOf: update.asOf });
	}

	#withGone(update: DataPlaneUpdate): DataPlaneUpdate {
		const gone = (known: Iterable<string>, put: readonly string[]): string[] =>
			[...known].filter((key) => !put.includes(key));
		const { pods, services, namespaces } = update;
		return {
			...update,
			pods: { ...pods, remove: gone(this.#pods.keys(), keysOf(pods.put)) },
			services: { ...services, remove: gone(this.#zone.services.keys(), keysOf(services.put)) },
			namespaces: { ...namespaces, remove: gone(this.#zone.namespaces, namespaces.put) },
		};
	}

	async #tellPods(node: string, pods: Changes<EchoPod>): Promise<void> {
		await this.#sites.nodes.get(node)?.agent.ask({ kind: "pods", pods });
	}

	/** By node: pods that are new or have changed, and those that a slice has given more ports. */
	#comers({ pods, services }: DataPlaneUpdate): ReadonlyMap<string, EchoPod[]> {
		const more = this.#ports.name(services.put);
		const put = new Map(pods.put.map((pod) => [pod.key, pod]));
		for (const ip of more) {
			const pod = this.#pods.get(this.#keys.get(ip) ?? "");
			if (pod !== undefined && !put.has(pod.key)) put.set(pod.key, pod);
		}
		const comers = [...put.values()].map((pod) => ({ ...pod, ports: this.#ports.of(pod) }));
		for (const pod of comers) {
			this.#pods.set(pod.key, pod);
			for (const ip of pod.ips) this.#keys.set(ip, pod.key);
		}
		return grouped(comers, ({ nodeName }) => nodeName);
	}

	/** By node: keys of pods that are gone. */
	#goers({ pods }: DataPlaneUpdate): ReadonlyMap<string, string[]> {
		const gone = pods.remove.flatMap((key) => this.#pods.get(key) ?? []);
		for (const { key, ips } of gone) {
			this.#pods.delete(key);
			const left = ips.filter((ip) => this.#keys.get(ip) === key);
			for (const ip of left) this.#keys.delete(ip);
			this.#ports.forget(left);
		}
		const byNode = grouped(gone, ({ nodeName }) => nodeName);
		return new Map([...byNode].map(([node, list]) => [node, list.map(({ key }) => key)]));
	}

	#keepZone({ services, namespaces }: DataPlaneUpdate): void {
		for (const key of services.remove) this.#zone.services.delete(key);
		for (const service of services.put) this.#zone.services.set(service.key, service);
		for (const name of namespaces.remove) this.#zone.namespaces.delete(name);
		for (const name of namespaces.put) this.#zone.namespaces.add(name);
	}

	async #rulesSynced(): Promise<void> {
		const late = new AbortController();
		const synced = Promise.all([...this.#sites.nodes.values()].map(({ kernel }) => kernel.synced()));
		await Promise.race([synced, this.#clock.sleep(RULES_MS_MAX, late.signal).catch(() => undefined)]);
		late.abort();
	}
}

function keysOf(items: readonly { readonly key: string }[]): readonly string[] {
	return items.map(({ key }) => key);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
	const groups = new Map<string, T[]>();
	for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
	return groups;
}
