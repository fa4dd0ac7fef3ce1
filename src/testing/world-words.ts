/**
 * The words of golden files about planners, as objects: what a person who knows Kubernetes would write down.
 *
 *     service web http:80->8080 metrics:9100->9100 clusterIP=None
 *     pod a 10.1.0.1 n1 ready
 *     node n1 zone=z1 cpu=4
 *     subset 10.1.1.1 !10.1.1.2 http:80
 */
import type { EndpointSubset, Node, Pod, Service, ServicePort, SubsetPort } from "../api/types/core.ts";
import type { IPFamily, ObjectMeta, StringMap } from "../api/types/meta.ts";
import { node, pod, service } from "./builders.ts";

/** `word flag key=value`, apart. */
export interface Words {
	readonly plain: readonly string[];
	readonly given: ReadonlyMap<string, string>;
	has(flag: string): boolean;
}

export function wordsOf(line: string): Words {
	const words = line.split(" ").filter((word) => word !== "");
	const options = words.filter((word) => word.includes("="));
	const plain = words.filter((word) => !word.includes("="));
	const given = new Map(options.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
	return { plain, given, has: (flag) => plain.includes(flag) };
}

/** `service NAME [NAME:PORT->TARGET[/PROTOCOL]...] [key=value...]`. */
export function serviceOf(words: Words): Service {
	const { plain, given } = words;
	const [, name = ""] = plain;
	const clusterIP = given.get("clusterIP");
	const families = given.get("families");
	const distribution = given.get("trafficDistribution");
	const spec = {
		ports: plain.filter((word) => word.includes("->")).map(servicePortOf),
		...(clusterIP === undefined ? {} : { clusterIP, clusterIPs: [clusterIP] }),
		...(families === undefined ? {} : { ipFamilies: families === "none" ? [] : (families.split(",") as IPFamily[]) }),
		...(distribution === undefined ? {} : { trafficDistribution: distribution }),
		...(words.has("publishNotReadyAddresses") ? { publishNotReadyAddresses: true } : {}),
		...(given.get("selector") === "none" ? { selector: {} } : {}),
	};
	const mode = given.get("topology-mode");
	const annotations = mode === undefined ? {} : { annotations: { "service.kubernetes.io/topology-mode": mode } };
	return service(name, spec, { ...metadataOf(words), ...annotations });
}

function servicePortOf(word: string): ServicePort {
	const [, name = "", port = "", target = "", protocol = "TCP"] =
		/^([a-z0-9-]*):(\d+)->([a-z0-9-]+)(?:\/(\w+))?$/.exec(word) ?? [];
	if (port === "") throw new Error(`${word}: want NAME:PORT->TARGET, such as http:80->8080`);
	const targetPort = /^\d+$/.test(target) ? Number(target) : target;
	return { name, port: Number(port), targetPort, protocol: protocol as NonNullable<ServicePort["protocol"]> };
}

/** `pod NAME IP[,IP] NODE ready|not-ready [terminating] [listens=NAME:PORT] [phase=PHASE]`. */
export function podOf(words: Words): Pod {
	const [, name = "", ips = "", on = ""] = words.plain;
	return podNamed(name, ips.split(","), on, words);
}

/** `pods p001..p205 10.1.x.x n1,n2 ready`: pod 205 has the address 10.1.0.205; the nodes take turns. */
export function podsOf(words: Words): readonly Pod[] {
	const [, range = "", prefix = "", nodes = ""] = words.plain;
	const inTurn = nodes.split(",");
	return namesIn(range).map((name, at) => {
		const n = Number(/\d+$/.exec(name)?.[0]);
		const ip = prefix.replace("x.x", `${n >> 8}.${n & 255}`);
		return podNamed(name, [ip], inTurn[at % inTurn.length] ?? "", words);
	});
}

function podNamed(name: string, ips: readonly string[], on: string, words: Words): Pod {
	const phase = words.given.get("phase");
	const [portName, port] = words.given.get("listens")?.split(":") ?? [];
	const listening = { containers: [{ name: "c", ports: [{ name: portName ?? "", containerPort: Number(port) }] }] };
	return pod(name, {
		ips: ips.filter((ip) => ip !== "-"),
		node: on,
		isReady: words.has("ready"),
		isTerminating: words.has("terminating"),
		...(port === undefined ? {} : { spec: { nodeName: on, ...listening } }),
		...(phase === undefined ? {} : { status: { phase: phase as "Failed" } }),
	});
}

/** `p001..p205`, or one name. */
export function namesIn(range: string): readonly string[] {
	const [, stem = "", first = "", last = ""] = /^([a-z-]*)(\d+)\.\.[a-z-]*(\d+)$/.exec(range) ?? [];
	if (first === "") return [range];
	return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => {
		return stem + String(Number(first) + at).padStart(first.length, "0");
	});
}

/** `node NAME [zone=ZONE] [cpu=CPU] [not-ready]`. */
export function nodeOf({ plain, given, has }: Words): Node {
	const [, name = ""] = plain;
	const cpu = given.get("cpu");
	return {
		...node(name, given.get("zone")),
		status: {
			conditions: [{ type: "Ready", status: has("not-ready") ? "False" : "True" }],
			...(cpu === undefined ? {} : { allocatable: { cpu } }),
		},
	};
}

/** `subset [!]IP[+COUNT]... NAME:PORT...`: a mark for what is not ready; `10.1.0.0+1500` counts up. */
export function subsetOf({ plain: [, ...words] }: Words): EndpointSubset {
	const isPort = (word: string): boolean => /^[a-z0-9-]*:\d+$/.test(word);
	const ips = words.filter((word) => !isPort(word)).flatMap(addressesIn);
	const addresses = ips.filter((ip) => !ip.startsWith("!")).map((ip) => ({ ip }));
	const notReadyAddresses = ips.filter((ip) => ip.startsWith("!")).map((ip) => ({ ip: ip.slice(1) }));
	return {
		...(addresses.length === 0 ? {} : { addresses }),
		...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
		ports: words.filter(isPort).map(subsetPortOf),
	};
}

function addressesIn(word: string): readonly string[] {
	const [first = "", count] = word.split("+");
	if (count === undefined) return [first];
	const numbers = Array.from({ length: Number(count) }, (_, n) => n);
	if (first.includes(":")) return numbers.map((n) => first.replace(/0$/, n.toString(16)));
	return numbers.map((n) => first.replace(/0\.0$/, `${n >> 8}.${n & 255}`));
}

function subsetPortOf(word: string): SubsetPort {
	const [name = "", port] = word.split(":");
	return { ...(name === "" ? {} : { name }), port: Number(port), protocol: "TCP" };
}

/** `labels=team:red,tier:a` and `uid=UID`. */
export function metadataOf({ given }: Words): Partial<ObjectMeta> {
	const uid = given.get("uid");
	const pairs = given
		.get("labels")
		?.split(",")
		.map((pair) => pair.split(":") as [string, string]);
	const labels: StringMap | undefined = pairs === undefined ? undefined : Object.fromEntries(pairs);
	return { ...(uid === undefined ? {} : { uid }), ...(labels === undefined ? {} : { labels }) };
}
