/**
 * The zone of a cluster: every name that Services, their endpoints and Pods have, and which names there are not.
 *
 *     const zone = new Zone({ name: "cluster.local.", ttl: 5 });
 *     zone.putService(served);
 *     zone.resolve({ name: "web.default.svc.cluster.local.", type: "A" });
 *
 * @see https://github.com/kubernetes/dns/blob/master/docs/specification.md
 */
import { type CIDR, canonicalIP, contains, familyOf, parseIP } from "../../api/ip.ts";
import type { ServedService } from "../service-map/served-service.ts";
import type { DnsRecord, RecordData, ZoneAnswer, ZoneResult } from "./records.ts";
import { addressOfReverse, isReverse } from "./reverse.ts";
import { type EndpointRecord, type NamedPort, type ServiceRecords, serviceRecords } from "./service-records.ts";

export interface ZoneOptions {
	/** `cluster.local.` */
	readonly name: string;
	/** Seconds, 0 to 3600. */
	readonly ttl: number;
	/** Addresses of the cluster: whose names are not known here are known nowhere. Default none. */
	readonly ranges?: readonly CIDR[];
}

export interface DnsQuestion {
	/** As it was asked, with a dot at its end. */
	readonly name: string;
	readonly type: string;
}

/** The longest that a resolver may believe that there is no such name. Seconds. */
const NEGATIVE_TTL_MAX = 300;
const VERSION_TTL = 28_800;
/** Version of the specification. */
const VERSION = "1.1.0";
/** The Service by which a cluster's DNS is reached. */
const DNS_SERVICE = "kube-system/kube-dns";
const ALIASES_MAX = 10;

/** What stands at a name: its records by type, and what goes with them. `undefined`: no such name. */
interface Found {
	readonly records: readonly RecordData[];
	readonly additional?: readonly DnsRecord[];
	readonly alias?: string;
	readonly ttl?: number;
}

const NOTHING: Found = { records: [] };

export class Zone {
	readonly #name: string;
	readonly #ttl: number;
	readonly #ranges: readonly CIDR[];
	readonly #services = new Map<string, ServiceRecords>();
	readonly #namespaces = new Set<string>();
	/** Keys of Services by cluster IP, and of headless ones by the address of an endpoint. */
	readonly #byClusterIP = new Map<string, string>();
	readonly #byEndpoint = new Map<string, Set<string>>();
	#serial = 0;
	#version = 0;
	#asOf: string | undefined;

	constructor({ name, ttl, ranges = [] }: ZoneOptions) {
		this.#ranges = ranges;
		this.#name = name.toLowerCase();
		this.#ttl = ttl;
	}

	/** resourceVersion of the EndpointSlices that the newest records were made from. */
	get asOf(): string | undefined {
		return this.#asOf;
	}

	/** Rises with every change. */
	get version(): number {
		return this.#version;
	}

	/** @param serial Unix seconds of the change. */
	putService(served: ServedService, serial: number): void {
		this.#version++;
		this.#unindex(served.key);
		const records = serviceRecords(served);
		this.#services.set(served.key, records);
		for (const ip of records.kind === "cluster-ip" ? records.clusterIPs : []) this.#byClusterIP.set(ip, served.key);
		for (const { address } of records.kind === "headless" ? records.endpoints : []) {
			this.#byEndpoint.set(address, (this.#byEndpoint.get(address) ?? new Set()).add(served.key));
		}
		this.#serial = Math.max(this.#serial, serial);
		this.#asOf = served.asOf;
	}

	/** `key` is `namespace/name`. */
	removeService(key: string, serial: number): void {
		this.#version++;
		this.#unindex(key);
		this.#services.delete(key);
		this.#serial = Math.max(this.#serial, serial);
	}

	putNamespace(name: string): void {
		this.#version++;
		this.#namespaces.add(name);
	}

	removeNamespace(name: string): void {
		this.#version++;
		this.#namespaces.delete(name);
	}

	/** Whether there is such a Service, with or without a name now; `key` is `namespace/name`. */
	hasService(key: string): boolean {
		return this.#services.has(key);
	}

	/** Aliases are followed inside the zone. */
	resolve(question: DnsQuestion): ZoneResult {
		const asked = question.name.toLowerCase();
		if (isReverse(asked)) return this.#reverse(question, asked);
		if (!this.#has(asked)) return { kind: "foreign" };
		return { kind: "answer", ...this.#forward(question, asked) };
	}

	/** The start of authority, as it goes with answers that something is not there. */
	soa(): DnsRecord {
		const data: RecordData = {
			type: "SOA",
			mname: `ns.dns.${this.#name}`,
			rname: `hostmaster.${this.#name}`,
			serial: this.#serial,
			refresh: 7200,
			retry: 1800,
			expire: 86_400,
			minimum: this.#ttl,
		};
		return { name: this.#name, ttl: Math.min(this.#ttl, NEGATIVE_TTL_MAX), data };
	}

	#has(name: string): boolean {
		return name === this.#name || name.endsWith(`.${this.#name}`);
	}

	/** @param followed Aliases that led here, the first one first. */
	#forward(question: DnsQuestion, asked: string, followed: readonly DnsRecord[] = []): ZoneAnswer {
		const { name, type } = question;
		const found = this.#find(asked);
		if (found === undefined) return this.#absent("NXDOMAIN", followed);
		if (found.alias !== undefined && type !== "SRV") return this.#follow(question, asked, found.alias, followed);
		const ttl = found.ttl ?? this.#ttl;
		const records = found.records.filter((data) => data.type === type).map((data) => ({ name, ttl, data }));
		if (records.length === 0) return this.#absent("NOERROR", followed);
		// Addresses that were asked for need not be told once more.
		const additional = type === "SRV" || type === "NS" ? (found.additional ?? []) : [];
		return { rcode: "NOERROR", answers: [...followed, ...records], authority: [], additional };
	}

	#follow({ name, type }: DnsQuestion, asked: string, target: string, followed: readonly DnsRecord[]): ZoneAnswer {
		// An alias of itself names nothing, and one that was followed leads round and round.
		const isRound = target === asked || followed.some((record) => record.name.toLowerCase() === target);
		if (isRound || followed.length >= ALIASES_MAX) return this.#absent("NOERROR", followed);
		const answers: readonly DnsRecord[] = [...followed, { name, ttl: this.#ttl, data: { type: "CNAME", target } }];
		if (type === "CNAME") return this.#ended(answers);
		if (!this.#has(target)) return { ...this.#ended(answers), outside: target };
		return this.#forward({ name: target, type }, target, answers);
	}

	/** At the end of aliases they are the answer, whatever they lead to. */
	#absent(rcode: "NOERROR" | "NXDOMAIN", followed: readonly DnsRecord[]): ZoneAnswer {
		return followed.length === 0 ? this.#negative(rcode) : this.#ended(followed);
	}

	#ended(answers: readonly DnsRecord[]): ZoneAnswer {
		return { rcode: "NOERROR", answers, authority: [], additional: [] };
	}

	#negative(rcode: "NOERROR" | "NXDOMAIN"): ZoneAnswer {
		return { rcode, answers: [], authority: [this.soa()], additional: [] };
	}

	/** What stands at a name of the zone. */
	#find(name: string): Found | undefined {
		const rest = name === this.#name ? "" : name.slice(0, -this.#name.length - 1);
		const labels = rest === "" ? [] : rest.split(".");
		if (labels.length === 0) return this.#apex();
		const last = labels.at(-1);
		if (rest === "dns-version") return { records: [{ type: "TXT", texts: [VERSION] }], ttl: VERSION_TTL };
		if (rest === "dns") return NOTHING;
		if (rest === "ns.dns") return { records: addressesOf(this.#services.get(DNS_SERVICE)?.clusterIPs ?? []) };
		if (last === "svc") return this.#inServices(labels.slice(0, -1));
		return last === "pod" ? this.#inPods(labels.slice(0, -1)) : undefined;
	}

	#apex(): Found {
		const dns = this.#services.get(DNS_SERVICE);
		const target = dns === undefined ? `ns.dns.${this.#name}` : this.#nameOf(dns);
		const additional = addressesOf(dns?.clusterIPs ?? []).map((data) => ({ name: target, ttl: this.#ttl, data }));
		return { records: [this.soa().data, { type: "NS", target }], additional };
	}

	/** `labels` without `svc`: none, `namespace`, `service.namespace`, and what is below a Service. */
	#inServices(labels: readonly string[]): Found | undefined {
		const [namespace = "", name = ""] = [...labels].reverse();
		if (labels.length === 0) return NOTHING;
		if (labels.length === 1) return this.#namespaces.has(namespace) ? NOTHING : undefined;
		const service = this.#services.get(`${namespace}/${name}`);
		if (service === undefined || service.kind === "none") return undefined;
		const below = labels.slice(0, -2);
		if (service.kind === "external-name") {
			return below.length === 0 ? { records: [], alias: service.externalName } : undefined;
		}
		if (below.length === 0) return this.#service(service);
		const [first = "", second] = below;
		if (below.length === 1) return this.#endpoint(service, first);
		return below.length === 2 && second !== undefined ? this.#port(service, first, second) : undefined;
	}

	#service(service: ServiceRecords): Found | undefined {
		const { kind, clusterIPs, endpoints } = service;
		const addresses = kind === "headless" ? endpoints.map(({ address }) => address) : clusterIPs;
		if (addresses.length === 0) return undefined;
		const srv = this.#srv(service, endpoints, () => true);
		return { ...srv, records: [...addressesOf(addresses), ...srv.records] };
	}

	/** An endpoint by its label, or the node of the tree that ports of a protocol stand below. */
	#endpoint(service: ServiceRecords, label: string): Found | undefined {
		const found = service.endpoints.filter((endpoint) => endpoint.label === label);
		if (found.length > 0) {
			const records = addressesOf(found.map(({ address }) => address));
			const srv = this.#srv({ ...service, kind: "headless" }, found, () => true);
			return { ...srv, records: [...records, ...srv.records] };
		}
		const protocol = label.startsWith("_") ? label.slice(1) : undefined;
		const hasPort = portsOf(service).some((port) => port.name !== "" && port.protocol === protocol);
		return hasPort ? NOTHING : undefined;
	}

	/** `_port._protocol`; the underscores may be left out. */
	#port(service: ServiceRecords, portLabel: string, protocolLabel: string): Found | undefined {
		const [name, protocol] = [portLabel, protocolLabel].map((label) => label.replace(/^_/, ""));
		const isMeant = (port: NamedPort): boolean => port.name !== "" && port.name === name && port.protocol === protocol;
		const srv = this.#srv(service, service.endpoints, isMeant);
		if (srv.records.length === 0) return undefined;
		const { clusterIPs, endpoints, kind } = service;
		const addresses =
			kind === "headless"
				? endpoints.filter(({ ports }) => ports.some(isMeant)).map(({ address }) => address)
				: clusterIPs;
		return { ...srv, records: [...addressesOf(addresses), ...srv.records] };
	}

	/** One for each port and target; all as likely. Their addresses go along. */
	#srv(service: ServiceRecords, endpoints: readonly EndpointRecord[], isMeant: (port: NamedPort) => boolean): Found {
		const own = this.#nameOf(service);
		const candidates =
			service.kind === "headless"
				? endpoints.map(({ label, address, ports }) => ({ target: `${label}.${own}`, address, ports }))
				: service.clusterIPs.map((address) => ({ target: own, address, ports: service.ports }));
		const pairs = candidates.flatMap(({ target, ports }) =>
			ports.filter(isMeant).map(({ port }) => ({ target, port })),
		);
		const weight = Math.max(1, Math.floor(100 / Math.max(1, pairs.length)));
		const unique = new Map(pairs.map((pair) => [`${pair.target} ${pair.port}`, pair]));
		const targets = candidates.filter(({ ports }) => ports.some(isMeant));
		return {
			records: [...unique.values()].map((pair) => ({ type: "SRV", priority: 0, weight, ...pair })),
			additional: targets.flatMap(({ target, address }) =>
				addressesOf([address]).map((data) => ({ name: target, ttl: this.#ttl, data })),
			),
		};
	}

	/** The address is computed from the name: whether there is such a Pod is not looked at. */
	#inPods(labels: readonly string[]): Found | undefined {
		const [namespace = "", label = ""] = [...labels].reverse();
		if (labels.length === 0) return NOTHING;
		if (!this.#namespaces.has(namespace) || labels.length > 2) return undefined;
		if (labels.length === 1) return NOTHING;
		const isIPv4 = label.split("-").length === 4 && !label.includes("--");
		const address = canonicalIP(label.replaceAll("-", isIPv4 ? "." : ":"));
		return address === undefined ? undefined : { records: addressesOf([address]) };
	}

	#reverse({ name, type }: DnsQuestion, asked: string): ZoneResult {
		const address = addressOfReverse(asked);
		const targets = address === undefined ? [] : this.#namesOf(address);
		if (targets.length === 0) {
			const ip = address === undefined ? undefined : parseIP(address);
			const isOwn = ip !== undefined && this.#ranges.some((range) => contains(range, ip));
			return isOwn ? { kind: "answer", ...this.#negative("NXDOMAIN") } : { kind: "foreign" };
		}
		const records = targets.map((target) => ({ name, ttl: this.#ttl, data: { type: "PTR", target } as const }));
		return { kind: "answer", ...(type === "PTR" ? this.#ended(records) : this.#negative("NOERROR")) };
	}

	/** Of a cluster IP its Service; else of each headless Service the name of the endpoint. */
	#namesOf(address: string): readonly string[] {
		const clusterIP = this.#services.get(this.#byClusterIP.get(address) ?? "");
		if (clusterIP !== undefined) return [this.#nameOf(clusterIP)];
		const keys = [...(this.#byEndpoint.get(address) ?? [])].sort();
		return keys.flatMap((key) => {
			const service = this.#services.get(key);
			const labels = (service?.endpoints ?? [])
				.filter((endpoint) => endpoint.address === address)
				.map(({ label }) => label);
			return service === undefined ? [] : [...new Set(labels)].map((label) => `${label}.${this.#nameOf(service)}`);
		});
	}

	#nameOf({ name, namespace }: ServiceRecords): string {
		return `${name}.${namespace}.svc.${this.#name}`;
	}

	#unindex(key: string): void {
		const before = this.#services.get(key);
		for (const ip of before?.clusterIPs ?? []) if (this.#byClusterIP.get(ip) === key) this.#byClusterIP.delete(ip);
		for (const { address } of before?.endpoints ?? []) {
			const keys = this.#byEndpoint.get(address);
			keys?.delete(key);
			if (keys?.size === 0) this.#byEndpoint.delete(address);
		}
	}
}

function portsOf({ kind, ports, endpoints }: ServiceRecords): readonly NamedPort[] {
	return kind === "headless" ? endpoints.flatMap((endpoint) => endpoint.ports) : ports;
}

/** Each address once. */
function addressesOf(ips: readonly string[]): readonly RecordData[] {
	return [...new Set(ips)].map((address) => ({ type: familyOf(address) === "IPv6" ? "AAAA" : "A", address }));
}
