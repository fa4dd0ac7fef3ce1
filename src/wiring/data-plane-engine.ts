/** Executes what the plane decided: echo pods answer, node ports are carried to them. */
import type { Duplex } from "node:stream";
import { parseCIDR } from "../api/ip.ts";
import { EchoPods } from "../edge/echo-pods.ts";
import { MessagePortStream } from "../edge/message-port-stream.ts";
import { PodDialer } from "../edge/pod-dialer.ts";
import { reset, splice } from "../edge/splice.ts";
import { TcpListeners } from "../edge/tcp-listeners.ts";
import { UdpListeners } from "../edge/udp-listeners.ts";
import { unreachable } from "../kernel/assert.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { Random } from "../kernel/random.ts";
import { UserspaceProxy } from "../proxy/userspace-proxy.ts";
import type { DataPlaneConfig, DataPlaneUpdate, FromDataPlane, ToDataPlane } from "./data-plane-messages.ts";
import { RequestLog } from "./request-log.ts";

export interface DataPlaneEnginePorts {
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly metrics: Metrics;
	send(message: FromDataPlane): void;
}

export class DataPlaneEngine {
	readonly #send: (message: FromDataPlane) => void;
	readonly #pods: EchoPods;
	readonly #listeners: TcpListeners;
	readonly #proxy: UserspaceProxy<Duplex>;

	constructor(config: DataPlaneConfig, ports: DataPlaneEnginePorts) {
		this.#send = (message) => ports.send(message);
		const requests = new RequestLog({
			...ports,
			tell: (answered) => this.#send({ kind: "answered", requests: answered }),
		});
		this.#pods = new EchoPods({ clock: ports.clock, answered: (request) => requests.add(request) });
		this.#listeners = new TcpListeners(ports.metrics);
		const ranges = config.clusterCIDRs.map((text) => parseCIDR(text)).filter((range) => range !== undefined);
		this.#proxy = new UserspaceProxy({
			...ports,
			listeners: this.#listeners,
			dialer: new PodDialer(this.#pods, ranges),
			datagrams: new UdpListeners((ip, _port, bytes) => this.#pods.answerDatagram(ip, bytes), ranges),
			streams: { splice, reset },
			listenFailed: (failure) => this.#send({ kind: "listen-failed", failure }),
		});
	}

	receive(message: ToDataPlane): void {
		switch (message.kind) {
			case "update":
				void this.#update(message);
				break;
			case "connect":
				this.#connect(message.ip, message.podPort, new MessagePortStream(message.port));
				break;
			case "stop":
				this.#proxy.stop();
				this.#listeners.resetAll();
				break;
			default:
				unreachable(message);
		}
	}

	#connect(ip: string, podPort: number, client: MessagePortStream): void {
		client.on("error", () => undefined);
		const pod = this.#pods.connect(ip, podPort);
		if (pod === undefined) client.destroy(new Error(`connect ECONNREFUSED ${ip}:${podPort}: no pod has this address`));
		else splice(client, pod, () => undefined);
	}

	async #update({ pods, tables, asOf }: DataPlaneUpdate): Promise<void> {
		for (const pod of pods.put) this.#pods.put(pod);
		for (const key of tables.remove) this.#proxy.remove(key);
		for (const table of tables.put) this.#proxy.put(table);
		// Last: until here the old tables may still send clients to them.
		for (const key of pods.remove) this.#pods.remove(key);
		await this.#proxy.settled();
		this.#send({ kind: "applied", asOf });
	}
}
