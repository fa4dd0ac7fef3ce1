/** The DNS of a scenario's plane: follows the API, and answers packets as it would from a socket. */
import { setMaxListeners } from "node:events";
import type { InProcessClient } from "../../apiserver/in-process-client.ts";
import { answerPacket, type Transport } from "../../dns/answer.ts";
import { ZoneFollower } from "../../dns/zone-follower.ts";
import { dnsCodec } from "../../edge/codec/dns.ts";
import type { Random } from "../../kernel/random.ts";
import { Informers } from "../../machinery/informers.ts";
import { Zone } from "../../plan/dns-records/zone.ts";
import { FaultyClient } from "../../testing/faulty-client.ts";
import type { VirtualClock } from "../../testing/virtual-clock.ts";
import type { ComponentFaults } from "./component-faults.ts";
import { ComponentLog } from "./component-log.ts";

export interface DnsPorts {
	readonly client: InProcessClient;
	readonly clock: VirtualClock;
	readonly random: Random;
	readonly faults: ComponentFaults;
}

interface Life {
	readonly client: FaultyClient;
	readonly informers: Informers;
	readonly follower: ZoneFollower;
	readonly zone: Zone;
	readonly stopping: AbortController;
	readonly running: Promise<unknown>;
}

/** The domain and the time to live that a cluster has by default. */
const ZONE = { name: "cluster.local.", ttl: 5 };

export class ScenarioDns {
	readonly faults: ComponentFaults;
	readonly #ports: DnsPorts;
	#life: Life | undefined;
	#log: ComponentLog;

	constructor(ports: DnsPorts) {
		this.#ports = ports;
		this.faults = ports.faults;
		this.#log = new ComponentLog(ports.clock);
	}

	get log(): ComponentLog {
		return this.#log;
	}

	get isReady(): boolean {
		return this.#life?.follower.isSynced ?? false;
	}

	start(): void {
		if (this.#life !== undefined) return;
		const { client: server, clock, random, faults } = this.#ports;
		const log = new ComponentLog(clock);
		this.#log = log;
		const client = new FaultyClient(server, faults);
		const informers = new Informers({ client, clock, random, log });
		const zone = new Zone(ZONE);
		const follower = new ZoneFollower(informers, zone, clock);
		const stopping = new AbortController();
		setMaxListeners(0, stopping.signal);
		const unfollow = follower.follow();
		const running = informers.run(stopping.signal).finally(unfollow);
		this.#life = { client, informers, follower, zone, stopping, running };
	}

	async stop(): Promise<void> {
		const life = this.#life;
		this.#life = undefined;
		life?.stopping.abort();
		await life?.running;
	}

	breakWatches(): void {
		this.#life?.client.breakWatches();
	}

	/** Undefined when nobody answers: it is stopped or paused. */
	async answer(packet: Uint8Array, transport: Transport): Promise<Uint8Array | undefined> {
		if (this.#life === undefined || this.faults.pause.isClosed) return undefined;
		const { zone, follower } = this.#life;
		const ports = { zone, codec: dnsCodec, random: this.#ports.random, isSynced: () => follower.isSynced };
		return answerPacket(ports, packet, transport);
	}

	isSettled(): boolean {
		if (this.#life === undefined || this.faults.pause.isClosed || this.faults.isCutOff) return true;
		return this.#life.informers.areFollowing;
	}

	unsettled(): readonly string[] {
		return this.isSettled() ? [] : [`${this.faults.name}: caches do not follow the server`];
	}
}
