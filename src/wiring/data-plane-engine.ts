/** Executes what the plane decided: echo pods answer, node ports are carried to them. */
import type { Duplex } from "node:stream";
import { type CIDR, parseCIDR } from "../api/ip.ts";
import { forwarder } from "../edge/dns-forwarder.ts";
import { DnsServer } from "../edge/dns-server.ts";
import { EchoPods } from "../edge/echo-pods.ts";
import { GatewayServer } from "../edge/gateway/gateway-server.ts";
import { HealthCheckServer } from "../edge/health-check-server.ts";
import { MessagePortStream } from "../edge/message-port-stream.ts";
import { dialTcp, PodDialer } from "../edge/pod-dialer.ts";
import { loopbackOf, PodListeners } from "../edge/pod-listeners.ts";
import { reset, splice } from "../edge/splice.ts";
import { TcpListeners } from "../edge/tcp-listeners.ts";
import { type AnswerDatagram, UdpListeners } from "../edge/udp-listeners.ts";
import { unreachable } from "../kernel/assert.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { Random } from "../kernel/random.ts";
import { Zone } from "../plan/dns-records/zone.ts";
import { type Decision, decisionFields } from "../plan/service-map/decision.ts";
import type { ListenFailure } from "../proxy/front.ts";
import { Gateway, type GatewayPorts } from "../proxy/gateway.ts";
import { NO_NODE, NodeProxies } from "../proxy/node-proxies.ts";
import type { Listener } from "../proxy/ports.ts";
import { LOOPBACK_HOSTS, UserspaceProxy } from "../proxy/userspace-proxy.ts";
import type {
	DataPlaneConfig,
	DataPlaneUpdate,
	DnsConfig,
	FromDataPlane,
	GatewayConfig,
	ToDataPlane,
} from "./data-plane-messages.ts";
import { dnsAnswers } from "./dns-answers.ts";
import { RequestLog } from "./request-log.ts";

export interface DataPlaneEnginePorts {
	readonly clock: Clock;
	readonly random: Random;
	readonly log: Logger;
	readonly metrics: Metrics;
	send(message: FromDataPlane): void;
}

/** Seconds. */
const DNS_TTL = 5;

export class DataPlaneEngine {
	readonly #send: (message: FromDataPlane) => void;
	readonly #pods: EchoPods;
	readonly #dialer: PodDialer;
	readonly #listeners: TcpListeners;
	readonly #proxies: NodeProxies;
	#gateway: Listener | undefined;
	readonly #zone: Zone;
	readonly #clock: Clock;
	#dns: DnsServer | undefined;
	/** The first update has come: what is not in the zone then is not there. */
	#isSynced = false;
	readonly #proxy: UserspaceProxy<Duplex>;
	readonly #podListeners: PodListeners | undefined;
	readonly #servesNodePorts: boolean;

	constructor(config: DataPlaneConfig, ports: DataPlaneEnginePorts) {
		this.#send = (message) => ports.send(message);
		this.#clock = ports.clock;
		this.#servesNodePorts = config.nodePorts !== false;
		const ranges = parsed(config.clusterCIDRs);
		const serviceCIDRs = parsed(config.serviceCIDRs);
		const zoneRanges = [...ranges, ...serviceCIDRs];
		this.#zone = new Zone({ name: `${config.clusterDomain}.`, ttl: DNS_TTL, ranges: zoneRanges });
		const requests = new RequestLog({
			...ports,
			tell: (answered) => this.#send({ kind: "answered", requests: answered }),
		});
		this.#pods = new EchoPods({ clock: ports.clock, answered: (request) => requests.add(request) });
		this.#listeners = new TcpListeners(ports.metrics);
		const ownAddresses = Object.values(LOOPBACK_HOSTS);
		const { terminatingFallback = true } = config.faults ?? {};
		this.#proxies = new NodeProxies(ports, { clusterCIDRs: ranges, serviceCIDRs, ownAddresses, terminatingFallback });
		const decided = (decision: Decision): void => ports.log.info("Connection", decisionFields(decision));
		this.#dialer = new PodDialer(this.#pods, ranges);
		const answerDatagram: AnswerDatagram = (...sent) => this.#pods.answerDatagram(...sent);
		const proxyPorts = {
			...ports,
			...(config.logDecisions === true ? { decided } : {}),
			asNode: config.asNode ?? NO_NODE,
			healthChecks: new HealthCheckServer(),
			listeners: this.#listeners,
			dialer: this.#dialer,
			datagrams: new UdpListeners(answerDatagram, ranges),
			streams: { splice, reset },
			listenFailed: (failure: ListenFailure) => this.#send({ kind: "listen-failed", failure }),
		};
		if (config.gateway !== undefined) void this.#openGateway(config.gateway, config.clusterDomain, proxyPorts);
		if (config.dns !== undefined) void this.#openDns(config.dns, ports);
		this.#podListeners =
			config.podListeners === true
				? new PodListeners({ ...proxyPorts, answerDatagram, hostsOf: loopbackOf })
				: undefined;
		this.#proxy = new UserspaceProxy(proxyPorts, () => this.#proxies.at(proxyPorts.asNode));
	}

	receive(message: ToDataPlane): void {
		switch (message.kind) {
			case "update":
				void this.#update(message);
				break;
			case "connect":
				void this.#connect(message.ip, message.podPort, new MessagePortStream(message.port));
				break;
			case "stop":
				this.#gateway?.close();
				this.#dns?.close();
				this.#podListeners?.stop();
				this.#proxy.stop();
				this.#listeners.resetAll();
				break;
			default:
				unreachable(message);
		}
	}

	/** Only to pods: what is none is refused. */
	async #connect(ip: string, podPort: number, client: MessagePortStream): Promise<void> {
		client.on("error", () => undefined);
		const closed = new AbortController();
		client.once("close", () => closed.abort());
		const result =
			this.#pods.at(ip, podPort) === undefined
				? { kind: "failed" as const, message: `connect ECONNREFUSED ${ip}:${podPort}: no pod has this address` }
				: await this.#dialer.dial({ ip, port: podPort }, closed.signal);
		if (result.kind === "failed") client.destroy(new Error(result.message));
		else {
			client.tellConnected();
			splice(client, result.stream, () => undefined);
		}
	}

	async #openGateway(
		{ host, port, user, password, namespace }: GatewayConfig,
		clusterDomain: string,
		ports: Omit<GatewayPorts<Duplex>, "proxies" | "names" | "dialName"> & Pick<DataPlaneEnginePorts, "metrics">,
	): Promise<void> {
		const names = { clusterDomain, namespace, zone: this.#zone };
		const gateway = new Gateway<Duplex>({ ...ports, proxies: this.#proxies, names, dialName: dialTcp });
		const credentials = { user, password };
		const server = new GatewayServer({ listeners: this.#listeners, gateway, credentials, metrics: ports.metrics });
		const result = await server.open(host, port);
		if (result.kind === "failed") this.#send({ kind: "gateway-failed", message: result.message });
		else this.#send({ kind: "gateway", port: result.listener.port });
		this.#gateway = result.kind === "open" ? result.listener : undefined;
	}

	async #openDns(
		{ host, port, upstreams }: DnsConfig,
		{ random, clock, metrics }: DataPlaneEnginePorts,
	): Promise<void> {
		const answer = dnsAnswers({
			zone: this.#zone,
			random,
			isSynced: () => this.#isSynced,
			...(upstreams.length === 0 ? {} : { upstreams: forwarder(upstreams, random) }),
		});
		const server = new DnsServer({ answer, clock, metrics });
		try {
			const taken = await server.listen(host, port);
			this.#dns = server;
			this.#send({ kind: "dns", port: taken });
		} catch (error) {
			this.#send({ kind: "dns-failed", message: error instanceof Error ? error.message : String(error) });
		}
	}

	#updateZone({ services, namespaces }: DataPlaneUpdate): void {
		const serial = Math.floor(this.#clock.wallMs() / 1000);
		for (const name of namespaces.put) this.#zone.putNamespace(name);
		for (const name of namespaces.remove) this.#zone.removeNamespace(name);
		for (const key of services.remove) this.#zone.removeService(key, serial);
		for (const service of services.put) this.#zone.putService(service, serial);
		this.#isSynced = true;
	}

	async #update(update: DataPlaneUpdate): Promise<void> {
		const { pods, services, nodes, asOf } = update;
		this.#updateZone(update);
		for (const pod of pods.put) this.#pods.put(pod);
		for (const node of nodes.put) this.#proxies.putNode(node);
		for (const name of nodes.remove) this.#proxies.removeNode(name);
		for (const key of services.remove) this.#proxies.removeService(key);
		for (const service of services.put) this.#proxies.putService(service);
		const changed = [...services.remove, ...services.put.map(({ key }) => key)];
		if (this.#servesNodePorts) for (const key of changed) this.#proxy.serve(key);
		// Last: until here the old rules may still send clients to them.
		for (const key of pods.remove) {
			this.#podListeners?.remove(key);
			this.#pods.remove(key);
		}
		await Promise.all(pods.put.map((pod) => this.#podListeners?.put(pod)));
		await this.#proxy.settled();
		this.#send({ kind: "applied", asOf });
	}
}

function parsed(ranges: readonly string[]): readonly CIDR[] {
	return ranges.map((text) => parseCIDR(text)).filter((range) => range !== undefined);
}
