import { describe, expect, test } from "vitest";
import { service } from "../../testing/builders.ts";
import { numberedPod, podRange, sliceOf, web, zoneNodes } from "../../testing/slice-worlds.ts";
import { planEndpointSlices, type SliceWorld } from "./plan-slices.ts";
import { renderSlicePlan } from "./render.ts";

function text(world: Partial<SliceWorld>, shownMax?: number): string {
	const whole = { service: web, pods: [], nodes: zoneNodes, existing: [], ...world };
	return renderSlicePlan(planEndpointSlices(whole, { endpointsPerSliceMax: 100 }), shownMax);
}

describe("renderSlicePlan()", () => {
	const ipv6 = sliceOf("six", podRange(0, 1), { family: "IPv6" });
	test.each<[string, Partial<SliceWorld>, string]>([
		["nothing to write is an empty text", { pods: podRange(0, 1), existing: [sliceOf("a", podRange(0, 1))] }, ""],
		[
			"a Pod whose Node is not there is left out, and that is said",
			{ pods: [...podRange(0, 1), numberedPod(1, { node: "ghost" })] },
			"create web-* IPv4 [http:8080/TCP] [10.1.0.0]\nskip p00001: no Node ghost",
		],
		[
			"slices of a family that the Service does not have are deleted last",
			{ pods: podRange(0, 1), existing: [ipv6] },
			"create web-* IPv4 [http:8080/TCP] [10.1.0.0]\ndelete six",
		],
		[
			"hints are shown with their endpoint",
			{ service: service("web", { trafficDistribution: "PreferSameNode" }), pods: podRange(0, 1) },
			"create web-* IPv4 [http:8080/TCP] [10.1.0.0(for-zone=za,for-node=n1)]",
		],
	])("%s", (_, world, expected) => {
		expect(text(world)).toBe(expected);
	});

	test("shows all endpoints, or how a long list begins and ends when it is told to", () => {
		const pods = podRange(0, 20);
		expect(text({ pods }).split(" ")).toHaveLength(24);
		expect(text({ pods }, 19)).toBe("create web-* IPv4 [http:8080/TCP] [10.1.0.0 ... 10.1.0.19, 20 in all]");
	});
});
