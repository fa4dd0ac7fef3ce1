/** The Node that a proxy stands on: its addresses, and what of it a running proxy cannot take a change of. */
import { networkInterfaces } from "node:os";
import { contains, familyOf, parseCIDR, parseIP } from "../api/ip.ts";
import { NODES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Node } from "../api/types/core.ts";
import type { IPFamily } from "../api/types/meta.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import type { SystemPorts } from "./system-ports.ts";

export const FAMILIES: readonly IPFamily[] = ["IPv4", "IPv6"];
/** How long the Node may take to be there. */
const NODE_MS_MAX = 300_000;
const NODE_RETRY_MS = 1_000;
const NODE_TRIES_PER_WARNING = 30;

/** Waits for it, and for its addresses. Rejects when they do not come, and when `signal` aborts. */
export async function ownNode(
	client: ApiClient,
	name: string,
	{ clock, log }: Pick<SystemPorts, "clock" | "log">,
	signal: AbortSignal,
): Promise<Node> {
	const untilMs = clock.monotonicMs() + NODE_MS_MAX;
	for (let times = 0; ; times++) {
		const node = await nodeOf(client, name, signal);
		if (node !== undefined && addressesOf(node).length > 0) return node;
		const [what, hint] =
			node === undefined
				? [`no Node ${name}`, "--hostname-override names another"]
				: [`no InternalIP in the status of the Node ${name}`, "its kubelet or cloud provider has to give it one"];
		if (clock.monotonicMs() >= untilMs) throw new Error(`${what} in ${NODE_MS_MAX / 60_000} minutes; ${hint}`);
		if (times % NODE_TRIES_PER_WARNING === 0) log.warn("The proxy waits for its Node", { node: name, reason: what });
		await clock.sleep(NODE_RETRY_MS, signal);
	}
}

async function nodeOf(client: ApiClient, name: string, signal: AbortSignal): Promise<Node | undefined> {
	try {
		return await client.get(NODES, { namespace: "", name }, signal);
	} catch (error) {
		if (hasReason(error, "NotFound")) return undefined;
		throw error;
	}
}

export function addressesOf({ status }: Node): readonly string[] {
	const addresses = status?.addresses ?? [];
	return addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
}

/** What a running proxy cannot take a change of. */
export function factsOf(node: Node): string {
	return JSON.stringify([addressesOf(node), node.spec?.podCIDRs ?? []]);
}

/** Loopback addresses are left out: the kernel does not translate what stays on the loopback. */
export function nodePortAddresses(wanted: readonly string[], node: Node): readonly string[] {
	if (wanted.length === 0 || wanted.includes("primary")) {
		return FAMILIES.flatMap((family) => addressesOf(node).find((ip) => familyOf(ip) === family) ?? []);
	}
	const ranges = wanted.flatMap((cidr) => parseCIDR(cidr) ?? []);
	const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
	return own
		.filter(({ internal }) => !internal)
		.map(({ address }) => address)
		.filter((address) => {
			const ip = parseIP(address);
			return ip !== undefined && ranges.some((range) => contains(range, ip));
		});
}
