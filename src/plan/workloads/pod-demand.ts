/** What a Pod asks of its node: amounts of resources, and ports of the node itself. */
import { nanosOfQuantity } from "../../api/quantity.ts";
import type { Container, ContainerPort, Node, Pod } from "../../api/types/core.ts";
import type { StringMap } from "../../api/types/meta.ts";

export interface HostPort {
	readonly ip: string;
	readonly protocol: string;
	readonly port: number;
}

export interface Demand {
	/** By name of the resource, in billionths; nothing is asked of the others. */
	readonly requests: ReadonlyMap<string, bigint>;
	readonly ports: ReadonlySet<HostPort>;
}

type Amounts = Map<string, bigint>;

const ANY_IP = "0.0.0.0";

/** Undefined when the Pod asks for nothing, as most do. */
export function demandOf({ spec }: Pod): Demand | undefined {
	const { containers, initContainers = [], resources, overhead } = spec;
	const asks = [...initContainers, ...containers].some(({ resources: own, ports }) => {
		return own?.requests !== undefined || ports?.some(isOnHost) === true;
	});
	if (!asks && resources?.requests === undefined && overhead === undefined) return undefined;
	const requests = requestsOf(spec);
	const ports = new Set([...containers, ...initContainers.filter(isSidecar)].flatMap(hostPortsOf));
	return requests.size === 0 && ports.size === 0 ? undefined : { requests, ports };
}

/** Whether a port is taken already: an address that stands for all of them takes, or needs, each. */
export function hasPortConflict(wanted: Demand, taken: Demand | undefined): boolean {
	if (taken === undefined || wanted.ports.size === 0 || taken.ports.size === 0) return false;
	return [...wanted.ports].some((port) => [...taken.ports].some((other) => collide(port, other)));
}

/** A reason for each resource of which the node has too little left; a node that names none at all takes anything. */
export function insufficientOf(
	wanted: Demand,
	taken: Demand | undefined,
	allocatable: NonNullable<Node["status"]>["allocatable"],
): readonly string[] {
	if (allocatable === undefined) return [];
	const amounts = amountsOf(allocatable);
	const short: string[] = [];
	for (const [name, nanos] of wanted.requests) {
		const all = amounts.get(name) ?? 0n;
		if (nanos + (taken?.requests.get(name) ?? 0n) > all) short.push(`Insufficient ${name}`);
	}
	return short;
}

/** Every Pod that is placed asks every node: each node's texts are read once. */
const amountsByTexts = new WeakMap<StringMap, ReadonlyMap<string, bigint>>();

function amountsOf(texts: StringMap): ReadonlyMap<string, bigint> {
	const known = amountsByTexts.get(texts);
	if (known !== undefined) return known;
	const amounts = parsedAmounts(texts);
	amountsByTexts.set(texts, amounts);
	return amounts;
}

function parsedAmounts(texts: StringMap = {}): Amounts {
	return new Map(Object.entries(texts).map(([name, text]) => [name, nanosOfQuantity(text) ?? 0n]));
}

/**
 * Init containers run one after the other, beside the sidecars that were started before them; then all containers run
 * beside all sidecars. The Pod needs the most that it ever needs.
 * @see https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
 */
function requestsOf({ containers, initContainers = [], resources, overhead }: Pod["spec"]): Amounts {
	const sidecars: Amounts = new Map();
	const most: Amounts = new Map();
	for (const container of initContainers) {
		const own = parsedAmounts(container.resources?.requests);
		if (isSidecar(container)) addTo(sidecars, own);
		else raiseTo(most, addTo(own, sidecars));
	}
	const running = sidecars;
	for (const container of containers) addTo(running, parsedAmounts(container.resources?.requests));
	raiseTo(most, running);
	for (const [name, nanos] of parsedAmounts(resources?.requests)) most.set(name, nanos);
	addTo(most, parsedAmounts(overhead));
	return new Map([...most].filter(([, nanos]) => nanos > 0n));
}

function addTo(sum: Amounts, more: Amounts): Amounts {
	for (const [name, nanos] of more) sum.set(name, (sum.get(name) ?? 0n) + nanos);
	return sum;
}

function raiseTo(most: Amounts, other: Amounts): void {
	for (const [name, nanos] of other) if (nanos > (most.get(name) ?? 0n)) most.set(name, nanos);
}

function isSidecar({ restartPolicy }: Container): boolean {
	return restartPolicy === "Always";
}

function isOnHost({ hostPort = 0 }: ContainerPort): boolean {
	return hostPort > 0;
}

function hostPortsOf({ ports = [] }: Container): readonly HostPort[] {
	return ports.filter(isOnHost).map(({ hostIP = "", protocol = "TCP", hostPort = 0 }) => {
		return { ip: hostIP === "" ? ANY_IP : hostIP, protocol, port: hostPort };
	});
}

function collide(a: HostPort, b: HostPort): boolean {
	if (a.port !== b.port || a.protocol !== b.protocol) return false;
	return a.ip === b.ip || a.ip === ANY_IP || b.ip === ANY_IP;
}
