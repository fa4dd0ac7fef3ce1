import { describe, expect, test } from "vitest";
import type { Node } from "../../api/types/core.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { meta } from "../../testing/builders.ts";
import { changesTopology, isOverloaded, type ZoneRatios, zoneRatiosOf } from "./zone-ratios.ts";

interface Traits {
	readonly zone?: string;
	readonly cpu?: string;
	readonly role?: string;
	readonly ready?: "True" | "False" | "Unknown" | "missing";
}

function node({ zone, cpu, role, ready = "True" }: Traits): Node {
	const labels = {
		...(zone === undefined ? {} : { "topology.kubernetes.io/zone": zone }),
		...(role === undefined ? {} : { [`node-role.kubernetes.io/${role}`]: "" }),
	};
	return {
		apiVersion: "v1",
		kind: "Node",
		metadata: meta("n", { labels }),
		status: {
			conditions: ready === "missing" ? [] : [{ type: "Ready", status: ready }],
			...(cpu === undefined ? {} : { allocatable: { cpu } }),
		},
	};
}

const a = { zone: "a", cpu: "1" };
const b = { zone: "b", cpu: "1" };

describe("zones' shares of CPU", () => {
	test.each<[string, readonly Traits[], string]>([
		["are by what is allocatable", [a, { zone: "b", cpu: "3" }], "a 0.25 b 0.75"],
		["add up a zone's nodes", [a, a, a, b], "a 0.75 b 0.25"],
		[
			"read every form of a quantity",
			[
				{ zone: "a", cpu: "1500m" },
				{ zone: "b", cpu: "0.5" },
				{ zone: "b", cpu: "1e0" },
			],
			"a 0.5 b 0.5",
		],
		["leave out nodes of the control plane", [a, b, { ...a, role: "control-plane" }], "a 0.5 b 0.5"],
		["leave them out under the old name, too", [a, b, { ...a, role: "master" }], "a 0.5 b 0.5"],
		["leave out nodes that are not ready", [a, b, { ...b, ready: "False" }], "a 0.5 b 0.5"],
		["leave out nodes that are not known to be ready", [a, b, { ...b, ready: "Unknown" }], "a 0.5 b 0.5"],
		["leave out nodes that do not say", [a, b, { ...b, ready: "missing" }], "a 0.5 b 0.5"],
		[
			"do not mind that a node that is left out says nothing",
			[a, b, { role: "master" }, { ready: "False" }],
			"a 0.5 b 0.5",
		],
		["are not known when a node has no zone", [a, b, { cpu: "1" }], "none"],
		["are not known when a node has an empty zone", [a, b, { zone: "", cpu: "1" }], "none"],
		["are not known when a node has no CPU", [a, b, { zone: "a" }], "none"],
		["are not known when a node has zero CPU", [a, b, { zone: "a", cpu: "0" }], "none"],
		["are not known of one zone alone", [a, a], "none"],
		["are not known without nodes", [], "none"],
	])("%s", (_, nodes, shares) => {
		const found = zoneRatiosOf(nodes.map(node));
		expect(found === undefined ? "none" : [...found].map(([zone, share]) => `${zone} ${share}`).join(" ")).toBe(shares);
	});
});

describe("shares are looked at again", () => {
	test.each<[string, Traits, Traits, boolean]>([
		["when a node becomes ready", { ...a, ready: "False" }, a, true],
		["when a node is no longer known to be ready", a, { ...a, ready: "Unknown" }, true],
		["but not when it goes from not ready to not known", { ...a, ready: "False" }, { ...a, ready: "Unknown" }, false],
		["when its zone changes", a, { ...a, zone: "b" }, true],
		["when it gets a zone", { cpu: "1" }, a, true],
		["but not when its CPU changes", a, { ...a, cpu: "2" }, false],
		["but not when its role changes", a, { ...a, role: "master" }, false],
	])("%s", (_, before, after, isLookedAt) => {
		expect(changesTopology(node(before), node(after))).toBe(isLookedAt);
	});
});

describe("a Service is overloaded", () => {
	const ratios = (zones: Record<string, number>): ZoneRatios => new Map(Object.entries(zones));
	const halves = ratios({ a: 0.5, b: 0.5 });
	type Hints = Partial<Record<IPFamily, Record<string, number>>>;
	test.each<[string, Hints, ZoneRatios, boolean]>([
		["when nothing is known of the zones", { IPv4: { a: 5, b: 5 } }, undefined, true],
		["when the zones were not looked at yet", { IPv4: { a: 5, b: 5 } }, new Map(), true],
		["when a zone has no hints", { IPv4: { a: 5 } }, halves, true],
		["when a zone has fewer than its least", { IPv4: { a: 8, b: 4 } }, halves, true],
		["but not when it has just its least", { IPv4: { a: 7, b: 5 } }, halves, false],
		["but not for a zone that has gone", { IPv4: { a: 5, b: 5, c: 1 } }, halves, false],
		["when one family is", { IPv4: { a: 5, b: 5 }, IPv6: { a: 9, b: 1 } }, halves, true],
		["but not when it has no hints to remember", {}, undefined, false],
	])("%s", (_, hints, zones, isOver) => {
		const allocated = new Map(
			Object.entries(hints).map(([family, byZone]) => [family as IPFamily, new Map(Object.entries(byZone))]),
		);
		expect(isOverloaded({ isPopulated: true, allocated }, zones)).toBe(isOver);
	});
});
