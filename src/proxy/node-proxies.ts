/**
 * The proxies of all nodes, over one set of Services. A node's proxy is made when somebody asks for its view, and
 * kept up to date from then on: a view that nobody looks at costs nothing.
 */
import type { CIDR } from "../api/ip.ts";
import type { ServedService } from "../plan/service-map/served-service.ts";
import { planServiceTable } from "../plan/service-map/service-table.ts";
import { NodeProxy, type NodeProxyPorts } from "./node-proxy.ts";

export interface ProxiedNode {
	readonly name: string;
	/** "" for none. */
	readonly zone: string;
	readonly addresses: readonly string[];
}

export interface NodeProxiesOptions {
	readonly clusterCIDRs: readonly CIDR[];
	readonly serviceCIDRs: readonly CIDR[];
	/** Addresses of the machine itself, at which node ports are reached whatever the node. */
	readonly ownAddresses: readonly string[];
	/** See ProxyPlace; true when it is absent. */
	readonly terminatingFallback?: boolean;
}

/** Of a proxy that stands on no node: nothing is local to it, and hints say nothing to it. */
export const NO_NODE = "";

export class NodeProxies {
	readonly #ports: NodeProxyPorts;
	readonly #options: NodeProxiesOptions;
	readonly #services = new Map<string, ServedService>();
	readonly #nodes = new Map<string, ProxiedNode>();
	readonly #proxies = new Map<string, NodeProxy>();

	constructor(ports: NodeProxyPorts, options: NodeProxiesOptions) {
		this.#ports = ports;
		this.#options = options;
	}

	/** @param node Name of the node whose view it is; {@link NO_NODE} for a proxy that stands on none. */
	at(node: string): NodeProxy {
		const known = this.#proxies.get(node);
		if (known !== undefined) return known;
		const { clusterCIDRs, serviceCIDRs, ownAddresses } = this.#options;
		const addresses = [...ownAddresses, ...(this.#nodes.get(node)?.addresses ?? [])];
		const proxy = new NodeProxy({ addresses, clusterCIDRs, serviceCIDRs }, this.#ports);
		for (const service of this.#services.values()) this.#put(proxy, node, service);
		this.#proxies.set(node, proxy);
		return proxy;
	}

	/** The node that has the address. */
	nodeAt(ip: string): ProxiedNode | undefined {
		return [...this.#nodes.values()].find(({ addresses }) => addresses.includes(ip));
	}

	putService(service: ServedService): void {
		this.#services.set(service.key, service);
		for (const [node, proxy] of this.#proxies) this.#put(proxy, node, service);
	}

	/** `key` is `namespace/name`. */
	removeService(key: string): void {
		this.#services.delete(key);
		for (const proxy of this.#proxies.values()) proxy.remove(key);
	}

	/** A node with another zone or other addresses has another view: it is made anew. */
	putNode(node: ProxiedNode): void {
		this.#nodes.set(node.name, node);
		this.#proxies.delete(node.name);
	}

	removeNode(name: string): void {
		this.#nodes.delete(name);
		this.#proxies.delete(name);
	}

	#put(proxy: NodeProxy, nodeName: string, { service, slices, asOf }: ServedService): void {
		const { zone = "" } = this.#nodes.get(nodeName) ?? {};
		const { terminatingFallback = true } = this.#options;
		const known = { ...(nodeName === NO_NODE ? {} : { nodeName }), ...(zone === "" ? {} : { zone }) };
		const place = { asOf, terminatingFallback, ...known };
		proxy.put(planServiceTable(service, slices, place));
	}
}
