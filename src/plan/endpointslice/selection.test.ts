/** Which Pods a Service's slices list, under which ports, in which families: one row for each rule. */
import { describe, expect, test } from "vitest";
import type { Pod, Service } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { node, type PodTraits, pod, service } from "../../testing/builders.ts";
import { sizesOf, sliceOf, stored, web, zoneNodes } from "../../testing/slice-worlds.ts";
import { familiesOf } from "./families.ts";
import { describeProblem, planEndpointSlices, type SlicePlan } from "./plan-slices.ts";
import { renderSlicePlan } from "./render.ts";
import { newSlice } from "./slice-metadata.ts";

const nodes = new Map([...zoneNodes, ["bare", node("bare")], ["blank", node("blank", "")]]);
const ip = "10.1.0.1";
const dual = service("web", { ipFamilies: ["IPv4", "IPv6"] });
const published = service("web", { publishNotReadyAddresses: true });
const named = service("web", { ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: "http" }] });
const headless = service("web", { clusterIP: "None", ports: [] });

function plan(pods: readonly Pod[], of: Service = web, existing: readonly EndpointSlice[] = []): SlicePlan {
	return planEndpointSlices({ service: of, pods, nodes, existing }, { endpointsPerSliceMax: 100 });
}

/** Words of the one Pod's endpoint, or what became of it. */
function endpointOf(traits: PodTraits, of: Service = web): string {
	const { families } = plan([pod("a", traits)], of);
	const [found] = families.flatMap(({ creates }) => creates.flatMap(({ endpoints }) => endpoints ?? []));
	if (found === undefined) return families.some(({ problems }) => problems.length > 0) ? "skipped" : "none";
	const words = Object.entries(found.conditions).flatMap(([name, value]) => (value === true ? [name] : []));
	return [...found.addresses, ...words, `node=${found.nodeName ?? "none"}`, `zone=${found.zone ?? "none"}`].join(" ");
}

describe("a Service has slices of", () => {
	test.each<[string, Partial<Service["spec"]>, string]>([
		["its ipFamilies, IPv4 first", { ipFamilies: ["IPv6", "IPv4"] }, "IPv4 IPv6"],
		["its one family, whatever its cluster IP", { ipFamilies: ["IPv6"], clusterIP: "10.96.0.1" }, "IPv6"],
		["the family of its cluster IP when it names none", { ipFamilies: [], clusterIP: "fd00::a" }, "IPv6"],
		["IPv4 for a cluster IP of IPv4", { ipFamilies: [], clusterIP: "10.96.0.1" }, "IPv4"],
		["IPv4 for a cluster IP that is IPv4 written as IPv6", { ipFamilies: [], clusterIP: "::ffff:10.96.0.1" }, "IPv4"],
		["both when it is headless and names none", { ipFamilies: [], clusterIP: "None" }, "IPv4 IPv6"],
		["both when it has no cluster IP yet and names none", { ipFamilies: [], clusterIP: "" }, "IPv4 IPv6"],
	])("%s", (_, spec, families) => {
		expect(familiesOf(service("web", spec)).join(" ")).toBe(families);
	});
});

describe("a Pod", () => {
	const ready = `${ip} ready serving node=n1 zone=za`;
	const notReady = `${ip} node=n1 zone=za`;
	test.each<[string, PodTraits, string, Service?]>([
		["that runs and is ready has an endpoint", { ip }, ready],
		["that is pending has one, once it has an address", { ip, status: { phase: "Pending" } }, ready],
		["whose phase is unknown has one", { ip, status: { phase: "Unknown" } }, ready],
		["that has succeeded has none", { ip, status: { phase: "Succeeded" } }, "none"],
		["that has failed has none", { ip, status: { phase: "Failed" } }, "none"],
		["that has failed has none when all are published", { ip, status: { phase: "Failed" } }, "none", published],
		["that terminates has one", { ip, isTerminating: true }, `${ip} serving terminating node=n1 zone=za`],
		["that has failed while it terminates has none", { ip, isTerminating: true, status: { phase: "Failed" } }, "none"],
		["without address has none", {}, "none"],
		["with an empty address and no others has none", { status: { podIP: "", podIPs: [] } }, "none"],
		["with podIPs alone has one", { status: { podIPs: [{ ip }] } }, ready],
		["with podIP alone has none", { status: { podIP: ip } }, "none"],
		["with addresses of the other family alone has none", { ip: "fd00::1" }, "none"],
		["on the host's network has one", { ip, spec: { hostNetwork: true } }, ready],
		["that never restarts has one", { ip, isReady: false, spec: { restartPolicy: "Never" } }, notReady],
		["without a Ready condition is not ready", { ip, status: { conditions: [] } }, notReady],
		[
			"whose Ready condition is Unknown is not ready",
			{ ip, status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
			notReady,
		],
		[
			"whose containers are ready but whose readiness gate is not, is not ready",
			{
				ip,
				spec: { readinessGates: [{ conditionType: "x/y" }] } as PodTraits["spec"] & object,
				status: {
					conditions: [
						{ type: "ContainersReady", status: "True" },
						{ type: "x/y", status: "False" },
						{ type: "Ready", status: "False" },
					],
				},
			},
			notReady,
		],
		["on a Node without zone has no zone", { ip, node: "bare" }, `${ip} ready serving node=bare zone=none`],
		["on a Node with an empty zone has no zone", { ip, node: "blank" }, `${ip} ready serving node=blank zone=none`],
		["whose Node is not there is skipped", { ip, node: "ghost" }, "skipped"],
		["on no Node is skipped", { ip, node: "" }, "skipped"],
		[
			"whose Node is not there has an endpoint without zone when all are published",
			{ ip, node: "ghost" },
			`${ip} ready serving node=ghost zone=none`,
			published,
		],
		[
			"on no Node has an endpoint without Node and zone when all are published",
			{ ip, node: "" },
			`${ip} ready serving node=none zone=none`,
			published,
		],
		["that has failed on a Node that is gone troubles nobody", { node: "ghost", status: { phase: "Failed" } }, "none"],
	])("%s", (_, traits, words, of) => {
		expect(endpointOf(traits, of)).toBe(words);
	});

	test("without a Node is told of with an empty name", () => {
		const [problem] = plan([pod("a", { ip, node: "" })]).families[0]?.problems ?? [];
		expect(problem && describeProblem(web, problem)).toBe("skipping Pod a for Service default/web: Node  Not Found");
	});

	test("shares its host's address with others: each has an endpoint of its own", () => {
		const pods = ["a", "b"].map((name) => pod(name, { ip, spec: { hostNetwork: true } }));
		expect(renderSlicePlan(plan(pods))).toBe(`create web-* IPv4 [http:8080/TCP] [${ip} ${ip}]`);
	});
});

describe("families and port groups", () => {
	const a = pod("a", { ip });
	const emptyOf = (of: Service, ports: EndpointSlice["ports"], name = "old"): EndpointSlice =>
		stored(newSlice(of, "IPv4", { endpoints: [], ports }), name);
	const http = [{ name: "http", protocol: "TCP", port: 8080 }] as const;
	const two = service("web", {
		ports: [
			{ name: "http", protocol: "TCP", port: 80, targetPort: 80 },
			{ name: "https", protocol: "TCP", port: 443, targetPort: 443 },
		],
	});
	const [https80, https443] = [
		{ name: "http", protocol: "TCP", port: 80 },
		{ name: "https", protocol: "TCP", port: 443 },
	] as const;
	const fqdn = { ...sliceOf("fqdn", []), addressType: "FQDN" } as const;
	const nameless = pod("b", { ip: "10.1.0.2", spec: { containers: [{ name: "c" }] } });

	test.each<[string, readonly Pod[], Service, EndpointSlice[], string]>([
		["a family without addresses gets a placeholder", [a], dual, [], `create 1 0`],
		["a slice of names is deleted, after the others", [a], web, [fqdn], "create 1; delete fqdn"],
		[
			"a slice of a family that is gone is deleted, whoever owns it",
			[a],
			web,
			[sliceOf("v6", [], { family: "IPv6", service: service("web", {}, { uid: "old" }) }), sliceOf("v4", [a])],
			"delete v6",
		],
		["a Pod without any of the ports has an endpoint in a slice without ports", [nameless], named, [], "create 1"],
		[
			"that slice is apart from those with ports",
			[a, nameless],
			named,
			[sliceOf("http", [a], { service: named })],
			"create 1",
		],
		[
			"a Pod without an endpoint keeps the empty slice of its ports",
			[pod("a", { status: { podIP: ip } })],
			web,
			[emptyOf(web, http)],
			"",
		],
		[
			"a Pod whose Node is gone leaves a placeholder",
			[pod("a", { ip, node: "ghost" })],
			web,
			[sliceOf("old", [a])],
			"update old=0",
		],
		[
			"a slice with its ports in another order is of the same group and stays",
			[a],
			two,
			[sliceOf("old", [a], { service: two, ports: [https80, https443] })],
			"",
		],
		["null ports are no ports", [a], headless, [{ ...sliceOf("old", [a], { service: headless }), ports: null }], ""],
		[
			"an empty slice with null lists is filled when there are no ports",
			[a],
			headless,
			[emptyOf(headless, null)],
			"update old=1",
		],
		[
			"without Pods a slice of no ports becomes the placeholder",
			[],
			headless,
			[sliceOf("old", [a], { service: headless })],
			"update old=0",
		],
	])("%s", (_, pods, of, existing, writes) => {
		expect(sizesOf(plan(pods, of, existing))).toBe(writes);
	});

	test("ports of a slice get the right order when it is written for another reason", () => {
		const old = sliceOf("old", [a], { service: two, ports: [https80, https443] });
		const [update] = plan([pod("a", { ip, isReady: false })], two, [old]).families[0]?.updates ?? [];
		expect(update?.ports).toEqual([https443, https80]);
	});

	test("Pods of one family each share no slice and spoil none", () => {
		const pods = [a, pod("b", { ip: "fd00::2" }), pod("c", { ips: ["10.1.0.3", "fd00::3"] })];
		expect(renderSlicePlan(plan(pods, dual)).split("\n")).toEqual([
			`create web-* IPv4 [http:8080/TCP] [${ip} 10.1.0.3]`,
			"create web-* IPv6 [http:8080/TCP] [fd00::2 fd00::3]",
		]);
	});

	test("a missing Node is told of once for each family", () => {
		const { families } = plan([pod("a", { ip, node: "ghost" })], dual);
		expect(families.map(({ problems }) => problems.length)).toEqual([1, 1]);
	});
});
