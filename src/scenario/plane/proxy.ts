/** The proxy of one node: follows the API, decides like kube-proxy, and keeps a table of flows as a kernel would. */
import { setMaxListeners } from "node:events";
import type { InProcessClient } from "../../apiserver/in-process-client.ts";
import type { Random } from "../../kernel/random.ts";
import { Informers } from "../../machinery/informers.ts";
import type { RulesNode } from "../../plan/service-map/node-rules.ts";
import { type Flow, staleFlows } from "../../plan/service-map/stale-flows.ts";
import { NodeProxy } from "../../proxy/node-proxy.ts";
import { ServiceFollower } from "../../proxy/service-follower.ts";
import { FaultyClient } from "../../testing/faulty-client.ts";
import type { VirtualClock } from "../../testing/virtual-clock.ts";
import type { ComponentFaults } from "./component-faults.ts";
import { ComponentLog } from "./component-log.ts";

export interface NamedFlow extends Flow {
	readonly id: string;
}

export interface ProxyPorts {
	readonly client: InProcessClient;
	readonly clock: VirtualClock;
	readonly random: Random;
	readonly faults: ComponentFaults;
	/** Of the machine that it runs on. */
	readonly node: RulesNode;
	/** The name of the node, as the proxy was told it. */
	readonly startedAs: string;
	/** The machine's connection table. */
	readonly flows: readonly NamedFlow[];
}

/** kube-proxy waits so long for its own Node before it writes rules without it. */
const NODE_WAIT_MS = 30_000;

interface Life {
	readonly client: FaultyClient;
	readonly informers: Informers;
	readonly follower: ServiceFollower;
	readonly stopping: AbortController;
	readonly running: Promise<unknown>;
}

export class ScenarioProxy {
	readonly faults: ComponentFaults;
	/** What stands in the kernel: it outlives the process. */
	readonly rules: NodeProxy;
	readonly deletedFlows: string[] = [];
	/** What the last sync that had something to write wrote, in order. */
	lastSync: readonly ("rules" | "conntrack")[] = [];
	readonly #ports: ProxyPorts;
	#life: Life | undefined;
	#log: ComponentLog;
	/** Its Node is there, or it has waited long enough. */
	#mayWrite = false;

	constructor(ports: ProxyPorts) {
		this.#ports = ports;
		this.faults = ports.faults;
		this.rules = new NodeProxy(ports.node, ports);
		this.#log = new ComponentLog(ports.clock);
	}

	get log(): ComponentLog {
		return this.#log;
	}

	/** What its readiness check says: its rules were written. */
	get isReady(): boolean {
		return this.#mayWrite && this.#life?.follower.isReady === true;
	}

	get isRunning(): boolean {
		return this.#life !== undefined;
	}

	start(): void {
		if (this.#life !== undefined) return;
		const { client: server, clock, random, faults, startedAs } = this.#ports;
		const log = new ComponentLog(clock);
		this.#log = log;
		this.#mayWrite = false;
		const client = new FaultyClient(server, faults);
		const informers = new Informers({ client, clock, random, log });
		const follower = new ServiceFollower(informers, startedAs, log);
		const stopping = new AbortController();
		setMaxListeners(0, stopping.signal);
		const unfollow = follower.follow(() => this.#changed());
		const running = Promise.all([informers.run(stopping.signal), this.#waitForNode(stopping.signal)]).finally(unfollow);
		this.#life = { client, informers, follower, stopping, running };
	}

	async stop(): Promise<void> {
		const life = this.#life;
		this.#life = undefined;
		this.#mayWrite = false;
		life?.stopping.abort();
		await life?.running;
	}

	breakWatches(): void {
		this.#life?.client.breakWatches();
	}

	/** One sync, also when nothing changed: rules first, then flows that the new rules leave stale. */
	sync(): void {
		if (this.#life === undefined || !this.isReady) return;
		const { node, flows } = this.#ports;
		const hasNews = this.#life.follower.isBehind;
		const removed = this.#life.follower.sync(this.rules);
		const left = flows.filter(({ id }) => !this.deletedFlows.includes(id));
		const stale = staleFlows(left, this.rules.rules, node.addresses, removed);
		this.deletedFlows.push(...stale.map(({ id }) => id));
		if (hasNews || stale.length > 0) this.lastSync = ["rules", ...stale.map(() => "conntrack" as const)];
	}

	isSettled(): boolean {
		if (this.#life === undefined || this.faults.pause.isClosed || this.faults.isCutOff) return true;
		return this.isReady && this.#life.informers.areFollowing && !this.#life.follower.isBehind;
	}

	unsettled(): readonly string[] {
		return this.isSettled() ? [] : [`${this.faults.name}: rules are behind`];
	}

	#changed(): void {
		const { follower } = this.#life ?? {};
		if (follower?.hasNode === true) this.#mayWrite = true;
		if (this.isReady && follower?.isBehind === true && !this.faults.pause.isClosed) this.sync();
	}

	async #waitForNode(signal: AbortSignal): Promise<void> {
		const isOver = await this.#ports.clock.sleep(NODE_WAIT_MS, signal).then(
			() => true,
			() => false,
		);
		if (!isOver || this.#mayWrite) return;
		this.#log.warn("Timed out waiting for node to exist", { node: this.#ports.startedAs });
		this.#mayWrite = true;
		this.sync();
	}
}
