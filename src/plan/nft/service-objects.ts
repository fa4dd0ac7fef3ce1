/**
 * A Service's table as objects of the kernel: the same decisions as `verdictFor` makes, for packets.
 *
 *     10.96.0.10 . tcp . 80 : goto service-…      dnat to one of the cluster list
 *     203.0.113.10 . tcp . 80 : goto external-…   mark for masquerading, or the local list; then as above
 */
import { type CIDR, contains, formatIP, networkOf, parseIP, parseLenientCIDR } from "../../api/ip.ts";
import { isExternallyAccessible } from "../service-map/service-ports.ts";
import type { ServiceTable, TablePort, Target } from "../service-map/service-table.ts";
import { endpointText } from "../service-map/slice-endpoints.ts";
import { type Destination, verdictFor } from "../service-map/verdict.ts";
import { REJECT } from "./base-ruleset.ts";
import { masqueradeMark, type NftConfig, nftFamily } from "./config.ts";
import { NftNames, type PortChain } from "./names.ts";
import type { AffinitySet, NftChain, NftElement, NftObjects } from "./objects.ts";

/** What may stand in a name of a chain; every name that an API server lets pass is made of these. */
const NAME = /^[A-Za-z0-9./_-]*$/;

/** Objects of the Service's ports in the config's family. A name that nft would take for something else is left out. */
export function nftObjects({ key, createdAt = "", ports }: ServiceTable, config: NftConfig): NftObjects {
	const parts = ports
		.filter(({ family, name }) => family === config.family && NAME.test(`${key}/${name}`))
		.map((port) => new PortObjects(key, port, config));
	return {
		createdAt,
		chains: parts.flatMap((part) => part.chains()),
		elements: distinct(parts.flatMap((part) => part.elements())),
		affinitySets: parts.flatMap((part) => part.affinitySets()),
	};
}

/** Ports of one Service share their cluster IP, and may share an endpoint. */
function distinct(elements: readonly NftElement[]): readonly NftElement[] {
	return [...new Map(elements.map((element) => [`${element.container} ${element.key}`, element])).values()];
}

class PortObjects {
	readonly #key: string;
	readonly #port: TablePort;
	readonly #config: NftConfig;
	readonly #names: NftNames;
	readonly #ip: "ip" | "ip6";
	readonly #protocol: string;

	constructor(key: string, port: TablePort, config: NftConfig) {
		this.#key = key;
		this.#port = port;
		this.#config = config;
		this.#names = new NftNames(config.hash);
		this.#ip = nftFamily(config.family);
		this.#protocol = port.protocol.toLowerCase();
	}

	chains(): readonly NftChain[] {
		const { cluster, local } = this.#port;
		return [
			...(this.#isSticky ? this.#endpoints().map((target) => this.#endpointChain(target)) : []),
			...(cluster.length === 0 ? [] : [this.#balancing("service", cluster)]),
			...(local.length === 0 ? [] : [this.#balancing("local", local)]),
			...(this.#hasExternalChain ? [{ name: this.#name("external"), rules: this.#externalRules() }] : []),
			...(this.#hasFirewall ? [{ name: this.#name("firewall"), rules: [this.#firewallRule()] }] : []),
		];
	}

	affinitySets(): readonly AffinitySet[] {
		const { affinitySeconds } = this.#port;
		if (affinitySeconds === undefined) return [];
		return this.#endpoints().map((target) => ({
			name: this.#endpointName("affinity", target),
			timeoutSeconds: affinitySeconds,
		}));
	}

	elements(): readonly NftElement[] {
		const { clusterIP, port, nodePort, externalIPs, loadBalancerVIPs } = this.#port;
		const atPort = (ip: string): string => `${ip} . ${this.#protocol} . ${port}`;
		const vips = [...new Set([...externalIPs, ...loadBalancerVIPs])];
		return [
			{ container: "cluster-ips", key: clusterIP },
			...this.#hairpins(),
			...this.#verdicts("service-ips", "no-endpoint-services", atPort(clusterIP), "cluster-ip"),
			...vips.flatMap((ip) => this.#verdicts("service-ips", "no-endpoint-services", atPort(ip), "external")),
			...(nodePort === 0
				? []
				: this.#verdicts("service-nodeports", "no-endpoint-nodeports", `${this.#protocol} . ${nodePort}`, "external")),
			...(this.#hasFirewall
				? loadBalancerVIPs.map(
						(ip): NftElement => ({
							container: "firewall-ips",
							key: atPort(ip),
							verdict: `goto ${this.#name("firewall")}`,
						}),
					)
				: []),
		];
	}

	/** Where connections to the address go, and what becomes of those that go nowhere. */
	#verdicts(
		forward: "service-ips" | "service-nodeports",
		none: "no-endpoint-services" | "no-endpoint-nodeports",
		key: string,
		destination: Destination,
	): readonly NftElement[] {
		const verdict = verdictFor(this.#port, destination, "other");
		const chain = this.#chainFor(destination);
		return [
			...(chain === undefined ? [] : [{ container: forward, key, verdict: `goto ${this.#name(chain)}` } as const]),
			// Pods and the node itself may still go on: their packets do not have this destination any more by then.
			...(verdict.kind === "forward"
				? []
				: [{ container: none, key, verdict: verdict.kind === "drop" ? "drop" : REJECT } as const]),
		];
	}

	#chainFor(destination: Destination): PortChain | undefined {
		if (destination === "external") return this.#hasExternalChain ? "external" : undefined;
		const { isInternalLocal, local, cluster } = this.#port;
		const [chain, targets] = isInternalLocal ? (["local", local] as const) : (["service", cluster] as const);
		return targets.length === 0 ? undefined : chain;
	}

	get #isSticky(): boolean {
		return this.#port.affinitySeconds !== undefined;
	}

	get #hasExternalChain(): boolean {
		return isExternallyAccessible(this.#port) && this.#endpoints().length > 0;
	}

	get #hasFirewall(): boolean {
		return this.#port.hasSourceRanges && this.#port.loadBalancerVIPs.length > 0;
	}

	/** Those of both lists, each once. */
	#endpoints(): readonly Target[] {
		const { cluster, local } = this.#port;
		return [...new Map([...cluster, ...local].map((target) => [endpointText(target), target])).values()];
	}

	/** A pod that asks a Service and gets itself must see another address than its own. */
	#hairpins(): readonly NftElement[] {
		return this.#endpoints()
			.filter(({ nodeName = "" }) => nodeName !== "" && nodeName === this.#config.nodeName)
			.map(({ ip, port }) => ({
				container: "hairpin-connections",
				key: `${ip} . ${ip} . ${this.#protocol} . ${port}`,
			}));
	}

	#balancing(kind: "service" | "local", targets: readonly Target[]): NftChain {
		const name = this.#name(kind);
		if (!this.#isSticky) return { name, rules: [this.#dnat(targets)] };
		const known = targets.map(
			(target) =>
				`${this.#ip} saddr @${this.#endpointName("affinity", target)} goto ${this.#endpointName("endpoint", target)}`,
		);
		const others = targets.map((target, index) => `${index} : goto ${this.#endpointName("endpoint", target)}`);
		return { name, rules: [...known, `numgen random mod ${targets.length} vmap { ${others.join(", ")} }`] };
	}

	/** The client is noted in a rule of its own: a set that is full must not keep it from its endpoint. */
	#endpointChain(target: Target): NftChain {
		const set = this.#endpointName("affinity", target);
		const rules = [`update @${set} { ${this.#ip} saddr }`, this.#dnat([target])];
		return { name: this.#endpointName("endpoint", target), rules };
	}

	#dnat(targets: readonly Target[]): string {
		const [only] = targets;
		const to = `meta l4proto ${this.#protocol} dnat`;
		if (targets.length === 1 && only !== undefined) return `${to} to ${endpointText(only)}`;
		const choices = targets.map(({ ip, port }, index) => `${index} : ${ip} . ${port}`);
		return `${to} ${this.#ip} to numgen random mod ${targets.length} map { ${choices.join(", ")} }`;
	}

	#externalRules(): readonly string[] {
		const mark = masqueradeMark(this.#config);
		const marking = `meta mark set meta mark or ${mark}`;
		const { isExternalLocal, local, cluster } = this.#port;
		const toCluster = `goto ${this.#name("service")}`;
		if (!isExternalLocal) return [marking, toCluster];
		const { localPods } = this.#config;
		return [
			...(localPods === undefined || cluster.length === 0 ? [] : [`${localPods.match} ${toCluster}`]),
			...(cluster.length === 0 ? [] : [`fib saddr type local ${marking} ${toCluster}`]),
			...(local.length === 0 ? [] : [`goto ${this.#name("local")}`]),
		];
	}

	/** A packet of the node itself may have the load balancer's address as its source. */
	#firewallRule(): string {
		const { loadBalancerSourceRanges: ranges, loadBalancerVIPs } = this.#port;
		const ownIsIn = this.#config.nodeAddresses.some((ip) => ranges.some((range) => isIn(range, ip)));
		const allowed = [...withoutContained(ranges), ...(ownIsIn ? loadBalancerVIPs : [])];
		return allowed.length === 0 ? "drop" : `${this.#ip} saddr != { ${allowed.join(", ")} } drop`;
	}

	#name(chain: PortChain): string {
		return this.#names.ofPort(chain, this.#key, this.#port);
	}

	#endpointName(kind: "endpoint" | "affinity", target: Target): string {
		return this.#names.ofEndpoint(kind, this.#key, this.#port, target);
	}
}

function isIn(range: string, ip: string): boolean {
	const [cidr, address] = [parseLenientCIDR(range), parseIP(ip)];
	return cidr !== undefined && address !== undefined && contains(cidr, address);
}

/** nft refuses intervals that overlap, and ranges of addresses overlap only where one contains the other. */
function withoutContained(ranges: readonly string[]): readonly string[] {
	const kept = new Map<string, CIDR>();
	for (const text of ranges) {
		const cidr = parseLenientCIDR(text);
		if (cidr === undefined || [...kept.values()].some((wider) => holds(wider, cidr))) continue;
		for (const [other, narrower] of kept) if (holds(cidr, narrower)) kept.delete(other);
		kept.set(`${formatIP(networkOf(cidr))}/${cidr.prefixLength}`, cidr);
	}
	return [...kept.keys()];
}

function holds(wider: CIDR, narrower: CIDR): boolean {
	return wider.prefixLength <= narrower.prefixLength && contains(wider, narrower.base);
}
