import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../testing/api-objects.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { type CIDR, contains, parseCIDR, parseIP } from "./ip.ts";
import { withServiceDefaults } from "./kinds/service-defaults.ts";
import { validateService, validateServiceUpdate } from "./kinds/service-validation.ts";
import { chooseIP, firstServiceIP, poolOf } from "./service-network/ip-pool.ts";
import { nodePortPool } from "./service-network/node-ports.ts";
import type { ServiceNetworkInput } from "./service-network/plan.ts";
import { planServiceNetwork, type ServiceNetworkPlan } from "./service-network.ts";
import type { Service, ServiceSpec } from "./types/core.ts";

function range(text: string): CIDR {
	const cidr = parseCIDR(text);
	if (cidr === undefined) throw new Error(`not a range: ${text}`);
	return cidr;
}

const V4 = range("10.96.0.0/24");
const V6 = range("fd00:96::/108");

function service(spec: ServiceSpec, more: Partial<Service> = {}): Service {
	return withServiceDefaults({ apiVersion: "v1", kind: "Service", metadata: metadataOf("web"), spec, ...more });
}

function plan(spec: ServiceSpec, more: Partial<ServiceNetworkInput> = {}): ServiceNetworkPlan {
	return planServiceNetwork({
		service: service(spec),
		ranges: [V4],
		nodePortRange: { first: 30000, last: 32767 },
		isIPTaken: () => false,
		isNodePortTaken: () => false,
		random: new SeededRandom(1),
		...more,
	});
}

function planned(spec: ServiceSpec, more: Partial<ServiceNetworkInput> = {}): ServiceNetworkPlan & { kind: "ok" } {
	const answer = plan(spec, more);
	if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
	return answer;
}

function refusal(answer: ServiceNetworkPlan): readonly string[] {
	if (answer.kind === "ok") return [];
	return answer.kind === "invalid" ? errorTexts(answer.errors) : [`${answer.kind}: ${answer.message}`];
}

const PORTS = [{ port: 80 }];
const BOTH = { ranges: [V4, V6] };
const WEB = { app: "web" };

describe("families of a new Service", () => {
	test.each<{
		rule: string;
		spec: ServiceSpec;
		ranges: readonly CIDR[];
		policy: string | undefined;
		families: readonly string[] | undefined;
	}>([
		{
			rule: "one family unless asked",
			spec: { ports: PORTS },
			ranges: [V4, V6],
			policy: "SingleStack",
			families: ["IPv4"],
		},
		{
			rule: "the primary range's family",
			spec: { ports: PORTS },
			ranges: [V6, V4],
			policy: "SingleStack",
			families: ["IPv6"],
		},
		{
			rule: "the family asked for",
			spec: { ports: PORTS, ipFamilies: ["IPv6"] },
			ranges: [V4, V6],
			policy: "SingleStack",
			families: ["IPv6"],
		},
		{
			rule: "the family of the address asked for",
			spec: { ports: PORTS, clusterIP: "fd00:96::5" },
			ranges: [V4, V6],
			policy: "SingleStack",
			families: ["IPv6"],
		},
		{
			rule: "both if possible",
			spec: { ports: PORTS, ipFamilyPolicy: "PreferDualStack" },
			ranges: [V4],
			policy: "PreferDualStack",
			families: ["IPv4"],
		},
		{
			rule: "both where possible",
			spec: { ports: PORTS, ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv6"] },
			ranges: [V4, V6],
			policy: "PreferDualStack",
			families: ["IPv6", "IPv4"],
		},
		{
			rule: "headless without selector has both, everywhere",
			spec: { clusterIP: "None" },
			ranges: [V4],
			policy: "RequireDualStack",
			families: ["IPv4", "IPv6"],
		},
		{
			rule: "headless with selector has one",
			spec: { clusterIP: "None", selector: WEB },
			ranges: [V4, V6],
			policy: "SingleStack",
			families: ["IPv4"],
		},
		{
			rule: "ExternalName has none",
			spec: { type: "ExternalName", externalName: "a.b" },
			ranges: [V4],
			policy: undefined,
			families: undefined,
		},
	])("$rule", ({ spec, ranges, policy, families }) => {
		const { service: made } = planned(spec, { ranges });
		expect([made.spec.ipFamilyPolicy, made.spec.ipFamilies]).toEqual([policy, families]);
		expect(validateService(made)).toEqual([]);
	});

	test.each<{ rule: string; spec: ServiceSpec; errors: readonly string[] }>([
		{
			rule: "no dual stack with one range",
			spec: { ipFamilyPolicy: "RequireDualStack" },
			errors: [
				`spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`,
			],
		},
		{
			rule: "no family without a range",
			spec: { ipFamilies: ["IPv6"] },
			errors: ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
		},
		{
			rule: "no address of a family without a range",
			spec: { clusterIP: "fd00:96::5" },
			errors: ['spec.clusterIPs[0]: Invalid value: ["fd00:96::5"]: IPv6 is not configured on this cluster'],
		},
		{
			rule: "no two families for one stack",
			spec: { ipFamilies: ["IPv4", "IPv6"] },
			errors: [
				`spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
			],
		},
		{
			rule: "no malformed address gets as far as allocation",
			spec: { clusterIP: "10.96.0.01" },
			errors: ['spec.clusterIPs[0]: Invalid value: "10.96.0.01": must not have leading 0s'],
		},
	])("$rule", ({ spec, errors }) => {
		expect(refusal(plan({ ports: PORTS, ...spec }))).toEqual(errors);
	});
});

describe("cluster IPs", () => {
	test("come in pairs for two families, and are claimed", () => {
		const { service: made, claims, releases } = planned({ ports: PORTS, ipFamilyPolicy: "RequireDualStack" }, BOTH);
		expect(made.spec.clusterIPs).toHaveLength(2);
		expect(made.spec.clusterIP).toBe(made.spec.clusterIPs?.[0]);
		expect(claims.ips).toEqual(made.spec.clusterIPs);
		expect(releases).toEqual({ ips: [], nodePorts: [] });
	});

	test.each([
		{ ip: "10.96.0.1", why: undefined },
		{ ip: "10.96.0.254", why: undefined },
		{ ip: "10.96.0.9", why: "provided IP is already allocated" },
		{ ip: "10.97.0.1", why: "the provided network does not match the current range" },
		{
			ip: "10.96.0.0",
			why: "the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/24",
		},
		{
			ip: "10.96.0.255",
			why: "the provided IP (10.96.0.255) is not in the valid range. The range of valid IPs is 10.96.0.0/24",
		},
	])("asking for $ip: $why", ({ ip, why }) => {
		const answer = plan({ ports: PORTS, clusterIP: ip }, { isIPTaken: (other) => other === "10.96.0.9" });
		expect(refusal(answer)).toEqual(
			why === undefined ? [] : [`spec.clusterIPs: Invalid value: ["${ip}"]: failed to allocate IP ${ip}: ${why}`],
		);
	});

	test("are claimed in canonical form, and kept as written", () => {
		const made = planned({ ports: PORTS, clusterIP: "FD00:96::5" }, BOTH);
		expect(made.service.spec.clusterIP).toBe("FD00:96::5");
		expect(made.claims.ips).toEqual(["fd00:96::5"]);
	});

	test("run out with the Service's name", () => {
		expect(refusal(plan({ ports: PORTS }, { isIPTaken: () => true }))).toEqual([
			'full: failed to allocate a serviceIP for Service "web": range is full',
		]);
	});

	test("a dry run shows the network's own address and claims nothing real", () => {
		const made = planned({ type: "NodePort", ports: [{ port: 1 }, { port: 2 }] }, { isDryRun: true });
		expect(made.service.spec).toMatchObject({
			clusterIP: "10.96.0.0",
			ports: [{ nodePort: 32769 }, { nodePort: 32770 }],
		});
	});

	test("the first address is the one of Service kubernetes", () => {
		expect([firstServiceIP(V4), firstServiceIP(V6)]).toEqual(["10.96.0.1", "fd00:96::1"]);
	});
});

describe("address pools", () => {
	test.each([
		{ text: "10.0.0.0/24", size: 254n, staticSize: 16n },
		{ text: "10.0.0.0/16", size: 65534n, staticSize: 256n },
		{ text: "10.0.0.0/8", size: 2n ** 24n - 2n, staticSize: 256n },
		{ text: "10.0.0.0/28", size: 14n, staticSize: 0n },
		{ text: "10.0.0.0/30", size: 2n, staticSize: 0n },
		{ text: "10.0.0.0/32", size: 0n, staticSize: 0n },
		{ text: "fd00::/108", size: 2n ** 20n - 1n, staticSize: 256n },
		{ text: "fd00::/64", size: 2n ** 64n - 1n, staticSize: 256n },
	])("$text", ({ text, size, staticSize }) => {
		expect(poolOf(range(text))).toMatchObject({ size, staticSize });
	});

	test("node ports keep a static band at the bottom", () => {
		expect(nodePortPool({ first: 30000, last: 32767 })).toEqual({ first: 30000n, size: 2768n, staticSize: 86n });
		expect(nodePortPool({ first: 30000, last: 30015 }).staticSize).toBe(0n);
	});

	test("give each address once, in range, and all of them before they are full", () => {
		const ranges = fc.constantFrom("10.0.0.0/24", "10.0.0.64/26", "10.0.0.0/30", "fd00::/120", "10.0.0.0/31");
		fc.assert(
			fc.property(ranges, fc.integer(), (text, seed) => {
				const cidr = range(text);
				const random = new SeededRandom(seed);
				const given: string[] = [];
				const taken = new Set<string>();
				for (;;) {
					const ip = chooseIP(cidr, random, (candidate) => taken.has(candidate));
					if (ip === undefined) break;
					taken.add(ip);
					given.push(ip);
				}
				const { size, staticSize } = poolOf(cidr);
				expect(BigInt(given.length)).toBe(size);
				expect(taken.size).toBe(given.length);
				const values = given.map((ip) => {
					const value = parseIP(ip);
					expect(value !== undefined && contains(cidr, value)).toBe(true);
					return (value?.value ?? 0n) - poolOf(cidr).first;
				});
				// The static band is touched last.
				const dynamic = Number(size - staticSize);
				expect(values.slice(0, dynamic).every((offset) => offset >= staticSize)).toBe(true);
			}),
			{ numRuns: 30 },
		);
	});

	test("reach far into a range of 2^64 addresses", () => {
		const random = new SeededRandom(7);
		const chosen = Array.from({ length: 50 }, () => chooseIP(range("fd00::/64"), random, () => false) ?? "");
		expect(new Set(chosen).size).toBe(50);
		expect(chosen.filter((ip) => ip.split(":").length >= 5).length).toBeGreaterThan(40);
	});
});

describe("node ports", () => {
	const nodePort = (spec: ServiceSpec): ServiceSpec => ({ type: "NodePort", ...spec });
	const numbers = (answer: { service: Service }): readonly number[] =>
		(answer.service.spec.ports ?? []).map(({ nodePort: port = 0 }) => port);

	test("are shared by ports of one number, and the number asked for is used", () => {
		const dns = [
			{ name: "tcp", port: 53 },
			{ name: "udp", port: 53, protocol: "UDP" as const, nodePort: 30053 },
			{ name: "alt", port: 53, protocol: "SCTP" as const, nodePort: 30054 },
		];
		const made = planned(nodePort({ ports: dns }));
		expect(numbers(made)).toEqual([30053, 30053, 30054]);
		expect(made.claims.nodePorts).toEqual([30053, 30054]);
	});

	test.each([
		{ port: 30080, why: "provided port is already allocated" },
		{ port: 29999, why: "provided port is not in the valid range. The range of valid ports is 30000-32767" },
	])("asking for $port: $why", ({ port, why }) => {
		const answer = plan(nodePort({ ports: [{ port: 80, nodePort: port }] }), {
			isNodePortTaken: (other) => other === 30080,
		});
		expect(refusal(answer)).toEqual([`spec.ports[0].nodePort: Invalid value: ${port}: ${why}`]);
	});

	test("run out", () => {
		const answer = plan(nodePort({ ports: [{ port: 1 }, { port: 2 }] }), {
			nodePortRange: { first: 30000, last: 30000 },
		});
		expect(refusal(answer)).toEqual(["full: failed to allocate a nodePort: range is full"]);
	});

	test("a load balancer may do without, and honours what is asked", () => {
		const spec: ServiceSpec = {
			type: "LoadBalancer",
			allocateLoadBalancerNodePorts: false,
			ports: [
				{ port: 80, name: "a" },
				{ port: 81, name: "b", nodePort: 30081 },
			],
		};
		expect(numbers(planned(spec))).toEqual([0, 30081]);
	});

	test("a Local load balancer gets one more for health checks", () => {
		const spec: ServiceSpec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: PORTS };
		const made = planned(spec);
		const { healthCheckNodePort = 0 } = made.service.spec;
		expect(made.claims.nodePorts).toEqual([...numbers(made), healthCheckNodePort]);
		const asked = plan({ ...spec, healthCheckNodePort: 31000 }, { isNodePortTaken: (port) => port === 31000 });
		expect(refusal(asked)).toEqual([
			"failed: failed to allocate requested HealthCheck NodePort 31000: provided port is already allocated",
		]);
	});

	test("of one write never clash, and exhaust the range exactly", () => {
		fc.assert(
			fc.property(fc.integer({ min: 1, max: 40 }), fc.integer(), (count, seed) => {
				const ports = Array.from({ length: count }, (_, index) => ({ port: index + 1, name: `p${index}` }));
				const nodePortRange = { first: 30000, last: 30000 + count - 1 };
				const made = planned(nodePort({ ports }), { nodePortRange, random: new SeededRandom(seed) });
				expect([...numbers(made)].sort()).toEqual(ports.map((_, index) => 30000 + index));
			}),
			{ numRuns: 30 },
		);
	});
});

describe("updates", () => {
	const ports = [
		{ name: "a", port: 80, nodePort: 30080 },
		{ name: "b", port: 81, nodePort: 30081 },
	];
	const stored = service({
		type: "NodePort",
		clusterIP: "10.96.0.9",
		clusterIPs: ["10.96.0.9"],
		ipFamilies: ["IPv4"],
		ipFamilyPolicy: "SingleStack",
		ports,
	});
	const dual = service({
		ports: PORTS,
		clusterIP: "10.96.0.9",
		clusterIPs: ["10.96.0.9", "fd00:96::9"],
		ipFamilies: ["IPv4", "IPv6"],
		ipFamilyPolicy: "RequireDualStack",
	});
	const nothing = { ips: [], nodePorts: [] };

	test("an old client that drops assigned fields loses nothing", () => {
		const made = planned(
			{
				type: "NodePort",
				ports: [
					{ name: "b", port: 81 },
					{ name: "a", port: 90 },
				],
			},
			{ stored },
		);
		expect(made.service.spec).toMatchObject({
			clusterIP: "10.96.0.9",
			clusterIPs: ["10.96.0.9"],
			ipFamilies: ["IPv4"],
			ports: [{ nodePort: 30081 }, { nodePort: 30080 }],
		});
		expect([made.claims, made.releases]).toEqual([nothing, nothing]);
	});

	test("a node port that another port took is not carried over", () => {
		const made = planned(
			{
				...stored.spec,
				ports: [
					{ name: "a", port: 80 },
					{ name: "c", port: 82, nodePort: 30080 },
				],
			},
			{ stored },
		);
		const [first, second] = made.service.spec.ports ?? [];
		expect(second?.nodePort).toBe(30080);
		expect(made.claims.nodePorts).toEqual([first?.nodePort]);
		expect(made.releases.nodePorts).toEqual([30081]);
	});

	test("changing only the type to ClusterIP clears node ports and releases them", () => {
		const made = planned({ ...stored.spec, type: "ClusterIP" }, { stored });
		expect(made.service.spec.ports?.some((port) => "nodePort" in port)).toBe(false);
		expect(made.service.spec.externalTrafficPolicy).toBeUndefined();
		expect(made.releases).toEqual({ ips: [], nodePorts: [30080, 30081] });
		expect(validateServiceUpdate(made.service, stored)).toEqual([]);
	});

	test("a node port changed together with the type is kept, and refused", () => {
		const made = planned(
			{ ...stored.spec, type: "ClusterIP", ports: [{ name: "a", port: 80, nodePort: 30099 }] },
			{ stored },
		);
		expect(errorTexts(validateServiceUpdate(made.service, stored))).toEqual([
			"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
		]);
	});

	test("to ExternalName releases everything, and back allocates anew", () => {
		const away = planned({ ...dual.spec, type: "ExternalName", externalName: "a.b" }, { ...BOTH, stored: dual });
		expect(away.releases.ips).toEqual(["10.96.0.9", "fd00:96::9"]);
		expect(validateServiceUpdate(away.service, dual)).toEqual([]);
		const back = planned({ ports: PORTS }, { stored: away.service });
		expect(back.claims.ips).toEqual(back.service.spec.clusterIPs);
		expect(validateServiceUpdate(back.service, away.service)).toEqual([]);
	});

	test("a second family comes with the policy and goes with it", () => {
		const one = planned({ ...dual.spec, ipFamilyPolicy: "SingleStack" }, { ...BOTH, stored: dual });
		expect(one.service.spec).toMatchObject({ clusterIPs: ["10.96.0.9"], ipFamilies: ["IPv4"] });
		expect(one.releases.ips).toEqual(["fd00:96::9"]);
		expect(validateServiceUpdate(one.service, dual)).toEqual([]);
		const two = planned({ ...one.service.spec, ipFamilyPolicy: "PreferDualStack" }, { ...BOTH, stored: one.service });
		expect(two.claims.ips).toEqual(two.service.spec.clusterIPs?.slice(1));
		expect(two.service.spec.clusterIPs?.[0]).toBe("10.96.0.9");
	});

	test("shortening a list without the policy is refused", () => {
		const answer = plan({ ...dual.spec, clusterIPs: ["10.96.0.9"] }, { ...BOTH, stored: dual });
		expect(refusal(answer)).toEqual([
			`spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary cluster IP`,
		]);
	});

	test("a PreferDualStack Service stays as it is when the cluster gains a range", () => {
		const single = service({
			ports: PORTS,
			clusterIP: "10.96.0.9",
			clusterIPs: ["10.96.0.9"],
			ipFamilies: ["IPv4"],
			ipFamilyPolicy: "PreferDualStack",
		});
		const made = planned({ ...single.spec }, { ...BOTH, stored: single });
		expect(made.service).toEqual(single);
		expect(made.claims).toEqual(nothing);
	});

	test("a changed clusterIP of an old client becomes the whole list, and is refused", () => {
		const made = planned({ ...stored.spec, clusterIP: "10.96.0.10" }, { stored });
		expect(made.service.spec.clusterIPs).toEqual(["10.96.0.10"]);
		expect(errorTexts(validateServiceUpdate(made.service, stored))).toEqual([
			'spec.clusterIPs[0]: Invalid value: ["10.96.0.10"]: may not change once set',
		]);
	});

	test("two ports of one protocol and node port are refused", () => {
		const twice = ports.map((port) => ({ ...port, nodePort: 30080 }));
		expect(refusal(plan({ ...stored.spec, ports: twice }, { stored }))).toEqual([
			"failed: duplicate nodePort: {TCP 30080}",
		]);
	});

	test("a status of a load balancer goes with the type", () => {
		const balancer = service(
			{ ...stored.spec, type: "LoadBalancer" },
			{ status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } },
		);
		const next = { ...service({ ...balancer.spec, type: "ClusterIP" }), status: balancer.status ?? {} };
		const made = planned({}, { service: next, stored: balancer });
		expect(made.service.status).toEqual({ loadBalancer: {} });
		expect(made.service.spec.allocateLoadBalancerNodePorts).toBeUndefined();
	});
});
