/** The pods of one node, which listen in its network namespace at their own addresses; and its health check ports. */
import type { Duplex } from "node:stream";
import type { EchoPod } from "../edge/echo-pod.ts";
import { EchoPods, LINGER_MS } from "../edge/echo-pods.ts";
import { HealthCheckServer } from "../edge/health-check-server.ts";
import { applyNodeSettings } from "../edge/netns/network-settings.ts";
import { PodDialer } from "../edge/pod-dialer.ts";
import { PodListeners } from "../edge/pod-listeners.ts";
import { TcpListeners } from "../edge/tcp-listeners.ts";
import { UdpListeners } from "../edge/udp-listeners.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { ServiceTable } from "../plan/service-map/service-table.ts";
import { HealthCheckPorts } from "../proxy/health-check-ports.ts";
import type { Changes } from "./data-plane-messages.ts";
import type { FromNodeAgent, NodeAgentConfig } from "./node-agent-messages.ts";
import { RequestLog } from "./request-log.ts";

export interface NodePodsPorts {
	readonly clock: Clock;
	readonly metrics: Metrics;
	readonly log: Logger;
	send(message: FromNodeAgent): void;
}

export class NodePods {
	readonly #pods: EchoPods;
	readonly #listeners: PodListeners;
	readonly #checks: HealthCheckPorts<Duplex>;
	readonly #tables = new Map<string, ServiceTable>();

	/** @throws {Error} When the namespace's settings cannot be changed. */
	static start(config: NodeAgentConfig & { readonly kind: "node" }, ports: NodePodsPorts): NodePods {
		applyNodeSettings();
		return new NodePods(config.addresses, ports);
	}

	private constructor(hosts: readonly string[], ports: NodePodsPorts) {
		const { clock, log, metrics } = ports;
		const requests = new RequestLog({
			...ports,
			tell: (answered) => ports.send({ kind: "answered", requests: answered }),
		});
		this.#pods = new EchoPods({ clock, answered: (request) => requests.add(request) });
		const listeners = new TcpListeners(metrics);
		const answerDatagram = (...sent: Parameters<EchoPods["answerDatagram"]>) => this.#pods.answerDatagram(...sent);
		this.#listeners = new PodListeners({
			listeners,
			datagrams: new UdpListeners(answerDatagram, []),
			dialer: new PodDialer(this.#pods, []),
			answerDatagram,
			log,
			hostsOf: (ip) => [ip],
			lingerMs: LINGER_MS,
		});
		this.#checks = new HealthCheckPorts({
			listeners,
			healthChecks: new HealthCheckServer(),
			hosts,
			tables: this.#tables,
			isProxyHealthy: () => true,
			failed: (service, { host, port }, reason) =>
				log.warn("Failed to listen on a health check node port", { service, host, port, reason }),
		});
	}

	/** Settles when those that came listen. */
	async update({ put, remove }: Changes<EchoPod>): Promise<void> {
		for (const key of remove) {
			this.#listeners.remove(key);
			this.#pods.remove(key);
		}
		for (const pod of put) this.#pods.put(pod);
		await Promise.all(put.map((pod) => this.#listeners.put(pod)));
	}

	async updateTables({ put, remove }: Changes<ServiceTable>): Promise<void> {
		for (const key of remove) this.#tables.delete(key);
		for (const table of put) this.#tables.set(table.key, table);
		await this.#checks.sync();
	}
}
