import { describe, expect, test } from "vitest";
import type { Pod } from "../api/types/core.ts";
import { pod, service } from "../testing/builders.ts";
import { nextTriggerTime, steppedTriggerTime } from "./trigger-time.ts";

const web = service("web", {}, { creationTimestamp: "2026-01-01T00:00:00Z" });
const since = (name: string, lastTransitionTime: string): Pod =>
	pod(name, { status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime }] } });
const before = [since("a", "2026-01-01T00:00:10Z"), since("b", "2026-01-01T00:00:20Z")];
const known = nextTriggerTime(undefined, web, before).next;

describe("nextTriggerTime()", () => {
	test("of a Service never seen before is its creation, whatever its Pods say", () => {
		expect(nextTriggerTime(undefined, web, before).triggerTime).toBe("2026-01-01T00:00:00Z");
	});

	test.each<[string, readonly Pod[], string | undefined]>([
		["nothing has changed", before, undefined],
		["a Pod is gone", before.slice(0, 1), undefined],
		[
			"two Pods have changed: the earlier",
			[since("a", "2026-01-01T00:01:00Z"), since("b", "2026-01-01T00:00:50.5Z")],
			"2026-01-01T00:00:50.5Z",
		],
		["a Pod is new", [...before, since("c", "2026-01-01T00:00:15Z")], "2026-01-01T00:00:15Z"],
		["a new Pod has no Ready condition", [...before, pod("c", { status: { conditions: [] } })], undefined],
		[
			"a Pod that is not ready any more has changed",
			[
				before[0] as Pod,
				pod("b", {
					status: { conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:02:00Z" }] },
				}),
			],
			"2026-01-01T00:02:00Z",
		],
		[
			"a Pod without endpoint has changed",
			[
				...before,
				pod("c", {
					status: {
						phase: "Failed",
						conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:02:00Z" }],
					},
				}),
			],
			"2026-01-01T00:02:00Z",
		],
		[
			"a time is written for another zone",
			[...before, since("c", "2026-01-01T02:00:15+01:00")],
			"2026-01-01T01:00:15Z",
		],
		[
			"a Pod begins to terminate",
			[{ ...since("a", "2026-01-01T00:00:10Z"), metadata: pod("a", { isTerminating: true }).metadata }],
			undefined,
		],
		[
			"an address changes",
			[{ ...(before[0] as Pod), status: { ...before[0]?.status, podIP: "10.0.0.9", podIPs: [{ ip: "10.0.0.9" }] } }],
			undefined,
		],
		[
			"labels change",
			[{ ...(before[0] as Pod), metadata: pod("a", { labels: { app: "web", x: "y" } }).metadata }],
			undefined,
		],
		[
			"another condition changes",
			[
				...before,
				pod("c", {
					status: { conditions: [{ type: "Initialized", status: "True", lastTransitionTime: "2026-01-01T00:02:00Z" }] },
				}),
			],
			undefined,
		],
		["a time went back", [since("a", "2026-01-01T00:00:05Z"), ...before.slice(1)], undefined],
	])("when %s is %s", (_, pods, time) => {
		expect(nextTriggerTime(known, web, pods).triggerTime).toBe(time);
	});

	test("takes a Pod that was away for new", () => {
		const { next } = nextTriggerTime(known, web, before.slice(0, 1));
		expect(nextTriggerTime(next, web, before).triggerTime).toBe("2026-01-01T00:00:20Z");
	});

	test.each<[string, string, string | undefined]>([
		["a fraction ends without zeros", "2026-01-01T00:00:00.120Z", "2026-01-01T00:00:00.12Z"],
		["whole seconds have no fraction", "2026-01-01T00:00:10.000Z", "2026-01-01T00:00:10Z"],
		["without a creation time there is none", "", undefined],
	])("%s", (_, creationTimestamp, time) => {
		expect(nextTriggerTime(undefined, service("web", {}, { creationTimestamp }), []).triggerTime).toBe(time);
	});

	test("counts from the time that a Pod had last, even if it once had a later one", () => {
		const { next } = nextTriggerTime(known, web, [since("a", "2026-01-01T00:00:05Z")]);
		expect(nextTriggerTime(next, web, [since("a", "2026-01-01T00:00:07Z")]).triggerTime).toBe("2026-01-01T00:00:07Z");
	});

	test("is the same when it is told only what has changed", () => {
		const pods = [since("a", "2026-01-01T00:01:00Z"), since("c", "2026-01-01T00:00:30Z")];
		const whole = nextTriggerTime(known, web, pods);
		const step = steppedTriggerTime(nextTriggerTime(undefined, web, before).next, web, { changed: pods, gone: ["b"] });
		expect(step.triggerTime).toBe(whole.triggerTime);
		expect([...step.next.pods.keys()].sort()).toEqual([...whole.next.pods.keys()].sort());
	});

	test("of a Service made anew under its name is the new creation", () => {
		const again = service("web", {}, { creationTimestamp: "2026-01-02T00:00:00Z" });
		expect(nextTriggerTime(known, again, before).triggerTime).toBe("2026-01-02T00:00:00Z");
	});
});
