/** `topology-mode: Auto` beyond its sums: what is said and remembered, and which slices are written. */
import { describe, expect, test } from "vitest";
import type { Service } from "../../api/types/core.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { pod, node as readyNode, service } from "../../testing/builders.ts";
import { podRange, sliceOf } from "../../testing/slice-worlds.ts";
import {
	type FamilySlices,
	type HintsMemory,
	type HintsPlan,
	NO_HINTS,
	planHints,
	wantsTopologyHints,
} from "./hints.ts";
import { planEndpointSlices } from "./plan-slices.ts";
import type { ZoneRatios } from "./zone-ratios.ts";

const MODE = "service.kubernetes.io/topology-mode";
const OLD_MODE = "service.kubernetes.io/topology-aware-hints";
const annotated = (annotations: Record<string, string>, spec: Partial<Service["spec"]> = {}): Service =>
	service("web", spec, { annotations });
const auto = annotated({ [MODE]: "Auto" });
const off = service("web");
const halves: ZoneRatios = new Map([
	["a", 0.5],
	["b", 0.5],
]);

/** `a` is a ready endpoint of zone a, `a>b` one with a hint for b, `-a` one that is not ready. */
function endpoint(word: string): Endpoint {
	const [, no = "", zone = "", hint = ""] = /^(-?)(\w*)(?:>(\w+))?$/.exec(word) ?? [];
	return {
		addresses: ["10.0.0.1"],
		conditions: { ready: no === "" },
		...(zone === "" ? {} : { zone }),
		...(hint === "" ? {} : { hints: { forZones: [{ name: hint }] } }),
	};
}

function slice(name: string, words: string): EndpointSlice {
	return {
		...sliceOf(name, []),
		endpoints: words === "" ? [] : words.split(" ").map((w) => endpoint(w.replace("?", ""))),
	};
}

function shown({ metadata, endpoints }: Pick<EndpointSlice, "endpoints"> & { metadata: { name?: string } }): string {
	const words = (endpoints ?? []).map(({ conditions, zone = "", hints }) => {
		const zones = (hints?.forZones ?? []).map(({ name }) => `>${name}`).join("");
		return `${conditions.ready === true ? "" : "-"}${zone}${zones}`;
	});
	return `${metadata.name}: ${words.join(" ")}`;
}

function planned(
	slices: Partial<FamilySlices>,
	world: { service?: Service; family?: IPFamily; memory?: HintsMemory; ratios?: ZoneRatios } = {},
): HintsPlan {
	const full = { service: auto, family: "IPv4", memory: NO_HINTS, ratios: halves, ...world } as const;
	return planHints({ creates: [], updates: [], unchanged: [], ...slices }, full);
}

describe("the annotation asks for hints by CPU", () => {
	test.each<[string, Record<string, string>, boolean]>([
		["with Auto", { [MODE]: "Auto" }, true],
		["with auto", { [MODE]: "auto" }, true],
		["with Auto under its old name", { [OLD_MODE]: "Auto" }, true],
		["but not with AUTO", { [MODE]: "AUTO" }, false],
		["but not with Disabled", { [MODE]: "Disabled" }, false],
		["but not with the name of another heuristic", { [MODE]: "ProportionalZoneCPU" }, false],
		["but not with PreferZone", { [MODE]: "PreferZone" }, false],
		["but not when the old name says something else", { [OLD_MODE]: "disabled", [MODE]: "Auto" }, false],
		["but not when the old name is empty", { [OLD_MODE]: "", [MODE]: "Auto" }, false],
		["when the old name does and the new one does not", { [OLD_MODE]: "Auto", [MODE]: "Disabled" }, true],
		["but not when there is none", {}, false],
	])("%s", (_, annotations, isOn) => {
		expect(wantsTopologyHints(annotated(annotations))).toBe(isOn);
	});
});

describe("slices under topology-mode: Auto", () => {
	test.each<[string, Partial<FamilySlices>, string[], string[]]>([
		["with hints that fit stay", { unchanged: [slice("x", "a>a b>b")] }, [], ["x: a>a b>b"]],
		[
			"with hints for other zones than their own stay as long as they fit",
			{ unchanged: [slice("x", "a>b b>a")] },
			[],
			["x: a>b b>a"],
		],
		["are written when a ready endpoint has no hint", { unchanged: [slice("x", "a>a b")] }, ["x: a>a b>b"], []],
		[
			"stay when an endpoint without hint is not ready",
			{ unchanged: [slice("x", "a>a b>b -a")] },
			[],
			["x: a>a b>b -a"],
		],
		["stay when they hold nothing", { unchanged: [slice("x", ""), slice("y", "a>a b>b")] }, [], ["x: ", "y: a>a b>b"]],
		["are written when a hint names a zone without nodes", { unchanged: [slice("x", "a>c b>b")] }, ["x: a>a b>b"], []],
		[
			"are written when a zone would have more than its most",
			{ unchanged: [slice("x", "a>a b>b"), slice("y", "a>a b>a")] },
			["y: a>a b>b"],
			["x: a>a b>b"],
		],
		["that are written have their hints made anew", { updates: [slice("x", "a>b b>a")] }, ["x: a>a b>b"], []],
		["keep hints of endpoints that are not ready", { updates: [slice("x", "a b -a>b")] }, ["x: a>a b>b -a>b"], []],
		[
			"show a zone without ready nodes as the hint of its endpoints",
			{ updates: [slice("x", "a b c c")] },
			["x: a>a b>b c>c c>c"],
			[],
		],
		[
			"give from a zone with too many to one with too few",
			{ updates: [slice("x", "a a a a")] },
			["x: a>b a>b a>a a>a"],
			[],
		],
		[
			"that stay give nothing",
			{ unchanged: [slice("x", "a>a a>a a>a")], updates: [slice("y", "b b b")] },
			["y: b>b b>b b>b"],
			["x: a>a a>a a>a"],
		],
	])("%s", (_, slices, updates, unchanged) => {
		const { slices: after, events } = planned(slices);
		expect(events.map(({ type }) => type)).toEqual(["Normal"]);
		expect([after.updates.map(shown), after.unchanged.map(shown)]).toEqual([updates, unchanged]);
	});

	test("new slices are given first, then written ones, then those whose hints do not fit", () => {
		const { slices } = planned({
			creates: [slice("n", "a")],
			updates: [slice("u", "a")],
			unchanged: [slice("x", "a a")],
		});
		expect([...slices.creates, ...slices.updates].map(shown)).toEqual(["n: a>b", "u: a>b", "x: a>a a>a"]);
	});

	test.each<[string, string, ZoneRatios, string]>([
		[
			"the nodes do not tell",
			"a>a b>b",
			undefined,
			"Insufficient Node information: allocatable CPU or zone not specified on one or more nodes",
		],
		["nodes were not looked at yet", "a>a b>b", new Map(), "Nodes only ready in one zone"],
		[
			"fewer endpoints than zones are ready",
			"a>a -b>b",
			halves,
			"Insufficient number of endpoints (1 endpoints, 2 zones)",
		],
		["no endpoint is ready", "-a>a -b>b", halves, "Insufficient number of endpoints (0 endpoints, 2 zones)"],
		[
			"the least for each zone is more than there are",
			"a>a a b>b",
			halves,
			"Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)",
		],
		["a ready endpoint has no zone", "a>a ?", halves, "One or more endpoints do not have a zone specified"],
	])("lose all hints, also those that stayed, when %s", (_, words, ratios, why) => {
		const { slices, events } = planned({ unchanged: [slice("x", words)] }, { ratios });
		expect(
			slices.updates.flatMap(({ endpoints }) => endpoints ?? []).filter(({ hints }) => hints !== undefined),
		).toEqual([]);
		expect(slices.unchanged).toEqual([]);
		expect(events).toEqual([
			{ type: "Warning", reason: "TopologyAwareHintsDisabled", message: `${why}, addressType: IPv4` },
		]);
	});

	test("a slice without hints is not written only because there shall be none", () => {
		expect(planned({ unchanged: [slice("x", "a")] }).slices.unchanged).toHaveLength(1);
	});
});

describe("what is said and remembered", () => {
	const good = { creates: [slice("x", "a b")] };
	const bad = { creates: [slice("x", "a")] };
	const v6 = { family: "IPv6" } as const;
	type Step = readonly [Partial<FamilySlices>, { service?: Service; family?: IPFamily }?];
	/** Words of the events of one plan after the other. */
	function story(steps: readonly Step[]): string[] {
		let memory = NO_HINTS;
		return steps.map(([slices, world = {}]) => {
			const done = planned(slices, { ...world, memory });
			memory = done.memory;
			return done.events.map(({ reason, message }) => `${reason.slice(18)} ${message.slice(-4)}`).join();
		});
	}

	test.each<[string, readonly Step[], string[]]>([
		["enabled is said once", [[good], [good]], ["Enabled IPv4", ""]],
		["a failure is said every time", [[bad], [bad]], ["Disabled IPv4", "Disabled IPv4"]],
		[
			"after a failure enabled is said again",
			[[good], [bad], [good]],
			["Enabled IPv4", "Disabled IPv4", "Enabled IPv4"],
		],
		["enabled is said for the first family alone", [[good], [good, v6]], ["Enabled IPv4", ""]],
		[
			"a failure of one family has the other said again",
			[[good], [bad, v6], [good]],
			["Enabled IPv4", "Disabled IPv6", "Enabled IPv4"],
		],
		[
			"switched off is said for the first family alone",
			[[good], [good, v6], [good, { service: off }], [good, { service: off, ...v6 }]],
			["Enabled IPv4", "", "Disabled IPv4", ""],
		],
		["nothing is said of a Service that never had hints", [[good, { service: off }]], [""]],
		[
			"switched to the field is switched off",
			[[good], [good, { service: service("web", { trafficDistribution: "PreferClose" }) }]],
			["Enabled IPv4", "Disabled IPv4"],
		],
	])("%s", (_, steps, said) => {
		expect(story(steps)).toEqual(said);
	});

	test("hints by zone are remembered for each family, as given", () => {
		const { memory } = planned({ updates: [slice("x", "a a a a")] });
		expect([...(memory.allocated.get("IPv4") ?? [])]).toEqual([
			["a", 2],
			["b", 2],
		]);
		const after = planned(bad, { memory, ...v6 }).memory;
		expect([after.isPopulated, [...after.allocated.keys()]]).toEqual([false, ["IPv4"]]);
	});

	test("a slice of a family that is gone takes its hints and the mark along before anything is planned", () => {
		const nodes = new Map([
			["n1", readyNode("n1", "a")],
			["n2", readyNode("n2", "b")],
		]);
		const pods = [pod("a", { ip: "10.0.0.1" }), pod("b", { ip: "10.0.0.2", node: "n2" })];
		const counts = new Map([
			["a", 1],
			["b", 1],
		]);
		const hintsMemory: HintsMemory = {
			isPopulated: true,
			allocated: new Map([
				["IPv4", counts],
				["IPv6", counts],
			]),
		};
		const existing = [sliceOf("v6", podRange(0, 1), { family: "IPv6" })];
		const limits = { endpointsPerSliceMax: 100 };
		const made = planEndpointSlices({ service: auto, pods, nodes, existing, ratios: halves, hintsMemory }, limits);
		expect(made.families[0]?.hintsEvents.map(({ reason }) => reason)).toEqual(["TopologyAwareHintsEnabled"]);
		expect([...made.hintsMemory.allocated.keys()]).toEqual(["IPv4"]);
	});
});
