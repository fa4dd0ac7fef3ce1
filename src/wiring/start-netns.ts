/** `--network netns`: a network namespace for each simulated node, with its pods, its rules, and DNS for all. */
import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import path from "node:path";
import { addressAt, formatCIDR, parseCIDR } from "../api/ip.ts";
import { ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { IPFamily, StringMap } from "../api/types/meta.ts";
import { forwarder } from "../edge/dns-forwarder.ts";
import { isGone, makePrivateFolder } from "../edge/netns/namespace-names.ts";
import {
	type Gateway,
	makePlaneNamespaces,
	type NodeNetwork,
	type PlaneNamespaces,
	removeAbandoned,
} from "../edge/netns/plane-namespaces.ts";
import { splice } from "../edge/splice.ts";
import { assertDefined } from "../kernel/assert.ts";
import { nodeRange, simulatedNodes } from "../kubelet/node-pool.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ignoreAlreadyExists } from "../machinery/expected-errors.ts";
import type { Informers } from "../machinery/informers.ts";
import { CLUSTER_DOMAIN_ANNOTATION, NETWORK_NAMESPACE_ANNOTATION } from "../plan/client-pod.ts";
import { DNS_SERVICE, dnsEndpointSlice, dnsService } from "../plan/dns-service.ts";
import { AgentProcess } from "./agent-process.ts";
import type { Channel, ChannelUser } from "./data-plane-channel.ts";
import { NetnsChannel } from "./netns-channel.ts";
import type { FromNodeAgent } from "./node-agent-messages.ts";
import { NodeKernel } from "./node-kernel.ts";
import type { PlaneOptions } from "./plane-options.ts";
import { sweepClients } from "./sweep-clients.ts";
import type { SystemPorts } from "./system-ports.ts";
import { VERSION } from "./version.ts";

export interface NetnsPorts extends SystemPorts {
	readonly client: ApiClient;
	/** Of the API, as it is reached on this machine. */
	readonly url: string;
}

/** Bit patterns of the last addresses of a node range but one: far from those of nodes, and where the API's stand-in is. */
const GATEWAY_OFFSETS: Readonly<Record<IPFamily, number>> = { IPv4: 0xff_fe, IPv6: 0xff_ff_ff_fe };

export class Netns {
	readonly #options: PlaneOptions;
	readonly #ports: NetnsPorts;
	readonly #namespaces: PlaneNamespaces;
	readonly #networks: readonly NodeNetwork[];
	readonly #agents = new Map<string, AgentProcess>();
	readonly #lan: AgentProcess;
	readonly #api: ApiSocket;
	#channel: NetnsChannel | undefined;
	#user: ChannelUser | undefined;
	#running: Promise<unknown> = Promise.resolve();

	/** Makes the namespaces and starts their processes. Rejects with what the system says; nothing is left then. */
	static async start(options: PlaneOptions, ports: NetnsPorts, progress: (text: string) => void): Promise<Netns> {
		const left = await removeAbandoned();
		if (left > 0) progress(`Removed ${left} network ${left === 1 ? "namespace" : "namespaces"} that a plane had left`);
		const networks = simulatedNodes({ ...options, kubeletVersion: VERSION.api.gitVersion }).map(
			({ name, addresses, podCIDRs }) => ({ name, addresses, podCIDRs: podCIDRs.map(formatCIDR) }),
		);
		const gateways = gatewaysOf(options);
		const namespaces = await makePlaneNamespaces(networks, gateways);
		let netns: Netns | undefined;
		try {
			const api = await ApiSocket.open(new URL(ports.url));
			netns = new Netns({ options, ports, namespaces, networks, gateways, api });
			await Promise.all([netns.#lan, ...netns.#agents.values()].map(({ ready }) => ready));
			await netns.#makeDnsService(gateways);
			await netns.#annotateNodes();
		} catch (error) {
			await (netns === undefined ? namespaces.remove() : netns.stop());
			throw error;
		}
		progress(`Network namespaces ${namespaces.lan.replace(/lan$/, "")}{${["lan", ...namespaces.nodes.keys()].join()}}`);
		return netns;
	}

	private constructor(made: {
		readonly options: PlaneOptions;
		readonly ports: NetnsPorts;
		readonly namespaces: PlaneNamespaces;
		readonly networks: readonly NodeNetwork[];
		readonly gateways: readonly Gateway[];
		readonly api: ApiSocket;
	}) {
		const { options, ports, namespaces, networks, gateways, api } = made;
		this.#options = options;
		this.#ports = ports;
		this.#namespaces = namespaces;
		this.#networks = networks;
		this.#api = api;
		for (const { name, addresses } of networks) {
			const config = { kind: "node", addresses } as const;
			const restarted = (): void => void this.#channel?.tellNode(name);
			this.#agents.set(name, new AgentProcess(this.namespaceOf(name), config, this.#agentPorts(restarted)));
		}
		const upstreams = forwarder(options.dnsUpstreams, ports.random);
		const lan = new AgentProcess(
			namespaces.lan,
			{
				kind: "lan",
				addresses: gateways.map(({ address }) => address),
				clusterDomain: options.clusterDomain,
				ranges: [...options.clusterCIDRs, ...options.serviceCIDRs],
				hasUpstreams: options.dnsUpstreams.length > 0,
				api: { port: api.port, socket: api.path },
			},
			{
				...this.#agentPorts(() => void this.#channel?.tellLan()),
				received: (message) => {
					if (message.kind !== "relay") return;
					const { relay, packet, transport } = message;
					void upstreams.relay(packet, transport).then((answer) => lan.tell({ kind: "relayed", relay, answer }));
				},
			},
		);
		this.#lan = lan;
	}

	/** Annotations of the node's object: where its clients are to be put. */
	annotationsOf(node: string): StringMap {
		const { clusterDomain } = this.#options;
		return { [NETWORK_NAMESPACE_ANNOTATION]: this.namespaceOf(node), [CLUSTER_DOMAIN_ANNOTATION]: clusterDomain };
	}

	namespaceOf(node: string): string {
		return assertDefined(this.#namespaces.nodes.get(node), `the namespace of node ${node}`);
	}

	/** Lays itself between the plane and its data plane, and works until `signal` aborts. */
	openAround(
		user: ChannelUser,
		openInner: (user: ChannelUser) => Channel,
		informers: Informers,
		signal: AbortSignal,
	): Channel {
		const kernels = this.#networks.map((network) => {
			const ports = { ...this.#ports, informers };
			return [network.name, new NodeKernel(network, this.namespaceOf(network.name), this.#options, ports)] as const;
		});
		const nodes = new Map(
			kernels.map(([name, kernel]) => {
				kernel.follow();
				return [name, { kernel, agent: assertDefined(this.#agents.get(name), `the process of node ${name}`) }];
			}),
		);
		const nodeAddresses = new Set(this.#networks.flatMap(({ addresses }) => addresses));
		const sites = { nodes, lan: this.#lan, nodeAddresses };
		this.#user = user;
		this.#channel = new NetnsChannel(sites, this.#ports.clock, user, openInner);
		const sweep = sweepClients(informers.of(PODS), { ...this.#ports, isGone, removeAbandoned }, signal);
		this.#running = Promise.all([sweep, ...kernels.map(([, kernel]) => kernel.run(signal))]);
		return this.#channel;
	}

	/** Resolves when pods and rules of all that was there at the start are there. */
	ready(): Promise<void> {
		return assertDefined(this.#channel, "the channel").ready;
	}

	/** After the data plane has stopped. Removes everything. */
	async stop(): Promise<void> {
		await this.#running;
		await Promise.all([this.#lan, ...this.#agents.values()].map((agent) => agent.stop()));
		await this.#namespaces.remove();
		await this.#api.close();
	}

	#agentPorts(restarted: () => void): ConstructorParameters<typeof AgentProcess>[2] {
		const { clock, log } = this.#ports;
		const received = (message: FromNodeAgent): void => {
			if (message.kind === "answered") this.#user?.received(message);
		};
		return { clock, log, received, restarted };
	}

	/** Nodes of an earlier plane that were kept stand in other namespaces now; new ones are made with the annotation. */
	async #annotateNodes(): Promise<void> {
		const { client } = this.#ports;
		const { items } = await client.list(NODES, {});
		for (const { metadata } of items) {
			const { name } = metadata;
			if (!this.#namespaces.nodes.has(name)) continue;
			const body = { metadata: { annotations: this.annotationsOf(name) } };
			await client.patch(NODES, { namespace: "", name }, { type: "merge", body });
		}
	}

	async #makeDnsService(gateways: readonly Gateway[]): Promise<void> {
		const { client } = this.#ports;
		const ranges = this.#options.serviceCIDRs.map((text) => assertDefined(parseCIDR(text), "range of cluster IPs"));
		// One that an earlier plane kept has the address that a new one would claim.
		const { items } = await client.list(SERVICES, { namespace: DNS_SERVICE.namespace });
		if (!items.some(({ metadata }) => metadata.name === DNS_SERVICE.name)) {
			await client.create(SERVICES, DNS_SERVICE.namespace, dnsService(ranges));
		}
		for (const { base } of ranges) {
			const gateway = gateways.find(({ address }) => address.includes(":") === (base.family === "IPv6"));
			if (gateway === undefined) continue;
			const slice = dnsEndpointSlice(base.family, gateway.address);
			await ignoreAlreadyExists(client.create(ENDPOINT_SLICES, DNS_SERVICE.namespace, slice));
		}
	}
}

function gatewaysOf(options: PlaneOptions): readonly Gateway[] {
	return options.clusterCIDRs.map((text) => {
		const family = text.includes(":") ? "IPv6" : "IPv4";
		const range = nodeRange(family, options);
		return { address: addressAt(range, GATEWAY_OFFSETS[family]), prefixLength: range.prefixLength };
	});
}

/** The way from the namespaces to the API: a socket in the file system, which they share. */
class ApiSocket {
	readonly path: string;
	/** Of the API. */
	readonly port: number;
	readonly #server: Server;

	private constructor(socket: string, port: number, server: Server) {
		this.path = socket;
		this.port = port;
		this.#server = server;
	}

	static async open({ hostname, port }: URL): Promise<ApiSocket> {
		const socket = path.join(await makePrivateFolder(), "api.sock");
		const host = hostname.replace(/^\[|\]$/g, "");
		const server = createServer({ allowHalfOpen: true }, (client) => {
			splice(client, connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true }), () => undefined);
		});
		await new Promise<void>((resolve, reject) => {
			server.once("error", reject);
			server.listen(socket, () => resolve());
		});
		return new ApiSocket(socket, Number(port), server);
	}

	/** Its clients have ended before: the API has. */
	async close(): Promise<void> {
		this.#server.close();
		await rm(path.dirname(this.path), { recursive: true, force: true });
	}
}
