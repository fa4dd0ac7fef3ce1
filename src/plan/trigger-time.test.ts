import { describe, expect, test } from "vitest";
import type { Pod } from "../api/types/core.ts";
import { pod, service } from "../testing/builders.ts";
import { nextTriggerTime } from "./trigger-time.ts";

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
		["a time went back", [since("a", "2026-01-01T00:00:05Z"), ...before.slice(1)], undefined],
	])("when %s is %s", (_, pods, time) => {
		expect(nextTriggerTime(known, web, pods).triggerTime).toBe(time);
	});

	test("takes a Pod that was away for new", () => {
		const { next } = nextTriggerTime(known, web, before.slice(0, 1));
		expect(nextTriggerTime(next, web, before).triggerTime).toBe("2026-01-01T00:00:20Z");
	});

	test("of a Service made anew under its name is the new creation", () => {
		const again = service("web", {}, { creationTimestamp: "2026-01-02T00:00:00Z" });
		expect(nextTriggerTime(known, again, before).triggerTime).toBe("2026-01-02T00:00:00Z");
	});
});
