/** A network namespace for a client: a pod of its own behind a node, with an address of that node's range. */
import { ownPrefix, removeNamespaces } from "./namespace-names.ts";
import { runIp, tryIp } from "./run-ip.ts";

export interface ClientNamespaceOptions {
	/** Namespace of the node. */
	readonly node: string;
	readonly addresses: readonly string[];
}

export interface ClientNamespace {
	readonly name: string;
	remove(): Promise<void>;
}

/** Next hops that need not be there: their hardware address is the node's end of the cable. */
const NEXT_HOPS = { IPv4: "169.254.1.1", IPv6: "fe80::1" } as const;
/** Locally administered; each is alone on its cable. */
const NODE_END = "02:00:00:00:00:01";
const CLIENT_END = "02:00:00:00:00:02";

/** Rejects with what the system says; nothing is left then. */
export async function makeClientNamespace(options: ClientNamespaceOptions): Promise<ClientNamespace> {
	const name = `${ownPrefix()}-client`;
	const cable = `c${process.pid}`;
	const remove = async (): Promise<void> => {
		// Its end on the node goes with it, in a moment; its name must be free at once.
		await tryIp([`link del ${cable}`], options.node);
		await removeNamespaces([name]);
	};
	try {
		await runIp([`netns add ${name}`]);
		await runIp(nodeLines(cable, name, options.addresses), options.node);
		await runIp(clientLines(options.addresses), name);
	} catch (error) {
		await remove();
		throw error;
	}
	return { name, remove };
}

function nodeLines(cable: string, client: string, addresses: readonly string[]): readonly string[] {
	return [
		`link add ${cable} address ${NODE_END} type veth peer name eth0 address ${CLIENT_END} netns ${client}`,
		`link set ${cable} up`,
		...addresses.flatMap((ip) => [
			`route add ${ip}/${ip.includes(":") ? 128 : 32} dev ${cable}`,
			`neigh replace ${ip} lladdr ${CLIENT_END} dev ${cable} nud permanent`,
		]),
	];
}

function clientLines(addresses: readonly string[]): readonly string[] {
	return [
		"link set lo up",
		"link set eth0 up",
		...addresses.flatMap((ip) => {
			const isSix = ip.includes(":");
			const hop = NEXT_HOPS[isSix ? "IPv6" : "IPv4"];
			return [
				`addr add ${ip}/${isSix ? "128 dev eth0 nodad" : "32 dev eth0"}`,
				`neigh replace ${hop} lladdr ${NODE_END} dev eth0 nud permanent`,
				`route add default via ${hop} dev eth0 onlink`,
			];
		}),
	];
}
