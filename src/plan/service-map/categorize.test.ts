import { describe, expect, test } from "vitest";
import { categorizeEndpoints, topologyMode } from "./categorize.ts";
import type { ProxiedPort } from "./service-ports.ts";
import type { TablePort } from "./service-table.ts";
import type { ServiceEndpoint } from "./slice-endpoints.ts";
import { type ClientPlace, type Destination, verdictFor } from "./verdict.ts";

/**
 * `Rl`: R ready, T terminating and serving, X terminating and not serving, N not ready; l on the own node,
 * r elsewhere. A zone or a node after `@` is a hint: `Rr@za`, `Rr@n1`; `Rr@za+n1` has both.
 */
function endpoints(text: string): readonly ServiceEndpoint[] {
	return text
		.split(" ")
		.filter((word) => word !== "")
		.map((word, index) => {
			const [state = "", hints = ""] = word.split("@");
			const names = hints === "" ? [] : hints.split("+");
			return {
				ip: word,
				port: index,
				isReady: state.startsWith("R"),
				isServing: /^[RTS]/.test(state),
				isTerminating: /^[TX]/.test(state),
				isLocal: state.endsWith("l"),
				zoneHints: names.filter((name) => name.startsWith("z")),
				nodeHints: names.filter((name) => name.startsWith("n")),
			};
		});
}

const PORT: ProxiedPort = {
	name: "http",
	protocol: "TCP",
	family: "IPv4",
	clusterIP: "10.96.0.10",
	port: 80,
	nodePort: 30080,
	externalIPs: [],
	loadBalancerVIPs: [],
	loadBalancerSourceRanges: [],
	hasSourceRanges: false,
	isInternalLocal: true,
	isExternalLocal: true,
	healthCheckNodePort: 0,
};
const PLACE = { nodeName: "n1", zone: "za" };
const names = (list: readonly { readonly ip: string }[]): string => list.map(({ ip }) => ip).join(" ");

describe("categorizeEndpoints()", () => {
	test.each<{ given: string; cluster: string; local: string; hasAny: boolean }>([
		{ given: "Rl Rr", cluster: "Rl Rr", local: "Rl", hasAny: true },
		{ given: "Rr Tl", cluster: "Rr", local: "Tl", hasAny: true },
		{ given: "Tl Tr", cluster: "Tl Tr", local: "Tl", hasAny: true },
		{ given: "Rr", cluster: "Rr", local: "", hasAny: true },
		{ given: "Nl Nr", cluster: "", local: "", hasAny: false },
		{ given: "Xl", cluster: "", local: "", hasAny: false },
		{ given: "Sl", cluster: "", local: "", hasAny: false },
		{ given: "", cluster: "", local: "", hasAny: false },
		{ given: "Rl@za Rr@zb", cluster: "Rl@za", local: "Rl@za", hasAny: true },
		{ given: "Rl@zb Rr@za", cluster: "Rr@za", local: "Rl@zb", hasAny: true },
		{ given: "Nl@za Tr@zb", cluster: "Tr@zb", local: "", hasAny: true },
	])("$given: cluster list $cluster, local list $local", ({ given, ...expected }) => {
		const { cluster, local, hasAny } = categorizeEndpoints(endpoints(given), PORT, PLACE);
		expect({ cluster: names(cluster), local: names(local), hasAny }).toEqual(expected);
	});

	test.each<{ rule: string; port: Partial<ProxiedPort>; cluster: string; local: string }>([
		{ rule: "no cluster list if all traffic is internal and Local", port: { nodePort: 0 }, cluster: "", local: "Rl" },
		{
			rule: "no local list under Cluster",
			port: { isInternalLocal: false, isExternalLocal: false },
			cluster: "Rl Rr",
			local: "",
		},
		{ rule: "both lists for external Local", port: { isInternalLocal: false }, cluster: "Rl Rr", local: "Rl" },
		{
			rule: "no local list for external Local that has no outside address",
			port: { isInternalLocal: false, nodePort: 0 },
			cluster: "Rl Rr",
			local: "",
		},
	])("$rule", ({ port, cluster, local }) => {
		const lists = categorizeEndpoints(endpoints("Rl Rr"), { ...PORT, ...port }, PLACE);
		expect([names(lists.cluster), names(lists.local)]).toEqual([cluster, local]);
	});

	test("reaches what is in either list, once and in order", () => {
		const { allReachable } = categorizeEndpoints(endpoints("Tl Rr@za Rr@zb Nl"), PORT, PLACE);
		expect(names(allReachable)).toBe("Tl Rr@za");
	});
});

describe("topologyMode()", () => {
	test.each<{ rule: string; given: string; place?: { nodeName?: string; zone?: string }; mode: string }>([
		{ rule: "zone hints that name the own zone hold", given: "Rr@za Rr@zb", mode: "PreferSameZone" },
		{ rule: "one ready endpoint without a hint turns them off", given: "Rr@za Rr", mode: "none" },
		{ rule: "one without a hint that is not ready does not", given: "Rr@za Nr Tr", mode: "PreferSameZone" },
		{ rule: "an own zone that no hint names turns them off", given: "Rr@zb Rr@zc", mode: "none" },
		{ rule: "without an own zone they do not hold", given: "Rr@za", place: { nodeName: "n1" }, mode: "none" },
		{ rule: "an empty own zone is none", given: "Rr@za", place: { zone: "" }, mode: "none" },
		{ rule: "node hints go first", given: "Rr@za+n1 Rr@zb+n2", mode: "PreferSameNode" },
		{
			rule: "node hints that do not name this node leave it to the zone",
			given: "Rr@za+n2 Rr@zb+n3",
			mode: "PreferSameZone",
		},
		{ rule: "nothing ready, no mode", given: "Nr@za Tr@za", mode: "none" },
	])("$rule", ({ given, place = PLACE, mode }) => {
		expect(topologyMode(endpoints(given), place)).toBe(mode);
	});
});

describe("verdictFor()", () => {
	const cluster = [{ ip: "c", port: 1 }];
	const local = [{ ip: "l", port: 1 }];
	test.each<{ to: Destination; from: ClientPlace; port: Partial<TablePort>; verdict: string }>([
		{ to: "cluster-ip", from: "pod", port: { isInternalLocal: false, cluster }, verdict: "forward c" },
		{ to: "cluster-ip", from: "pod", port: { isInternalLocal: false, hasAny: true }, verdict: "reject" },
		{ to: "cluster-ip", from: "pod", port: { cluster, local, hasAny: true }, verdict: "forward l" },
		{ to: "cluster-ip", from: "pod", port: { cluster, hasAny: true }, verdict: "drop" },
		{ to: "cluster-ip", from: "node", port: { hasAny: false }, verdict: "reject" },
		{ to: "external", from: "other", port: { isExternalLocal: false, cluster }, verdict: "forward c" },
		{ to: "external", from: "other", port: { isExternalLocal: false, hasAny: true }, verdict: "reject" },
		{ to: "external", from: "other", port: { cluster, local }, verdict: "forward l" },
		{ to: "external", from: "other", port: { cluster, hasAny: true }, verdict: "drop" },
		{ to: "external", from: "pod", port: { cluster, local }, verdict: "forward c" },
		{ to: "external", from: "node", port: { cluster, hasAny: true }, verdict: "forward c" },
		{ to: "external", from: "other", port: {}, verdict: "reject" },
	])("$to from $from with $port: $verdict", ({ to, from, port, verdict }) => {
		const given = verdictFor({ ...PORT, cluster: [], local: [], hasAny: false, ...port }, to, from);
		expect(given.kind === "forward" ? `forward ${names(given.targets)}` : given.kind).toBe(verdict);
	});
});
