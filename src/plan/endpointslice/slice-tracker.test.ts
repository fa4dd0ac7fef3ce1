import { describe, expect, test } from "vitest";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { podRange, sliceOf } from "../../testing/slice-worlds.ts";
import { SliceTracker } from "./slice-tracker.ts";

const KEY = "default/web";

function at(name: string, generation: number): EndpointSlice {
	const slice = sliceOf(name, podRange(0, 1));
	return { ...slice, metadata: { ...slice.metadata, generation } };
}

function of(service: string, slice: EndpointSlice): EndpointSlice {
	return { ...slice, metadata: { ...slice.metadata, labels: { "kubernetes.io/service-name": service } } };
}

describe("SliceTracker", () => {
	test.each<[string, (tracker: SliceTracker) => void, EndpointSlice[], boolean]>([
		["nothing written: never stale", () => undefined, [at("a", 1)], false],
		["the cache is behind a write", (t) => t.wrote(at("a", 2)), [at("a", 1)], true],
		["the cache has seen the write", (t) => t.wrote(at("a", 2)), [at("a", 2)], false],
		["somebody else wrote after us", (t) => t.wrote(at("a", 2)), [at("a", 3)], false],
		["a created slice is not there yet", (t) => t.wrote(at("a", 1)), [], true],
		["a deleted slice is still there", (t) => t.deleted(at("a", 1)), [at("a", 1)], true],
		["a deleted slice is gone", (t) => t.deleted(at("a", 1)), [], false],
		["a slice of somebody else is there, too", (t) => t.wrote(at("a", 1)), [at("a", 1), at("b", 9)], false],
		["a deleted slice is there again, newer", (t) => t.deleted(at("a", 1)), [at("a", 9)], true],
		[
			"one of two that were written is not there yet",
			(t) =>
				[1, 2].forEach((n) => {
					t.wrote(at(`s${n}`, 1));
				}),
			[at("s1", 1)],
			true,
		],
		["another Service's slice was written", (t) => t.wrote(of("db", at("a", 2))), [at("b", 1)], false],
		[
			"the slice that was written names another Service now, so it never shows up again",
			(t) => t.wrote(at("a", 2)),
			[],
			true,
		],
		[
			"the slice was seen to go",
			(t) => {
				t.wrote(at("a", 1));
				t.sawDeletion(at("a", 1));
			},
			[],
			false,
		],
		[
			"the slice was seen to go under the name of another Service",
			(t) => {
				t.wrote(at("a", 1));
				t.sawDeletion(of("db", at("a", 1)));
			},
			[],
			true,
		],
		[
			"the Service has gone meanwhile",
			(t) => {
				t.wrote(at("a", 1));
				t.forgetService(KEY);
			},
			[],
			false,
		],
	])("%s", (_, done, cached, isStale) => {
		const tracker = new SliceTracker();
		done(tracker);
		expect(tracker.isStale(KEY, cached)).toBe(isStale);
	});

	test("tells news from echoes of its own writes", () => {
		const tracker = new SliceTracker();
		expect(tracker.isNews(at("a", 1))).toBe(true);
		tracker.wrote(at("a", 2));
		expect([1, 2, 3].map((generation) => tracker.isNews(at("a", generation)))).toEqual([false, false, true]);
	});

	test("does not wait for a slice whose deletion came before the answer to its write", () => {
		const tracker = new SliceTracker();
		tracker.wrote(at("a", 1));
		const answered = tracker.writing(KEY);
		expect(tracker.sawDeletion(at("a", 1))).toBe(false);
		expect([tracker.wrote(at("a", 2)), tracker.isStale(KEY, [])]).toEqual([false, false]);
		answered();
		expect([tracker.wrote(at("a", 3)), tracker.isStale(KEY, [])]).toEqual([true, true]);
	});

	test("tells expected deletions from others, once", () => {
		const tracker = new SliceTracker();
		tracker.wrote(at("a", 1));
		tracker.deleted(at("b", 1));
		expect([tracker.sawDeletion(at("a", 1)), tracker.sawDeletion(at("b", 1))]).toEqual([false, true]);
		expect([tracker.has(at("a", 1)), tracker.has(at("b", 1))]).toEqual([false, false]);
	});
});
