/** The proxy of one node alone, for a cluster that is there already: its rules are in this machine's kernel. */
import { setMaxListeners } from "node:events";
import type { Duplex } from "node:stream";
import { familyOf, parseCIDR } from "../api/ip.ts";
import { NODES } from "../api/resource-names.ts";
import type { Node } from "../api/types/core.ts";
import type { IPFamily } from "../api/types/meta.ts";
import { Conntrack, type KernelFlow } from "../edge/conntrack.ts";
import { HealthCheckServer } from "../edge/health-check-server.ts";
import { nameHash } from "../edge/name-hash.ts";
import { NftProgram } from "../edge/nft-program.ts";
import { type StatusAnswer, StatusServer } from "../edge/status-server.ts";
import { TcpListeners } from "../edge/tcp-listeners.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { Informer } from "../machinery/informer.ts";
import { Informers } from "../machinery/informers.ts";
import { untilAllowed } from "../machinery/until-allowed.ts";
import { type NftConfig, nftFamily } from "../plan/nft/config.ts";
import { type LocalDetection, localPodsOf } from "../plan/nft/local-detection.ts";
import type { HealthAnswer } from "../plan/service-map/health-check.ts";
import { isNodeEligible, type ProxyState, proxyHealth } from "../plan/service-map/proxy-health.ts";
import { FamilyRules } from "../proxy/family-rules.ts";
import { HealthCheckPorts } from "../proxy/health-check-ports.ts";
import { KernelProxy } from "../proxy/kernel-proxy.ts";
import { ServiceFollower } from "../proxy/service-follower.ts";
import { addressesOf, FAMILIES, factsOf, nodePortAddresses, ownNode } from "./proxy-node.ts";
import { type SystemPorts, systemPorts } from "./system-ports.ts";

interface HostPort {
	readonly host: string;
	readonly port: number;
}

export interface ProxyOptions {
	/** The Node that this machine is. */
	readonly nodeName: string;
	readonly table: string;
	readonly detectLocal: LocalDetection;
	readonly serviceCIDRs: readonly string[];
	/** `primary`: the Node's own addresses; or ranges, of which this machine's addresses accept node ports. */
	readonly nodePortAddresses: readonly string[];
	readonly masqueradeAll: boolean;
	/** 0 to 31. */
	readonly masqueradeBit: number;
	readonly minSyncPeriodMs: number;
	readonly syncPeriodMs: number;
	/** Undefined: not served. */
	readonly healthz: HostPort | undefined;
	readonly metrics: HostPort | undefined;
	readonly logLevel: "debug" | "warn";
}

export interface RunningProxy {
	/** Resolves when the kernel has the rules of all that is in the cluster. */
	readonly synced: Promise<void>;
	readonly healthzPort: number | undefined;
	readonly metricsPort: number | undefined;
	/** Why it cannot go on: then somebody should start it anew. */
	readonly ended: Promise<string>;
	/** Ends the work and leaves the rules: without them every connection through them would break. */
	stop(): Promise<void>;
}

/** Rejects when nft cannot be used, the Node does not come, or an address cannot be had; and when `signal` aborts. */
export async function startProxy(client: ApiClient, options: ProxyOptions, signal: AbortSignal): Promise<RunningProxy> {
	const system = systemPorts(options.logLevel);
	await new NftProgram({ family: "ip", table: options.table }).probe();
	const node = await untilAllowed(system, signal, () => ownNode(client, options.nodeName, system, signal));
	const proxy = new AttachedProxy(client, node, options, system);
	const ports = await proxy.listen();
	if (signal.aborted) {
		await proxy.stop();
		throw new Error("the proxy was stopped before it had begun");
	}
	const { synced, ended } = proxy.run();
	return { ...ports, synced, ended, stop: () => proxy.stop() };
}

class AttachedProxy {
	readonly #options: ProxyOptions;
	readonly #node: Node;
	readonly #system: SystemPorts;
	readonly #proxy: KernelProxy<KernelFlow>;
	readonly #informers: Informers;
	readonly #follower: ServiceFollower;
	readonly #nodes: Informer<Node>;
	readonly #checks: HealthCheckPorts<Duplex>;
	readonly #health: StatusServer;
	readonly #status: StatusServer;
	readonly #stopping = new AbortController();
	#running: Promise<unknown> = Promise.resolve();
	#unfollow: () => void = () => undefined;

	constructor(client: ApiClient, node: Node, options: ProxyOptions, system: SystemPorts) {
		this.#options = options;
		this.#node = node;
		this.#system = system;
		setMaxListeners(0, this.#stopping.signal);
		const { clock, random, log, metrics } = system;
		const nodeAddresses = nodePortAddresses(options.nodePortAddresses, node);
		const flows = new Conntrack(log);
		const rules = familyRules(options, node, nodeAddresses, system);
		this.#proxy = new KernelProxy(rules, { clock, log, metrics, flows }, { ...options, nodeAddresses });
		this.#informers = new Informers({ client, clock, random, log });
		this.#follower = new ServiceFollower(this.#informers, options.nodeName, log);
		this.#nodes = this.#informers.of(NODES);
		this.#checks = new HealthCheckPorts({
			listeners: new TcpListeners(metrics),
			healthChecks: new HealthCheckServer(),
			hosts: nodeAddresses,
			tables: this.#proxy.tables,
			isProxyHealthy: () => proxyHealth(this.#state()).status === 200,
			failed: (service, { host, port }, reason) =>
				log.warn("Failed to listen on a health check node port", { service, host, port, reason }),
		});
		const asked = (name: string): ((answer: HealthAnswer) => HealthAnswer) => {
			const counter = metrics.counter({ name, help: "Answers by status code.", labelNames: ["code"] });
			return (answer) => {
				counter.add(1, { code: String(answer.status) });
				return answer;
			};
		};
		const healthz = asked("kubeproxy_proxy_healthz_total");
		const livez = asked("kubeproxy_proxy_livez_total");
		this.#health = new StatusServer({
			"/healthz": () => healthz(proxyHealth(this.#state(), isNodeEligible(this.#nodes.get(options.nodeName)))),
			"/livez": () => livez(proxyHealth(this.#state())),
		});
		this.#status = new StatusServer({
			"/healthz": () => plain("ok"),
			"/proxyMode": () => plain("nftables"),
			"/metrics": async () => plain(await metrics.text()),
		});
	}

	async listen(): Promise<Pick<RunningProxy, "healthzPort" | "metricsPort">> {
		const { healthz, metrics } = this.#options;
		return {
			healthzPort: healthz === undefined ? undefined : await this.#health.listen(healthz),
			metricsPort: metrics === undefined ? undefined : await this.#status.listen(metrics),
		};
	}

	run(): Pick<RunningProxy, "synced" | "ended"> {
		const { signal } = this.#stopping;
		const synced = new Promise<void>((resolve) => {
			let isRunning = false;
			this.#unfollow = this.#follower.follow(() => {
				// Not before all lists are there: half of the rules would cut off what is fine.
				if (!this.#follower.isReady || signal.aborted) return;
				this.#follower.sync(this.#proxy);
				void this.#checks.sync();
				if (isRunning) return;
				isRunning = true;
				this.#running = Promise.all([this.#running, this.#proxy.run(signal)]);
				void this.#proxy.synced().then(resolve);
			});
		});
		const ended = this.#nodeChange();
		this.#running = this.#informers.run(signal);
		return { synced, ended };
	}

	/** The rules stay. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		this.#unfollow();
		this.#checks.close();
		this.#health.close();
		this.#status.close();
		await this.#running;
	}

	/** Other addresses mean other rules everywhere: whoever started the proxy starts it anew. */
	#nodeChange(): Promise<string> {
		const { nodeName } = this.#options;
		return new Promise((resolve) => {
			this.#nodes.addHandlers({
				updated: (_, now) => {
					if (now.metadata.name !== nodeName || factsOf(now) === factsOf(this.#node)) return;
					resolve(`addresses or podCIDRs of the Node ${nodeName} changed`);
				},
				deleted: ({ metadata }) => {
					if (metadata.name === nodeName) resolve(`the Node ${nodeName} is gone`);
				},
			});
		});
	}

	#state(): ProxyState {
		const { clock } = this.#system;
		const { lastSyncedMs, pendingSinceMs } = this.#proxy;
		const timeoutMs = 2 * this.#options.syncPeriodMs;
		return { lastSyncedMs, pendingSinceMs, nowMs: clock.monotonicMs(), wallMs: clock.wallMs(), timeoutMs };
	}
}

function plain(body: string): StatusAnswer {
	return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

/** One for each family that the Node has an address of. */
function familyRules(
	options: ProxyOptions,
	node: Node,
	nodeAddresses: readonly string[],
	{ clock }: SystemPorts,
): readonly FamilyRules[] {
	const families = FAMILIES.filter((family) => addressesOf(node).some((ip) => familyOf(ip) === family));
	return families.map((family) => {
		const config = nftConfig(options, family, node, nodeAddresses);
		return new FamilyRules(config, new NftProgram({ family: nftFamily(family), table: config.table }), clock);
	});
}

/** Removes the tables of both families, and with them every rule. Rejects with what nft says. */
export async function cleanUpRules(table: string): Promise<void> {
	await new NftProgram({ family: "ip", table }).probe();
	for (const family of FAMILIES) {
		const result = await new NftProgram({ family: nftFamily(family), table }).remove();
		if (result.kind === "failed") throw new Error(result.message);
	}
}

function nftConfig(options: ProxyOptions, family: IPFamily, node: Node, nodeAddresses: readonly string[]): NftConfig {
	const localPods = localPodsOf(options.detectLocal, family, node.spec?.podCIDRs ?? []);
	return {
		family,
		table: options.table,
		nodeAddresses: nodeAddresses.filter((ip) => familyOf(ip) === family),
		nodeName: options.nodeName,
		...(localPods === undefined ? {} : { localPods }),
		serviceCIDRs: options.serviceCIDRs.filter((cidr) => parseCIDR(cidr)?.base.family === family),
		masqueradeAll: options.masqueradeAll,
		masqueradeBit: options.masqueradeBit,
		hash: nameHash,
	};
}
