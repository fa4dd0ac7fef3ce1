import { describe, expect, test } from "vitest";
import { parseCIDR } from "../../api/ip.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery.ts";
import { assertDefined } from "../../kernel/assert.ts";
import { meta, service } from "../../testing/builders.ts";
import type { DnsRecord } from "./records.ts";
import { Zone } from "./zone.ts";

const HTTP: EndpointPort = { name: "http", protocol: "TCP", port: 8080 };

function slice(name: string, endpoints: readonly Endpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice {
	return {
		apiVersion: "discovery.k8s.io/v1",
		kind: "EndpointSlice",
		metadata: meta(name),
		addressType: "IPv4",
		endpoints,
		ports: [HTTP],
		...more,
	};
}

const ready = (address: string, hostname?: string): Endpoint => ({
	addresses: [address],
	conditions: { ready: true },
	...(hostname === undefined ? {} : { hostname }),
});

function zone(): Zone {
	const made = new Zone({ name: "cluster.local.", ttl: 5 });
	for (const namespace of ["default", "empty"]) made.putNamespace(namespace);
	const put = (name: string, spec: object, ...slices: readonly EndpointSlice[]): void =>
		made.putService({ key: `default/${name}`, asOf: "7", service: service(name, spec), slices }, 1_700_000_000);
	put("web", {}, slice("web-1", [ready("10.244.0.9", "w")]));
	put("dual", {
		clusterIP: "10.96.0.11",
		clusterIPs: ["10.96.0.11", "fd00::b"],
		ports: [{ name: "https", protocol: "TCP", port: 443 }],
	});
	put(
		"db",
		{ clusterIP: "None" },
		slice("db-1", [
			ready("10.244.0.1", "db-0"),
			ready("10.244.0.2"),
			{ addresses: ["10.244.0.3"], hostname: "db-2", conditions: { ready: false } },
		]),
		slice("db-2", [ready("10.244.0.2"), { addresses: ["10.244.0.4"], conditions: {} }], {
			ports: [HTTP, { name: "", protocol: "UDP", port: 53 }],
		}),
		slice("db-6", [ready("fd00::1", "db-0")], { addressType: "IPv6" }),
	);
	put("gone", { clusterIP: "None" }, slice("gone-1", [{ addresses: ["10.244.0.5"], conditions: { ready: false } }]));
	const alias = (name: string, externalName: string): void =>
		put(name, { type: "ExternalName", externalName, clusterIP: "", ports: [] });
	alias("out", "WWW.Example.com");
	alias("in", "web.default.svc.cluster.local");
	alias("dangling", "nope.default.svc.cluster.local.");
	alias("self", "self.default.svc.cluster.local");
	alias("a", "b.default.svc.cluster.local");
	alias("b", "a.default.svc.cluster.local");
	alias("literal", "10.20.30.40");
	put("pending", { clusterIP: "" });
	return made;
}

function text({ data }: DnsRecord): string {
	switch (data.type) {
		case "A":
		case "AAAA":
			return data.address;
		case "SRV":
			return `${data.priority} ${data.weight} ${data.port} ${data.target}`;
		case "TXT":
			return data.texts.join();
		case "SOA":
			return `SOA ${data.serial} ${data.minimum}`;
		default:
			return `${data.type} ${data.target}`;
	}
}

/** `NXDOMAIN`, `NODATA`, `foreign`, or the answers; ` > name` when it leads out. */
function asked(question: string, made: Zone = zone()): string {
	const [type = "", name = ""] = question.split(" ");
	const full = name.endsWith(".") ? name : `${name}.default.svc.cluster.local.`;
	const result = made.resolve({ name: full, type });
	if (result.kind === "foreign") return "foreign";
	if (result.answers.length === 0) return result.rcode === "NXDOMAIN" ? "NXDOMAIN" : "NODATA";
	return result.answers.map(text).join(", ") + (result.outside === undefined ? "" : ` > ${result.outside}`);
}

describe("Zone.resolve()", () => {
	test.each([
		["A web", "10.96.0.10"],
		["AAAA web", "NODATA"],
		["TXT web", "NODATA"],
		["TYPE65 web", "NODATA"],
		["A nope", "NXDOMAIN"],
		["AAAA nope", "NXDOMAIN"],
		["TXT nope", "NXDOMAIN"],
		["A pending", "NXDOMAIN"],
		["A w.web", "10.244.0.9"],
		["A dual", "10.96.0.11"],
		["AAAA dual", "fd00::b"],
		["SRV _https._tcp.dual", "0 50 443 dual.default.svc.cluster.local."],
		["SRV https.tcp.dual", "0 50 443 dual.default.svc.cluster.local."],
		["A _https._tcp.dual", "10.96.0.11"],
		["A _tcp.dual", "NODATA"],
		["A _udp.dual", "NXDOMAIN"],
		["SRV _nope._tcp.dual", "NXDOMAIN"],
		["SRV _http._tcp.web", "0 100 80 web.default.svc.cluster.local."],
		["A db", "10.244.0.1, 10.244.0.2, 10.244.0.4"],
		["AAAA db", "fd00::1"],
		["A db-0.db", "10.244.0.1"],
		["AAAA db-0.db", "fd00::1"],
		["A db-2.db", "NXDOMAIN"],
		["A 10-244-0-2.db", "10.244.0.2"],
		["A 10-244-0-1.db", "NXDOMAIN"],
		["A x.db-0.db", "NXDOMAIN"],
		["A gone", "NXDOMAIN"],
		["SRV gone", "NXDOMAIN"],
		["CNAME out", "CNAME www.example.com."],
		["A out", "CNAME www.example.com. > www.example.com."],
		["SRV out", "NODATA"],
		["A x.out", "NXDOMAIN"],
		["A in", "CNAME web.default.svc.cluster.local., 10.96.0.10"],
		["AAAA in", "CNAME web.default.svc.cluster.local."],
		["A dangling", "CNAME nope.default.svc.cluster.local."],
		["A self", "NODATA"],
		["A a", "CNAME b.default.svc.cluster.local."],
		["A literal", "NXDOMAIN"],
		["A svc.cluster.local.", "NODATA"],
		["A default.svc.cluster.local.", "NODATA"],
		["A empty.svc.cluster.local.", "NODATA"],
		["A other.svc.cluster.local.", "NXDOMAIN"],
		["A nope.empty.svc.cluster.local.", "NXDOMAIN"],
		["A cluster.local.", "NODATA"],
		["SOA cluster.local.", "SOA 1700000000 5"],
		["NS cluster.local.", "NS ns.dns.cluster.local."],
		["TXT dns-version.cluster.local.", "1.1.0"],
		["A dns-version.cluster.local.", "NODATA"],
		["A nope.cluster.local.", "NXDOMAIN"],
		["A 10-1-2-3.default.pod.cluster.local.", "10.1.2.3"],
		["AAAA 10-1-2-3.default.pod.cluster.local.", "NODATA"],
		["AAAA fd00--7.default.pod.cluster.local.", "fd00::7"],
		["A 10-1-2-3.other.pod.cluster.local.", "NXDOMAIN"],
		["A junk.default.pod.cluster.local.", "NXDOMAIN"],
		["A pod.cluster.local.", "NODATA"],
		["PTR 10.0.96.10.in-addr.arpa.", "PTR web.default.svc.cluster.local."],
		["A 10.0.96.10.in-addr.arpa.", "NODATA"],
		["PTR 1.0.244.10.in-addr.arpa.", "PTR db-0.db.default.svc.cluster.local."],
		["PTR 9.0.244.10.in-addr.arpa.", "foreign"],
		["PTR 244.10.in-addr.arpa.", "foreign"],
		["A www.example.com.", "foreign"],
		["A xcluster.local.", "foreign"],
		["A __proto__", "NXDOMAIN"],
	])("%s: %s", (question, answer) => {
		expect(asked(question)).toBe(answer);
	});

	test("answers for addresses of the cluster itself, also when nobody has them", () => {
		const ranges = [assertDefined(parseCIDR("10.96.0.0/16"), "range")];
		const own = new Zone({ name: "cluster.local.", ttl: 5, ranges });
		const result = own.resolve({ name: "99.99.96.10.in-addr.arpa.", type: "PTR" });
		expect(result).toMatchObject({ kind: "answer", rcode: "NXDOMAIN", answers: [] });
		expect(own.resolve({ name: "99.99.97.10.in-addr.arpa.", type: "PTR" })).toEqual({ kind: "foreign" });
	});

	test("names an IPv6 address nibble by nibble", () => {
		const reversed = `${"fd000000000000000000000000000001".split("").reverse().join(".")}.ip6.arpa.`;
		expect(asked(`PTR ${reversed}`)).toBe("PTR db-0.db.default.svc.cluster.local.");
	});

	test("weighs each port of each address alike, and tells the addresses with it", () => {
		const result = zone().resolve({ name: "_http._tcp.db.default.svc.cluster.local.", type: "SRV" });
		if (result.kind === "foreign") throw new Error("foreign");
		expect(result.answers.map(text)).toEqual([
			"0 25 8080 db-0.db.default.svc.cluster.local.",
			"0 25 8080 10-244-0-2.db.default.svc.cluster.local.",
			"0 25 8080 10-244-0-4.db.default.svc.cluster.local.",
		]);
		expect(result.additional.map(text)).toEqual(["10.244.0.1", "10.244.0.2", "10.244.0.4", "fd00::1"]);
	});

	test("answers under the name as it was spelled, and negative answers say for how long", () => {
		const made = zone();
		expect(made.resolve({ name: "WeB.default.svc.Cluster.Local.", type: "A" })).toMatchObject({
			answers: [{ name: "WeB.default.svc.Cluster.Local.", ttl: 5 }],
		});
		const slow = new Zone({ name: "cluster.local.", ttl: 3600 });
		expect(slow.resolve({ name: "x.cluster.local.", type: "A" })).toMatchObject({
			rcode: "NXDOMAIN",
			authority: [{ name: "cluster.local.", ttl: 300, data: { minimum: 3600 } }],
		});
	});

	test("forgets what is gone, in every index", () => {
		const made = zone();
		for (const key of ["default/web", "default/db"]) made.removeService(key, 1_700_000_001);
		const gone = ["A web", "A db-0.db", "PTR 10.0.96.10.in-addr.arpa.", "PTR 1.0.244.10.in-addr.arpa."];
		expect(gone.map((question) => asked(question, made))).toEqual(["NXDOMAIN", "NXDOMAIN", "foreign", "foreign"]);
		expect(asked("SOA cluster.local.", made)).toBe("SOA 1700000001 5");
	});
});
