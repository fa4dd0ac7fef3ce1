/**
 * A network namespace for each simulated node, and one with the bridge that joins them:
 *
 *     sp-7-x-lan   br0 192.168.255.254/16 ── v1, v2, ...
 *     sp-7-x-n1    eth0 192.168.0.1/16, local 10.244.0.0/24, 10.244.1.0/24 via 192.168.0.2
 *
 * All of a node's pod range is local there: an address need not be given to an interface for a pod to listen at it.
 * Cluster IPs are nowhere: packets to them take the default route, and meet the rules on their way.
 */
import { abandonedNamespaces, ownPrefix, removeAbandonedFolders, removeNamespaces } from "./namespace-names.ts";
import { runIp } from "./run-ip.ts";

export interface NodeNetwork {
	readonly name: string;
	/** One for each IP family. */
	readonly addresses: readonly string[];
	readonly podCIDRs: readonly string[];
}

/** An address of the bridge: the default route of all nodes, and where what serves them all listens. */
export interface Gateway {
	readonly address: string;
	readonly prefixLength: number;
}

export interface PlaneNamespaces {
	readonly lan: string;
	/** By name of the node. */
	readonly nodes: ReadonlyMap<string, string>;
	remove(): Promise<void>;
}

/** Removes what others left that do not run any more. Returns how many that was. */
export async function removeAbandoned(): Promise<number> {
	const names = abandonedNamespaces();
	await removeNamespaces(names);
	await removeAbandonedFolders();
	return names.length;
}

/** Rejects with what the system says; nothing is left then. */
export async function makePlaneNamespaces(
	nodes: readonly NodeNetwork[],
	gateways: readonly Gateway[],
): Promise<PlaneNamespaces> {
	const prefix = ownPrefix();
	const lan = `${prefix}-lan`;
	const byNode = new Map(nodes.map(({ name }) => [name, `${prefix}-${name}`]));
	const all = [lan, ...byNode.values()];
	try {
		await runIp(all.map((name) => `netns add ${name}`));
		await runIp(lanLines(byNode, nodes, gateways), lan);
		await Promise.all(nodes.map((node) => runIp(nodeLines(node, nodes, gateways), byNode.get(node.name))));
	} catch (error) {
		await removeNamespaces(all);
		const why = error instanceof Error ? error.message : String(error);
		throw new Error(`cannot make network namespaces: ${why}; it takes root with CAP_SYS_ADMIN and CAP_NET_ADMIN`, {
			cause: error,
		});
	}
	return { lan, nodes: byNode, remove: () => removeNamespaces(all) };
}

function lanLines(
	byNode: ReadonlyMap<string, string>,
	nodes: readonly NodeNetwork[],
	gateways: readonly Gateway[],
): readonly string[] {
	return [
		"link set lo up",
		"link add br0 type bridge mcast_snooping 0",
		...gateways.map(({ address, prefixLength }) => `addr add ${address}/${prefixLength} dev br0${noWait(address)}`),
		"link set br0 up",
		...[...byNode.values()].flatMap((name, index) => [
			`link add v${index} type veth peer name eth0 netns ${name}`,
			`link set v${index} master br0 up`,
		]),
		...routesTo(nodes),
	];
}

function nodeLines(
	{ name, addresses, podCIDRs }: NodeNetwork,
	nodes: readonly NodeNetwork[],
	gateways: readonly Gateway[],
): readonly string[] {
	return [
		"link set lo up",
		...addresses.map((address) => {
			const { prefixLength = 0 } = gateways.find((gateway) => isAlike(gateway.address, address)) ?? {};
			return `addr add ${address}/${prefixLength} dev eth0${noWait(address)}`;
		}),
		"link set eth0 up",
		...gateways.map(({ address }) => `route add default via ${address} dev eth0`),
		// Not in the table `local`: the route to a client's own namespace, which is longer, has to win.
		...podCIDRs.map((range) => `route add local ${range} dev lo table main`),
		...routesTo(nodes.filter((node) => node.name !== name)),
	];
}

function routesTo(nodes: readonly NodeNetwork[]): readonly string[] {
	return nodes.flatMap(({ podCIDRs, addresses }) =>
		podCIDRs.map((range) => `route add ${range} via ${addresses.find((ip) => isAlike(ip, range))}`),
	);
}

/** Of one family. */
function isAlike(a: string, b: string): boolean {
	return a.includes(":") === b.includes(":");
}

/** Nobody else has the address: it need not be asked for. */
function noWait(address: string): string {
	return address.includes(":") ? " nodad" : "";
}
