import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/types/core.ts";
import { BORN, type PodTraits, pod } from "../../testing/builders.ts";
import { victimsFirst } from "./victim-order.ts";

const NOW_MS = Date.parse(BORN) + 1_000_000;
const COST = "controller.kubernetes.io/pod-deletion-cost";

function order(pods: readonly Pod[], podsOnNode: ReadonlyMap<string, number> = new Map()): string {
	return victimsFirst(pods, { nowMs: NOW_MS, podsOnNode })
		.map(({ metadata }) => metadata.name)
		.join(" ");
}

function at(secondsAgo: number): string {
	return new Date(NOW_MS - secondsAgo * 1000).toISOString();
}

function readyFor(seconds: number): PodTraits {
	return { status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: at(seconds) }] } };
}

function restarted(restartCount: number): PodTraits {
	return {
		status: { ...ready, containerStatuses: [{ name: "c", ready: true, restartCount, image: "", imageID: "" }] },
	};
}

const ready = { conditions: [{ type: "Ready", status: "True", lastTransitionTime: BORN }] } as const;

/** A sidecar's restarts, beside those of an init container that has run once and does not count. */
function sidecarRestarted(restartCount: number): PodTraits {
	const status = { ready: true, image: "", imageID: "" };
	return {
		spec: { initContainers: [{ name: "init" }, { name: "side", restartPolicy: "Always" }] },
		status: {
			...ready,
			initContainerStatuses: [
				{ ...status, name: "init", restartCount: 9 - restartCount },
				{ ...status, name: "side", restartCount },
			],
		},
	};
}

/** The first of each pair goes first, though everything that a later rule looks at says the opposite. */
const ROWS: readonly (readonly [rule: string, first: PodTraits, second: PodTraits])[] = [
	["no node before a node", { node: "", metadata: { annotations: { [COST]: "5" } } }, { isReady: false }],
	["Pending before Unknown", { status: { phase: "Pending" } }, { isReady: false, status: { phase: "Unknown" } }],
	["Unknown before Running", { status: { phase: "Unknown" } }, { isReady: false }],
	["not ready before ready", { isReady: false, metadata: { annotations: { [COST]: "5" } } }, {}],
	["a lower deletion cost", { metadata: { annotations: { [COST]: "-7" } } }, { node: "full" }],
	["no deletion cost is 0", {}, { node: "full", metadata: { annotations: { [COST]: "1" } } }],
	["the fuller node", { node: "full", ...readyFor(5000) }, readyFor(1)],
	["ready for a shorter time", readyFor(10), { ...readyFor(100), ...restartedBeside(readyFor(100), 9) }],
	["more restarts", { ...restarted(3), metadata: { creationTimestamp: at(9000) } }, restarted(1)],
	[
		"more restarts of a sidecar",
		{ ...sidecarRestarted(3), metadata: { creationTimestamp: at(9000) } },
		sidecarRestarted(1),
	],
	["the newer one", { metadata: { creationTimestamp: at(10) } }, { metadata: { creationTimestamp: at(1000) } }],
];

function restartedBeside({ status }: PodTraits, count: number): PodTraits {
	return { status: { ...status, containerStatuses: restarted(count).status?.containerStatuses ?? [] } };
}

describe("victimsFirst", () => {
	test.each(ROWS)("%s", (_, first, second) => {
		const podsOnNode = new Map([["full", 2]]);
		expect(order([pod("b", first), pod("a", second)], podsOnNode)).toBe("b a");
		expect(order([pod("a", second), pod("b", first)], podsOnNode)).toBe("b a");
	});

	test("tells times of one rank apart by uid, before restarts are looked at", () => {
		// 700 and 900 seconds are both 2^39 nanoseconds and some.
		const [younger, older] = [readyFor(700), readyFor(900)];
		const pods = [
			pod("b", { ...younger, metadata: { uid: "2" } }),
			pod("a", { ...older, ...restartedBeside(older, 9), metadata: { uid: "1" } }),
		];
		expect(order(pods)).toBe("a b");
		expect(
			order([pod("b", { ...younger, metadata: { uid: "1" } }), pod("a", { ...older, metadata: { uid: "2" } })]),
		).toBe("b a");
	});

	test.each([
		["+10", 0],
		["008", 0],
		["1.5", 0],
		["", 0],
		["-05", -5],
		["2147483647", 2_147_483_647],
		["2147483648", 0],
		["-2147483648", -2_147_483_648],
		["-2147483649", 0],
	])("takes a deletion cost of %j for %i", (text, cost) => {
		const costs = (value: string): Pod => pod(value, { metadata: { uid: value, annotations: { [COST]: value } } });
		const rival = { uid: `${text}~` };
		const below = pod("below", {
			metadata: { ...rival, annotations: { [COST]: String(Math.max(cost - 1, -(2 ** 31))) } },
		});
		const above = pod("above", {
			metadata: { ...rival, annotations: { [COST]: String(Math.min(cost + 1, 2 ** 31 - 1)) } },
		});
		if (cost > -(2 ** 31)) expect(order([costs(text), below])).toBe(`below ${text}`);
		if (cost < 2 ** 31 - 1) expect(order([costs(text), above])).toBe(`${text} above`);
	});

	test("is one order, whichever way the Pods are given", () => {
		const traits = fc.record({
			node: fc.constantFrom("", "n1", "n2"),
			isReady: fc.boolean(),
			metadata: fc.record({
				uid: fc.uuid(),
				creationTimestamp: fc.constantFrom(at(1), at(5), at(700), at(900)),
				annotations: fc.constantFrom({}, { [COST]: "3" }, { [COST]: "x" }),
			}),
		});
		const pods = fc.uniqueArray(traits, { minLength: 2, maxLength: 8, selector: ({ metadata }) => metadata.uid });
		fc.assert(
			fc.property(pods, (list) => {
				const given = list.map((each) => pod(each.metadata.uid, each));
				const podsOnNode = new Map([
					["n1", 2],
					["n2", 1],
				]);
				expect(order([...given].reverse(), podsOnNode)).toBe(order(given, podsOnNode));
			}),
		);
	});
});
