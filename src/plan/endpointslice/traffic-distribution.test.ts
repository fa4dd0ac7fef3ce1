/** `trafficDistribution`: which slices are written for it, and what it yields to. */
import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointHints } from "../../api/types/discovery.ts";
import { service } from "../../testing/builders.ts";
import { sliceOf } from "../../testing/slice-worlds.ts";
import { type FamilySlices, NO_HINTS, planHints } from "./hints.ts";

const zoneA: EndpointHints = { forZones: [{ name: "a" }] };
const nodeToo: EndpointHints = { ...zoneA, forNodes: [{ name: "n1" }] };
const onN1: Endpoint = { addresses: ["10.0.0.1"], conditions: { ready: true }, zone: "a", nodeName: "n1" };
const { zone: _, ...zoneless } = onN1;
const notReady = { ...onN1, conditions: { ready: false } };

function hinted(endpoint: Endpoint, trafficDistribution: string, kind: keyof FamilySlices = "unchanged"): string {
	return hintedFor(endpoint, service("web", { trafficDistribution }), kind);
}

/** Whether the slice is written, and the hints that it then has. */
function hintedFor(endpoint: Endpoint, of: Service, kind: keyof FamilySlices = "unchanged"): string {
	const slices = { creates: [], updates: [], unchanged: [], [kind]: [{ ...sliceOf("x", []), endpoints: [endpoint] }] };
	const world = { service: of, family: "IPv4", memory: NO_HINTS, ratios: undefined } as const;
	const { slices: after, events } = planHints(slices, world);
	const [written] = [...after.creates, ...after.updates];
	const said = events.length > 0 ? " and says so" : "";
	if (written === undefined) return "stays";
	return `written with ${JSON.stringify(written.endpoints?.[0]?.hints ?? null)}${said}`;
}

const written = (hints: EndpointHints | null): string => `written with ${JSON.stringify(hints)}`;

describe("an unchanged slice", () => {
	test.each<[string, string, Endpoint, string]>([
		["stays with the zone's hint", "PreferSameZone", { ...onN1, hints: zoneA }, "stays"],
		["stays with it under the old name, too", "PreferClose", { ...onN1, hints: zoneA }, "stays"],
		["stays with hints for zone and node", "PreferSameNode", { ...onN1, hints: nodeToo }, "stays"],
		["is written for a missing hint", "PreferSameZone", onN1, written(zoneA)],
		[
			"is written for a second zone",
			"PreferSameZone",
			{ ...onN1, hints: { forZones: [{ name: "a" }, { name: "b" }] } },
			written(zoneA),
		],
		[
			"is written for a node that the mode does not name",
			"PreferSameZone",
			{ ...onN1, hints: nodeToo },
			written(zoneA),
		],
		["is written for a missing node", "PreferSameNode", { ...onN1, hints: zoneA }, written(nodeToo)],
		[
			"is written for another node",
			"PreferSameNode",
			{ ...onN1, hints: { ...zoneA, forNodes: [{ name: "n2" }] } },
			written(nodeToo),
		],
		[
			"is written for a hint of an endpoint that lost its zone",
			"PreferSameZone",
			{ ...zoneless, hints: zoneA },
			written(null),
		],
		["stays without hints where there is no zone", "PreferSameZone", zoneless, "stays"],
		["stays with empty hints where there is no zone", "PreferSameZone", { ...zoneless, hints: {} }, "stays"],
		[
			"stays with an empty list beside the right one",
			"PreferSameZone",
			{ ...onN1, hints: { ...zoneA, forNodes: [] } },
			"stays",
		],
		["stays whatever an endpoint says that is not ready", "PreferSameZone", { ...notReady, hints: nodeToo }, "stays"],
		["stays without hints of endpoints that are not ready", "PreferSameNode", notReady, "stays"],
		["loses hints for a value that is not known", "PreferFar", { ...onN1, hints: zoneA }, written(null)],
		["loses hints for an empty value", "", { ...onN1, hints: zoneA }, written(null)],
		[
			"loses hints of endpoints that are not ready, too, when none are asked for",
			"",
			{ ...notReady, hints: zoneA },
			written(null),
		],
	])("%s", (_name, value, endpoint, outcome) => {
		expect(hinted(endpoint, value)).toBe(outcome);
	});
});

describe("a slice that is written anyway", () => {
	test.each<[string, "creates" | "updates", Endpoint, string]>([
		["gets hints when it is new", "creates", onN1, written(zoneA)],
		["gets hints when it is updated", "updates", { ...onN1, hints: nodeToo }, written(zoneA)],
		["loses hints that are not due", "updates", { ...zoneless, hints: zoneA }, written(null)],
		["keeps those of endpoints that are not ready", "updates", { ...notReady, hints: nodeToo }, written(nodeToo)],
	])("%s", (_name, kind, endpoint, outcome) => {
		expect(hinted(endpoint, "PreferSameZone", kind)).toBe(outcome);
	});
});

describe.each(["PreferClose", "PreferSameZone", "PreferSameNode"])("%s", (trafficDistribution) => {
	const annotated = (mode: string): Service =>
		service("web", { trafficDistribution }, { annotations: { "service.kubernetes.io/topology-mode": mode } });

	test("yields to topology-mode: Auto, even if that fails", () => {
		expect(hintedFor({ ...onN1, hints: zoneA }, annotated("Auto"))).toBe(`${written(null)} and says so`);
	});

	test("does not yield to the annotation with another value", () => {
		const right = trafficDistribution === "PreferSameNode" ? nodeToo : zoneA;
		expect(hintedFor(onN1, annotated("Disabled"))).toBe(written(right));
	});
});
