import { describe, expect, test } from "vitest";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { StringMap } from "../api/types/meta.ts";
import type { Handlers } from "../machinery/informer.ts";
import { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";
import { sliceOf } from "../testing/slice-worlds.ts";
import { sliceHandlers } from "./slice-events.ts";

const MANAGER = "endpointslice-controller.k8s.io";
const labelsOf = (service: string | undefined, manager: string | undefined = MANAGER): StringMap => ({
	...(service === undefined ? {} : { "kubernetes.io/service-name": service }),
	...(manager === "" ? {} : { "endpointslice.kubernetes.io/managed-by": manager }),
});

function slice(generation = 1, labels: StringMap = labelsOf("web")): EndpointSlice {
	const made = sliceOf("s", []);
	return { ...made, metadata: { ...made.metadata, generation, labels } };
}

const foreign = slice(1, labelsOf("web", "somebody"));
const unlabelled = slice(1, labelsOf("web", ""));
const nameless = slice(2, labelsOf(undefined));
const emptyName = slice(2, labelsOf(""));

/** Keys that are enqueued, `?` for a slice that names no Service. */
function heard(act: (handlers: Handlers<EndpointSlice>) => void, prepare: (tracker: SliceTracker) => void): string {
	const keys: string[] = [];
	const tracker = new SliceTracker();
	prepare(tracker);
	act(
		sliceHandlers({
			manager: MANAGER,
			tracker,
			cache: { get: () => undefined },
			enqueue: (key) => keys.push(key),
			onNameless: () => keys.push("?"),
		}) as Handlers<EndpointSlice>,
	);
	return keys.join(" ");
}

const wrote = (generation: number) => (tracker: SliceTracker) => tracker.wrote(slice(generation));
const deleted = (tracker: SliceTracker): void => tracker.deleted(slice());
const nothing = (): void => undefined;

describe("a slice that is added", () => {
	test.each<[string, EndpointSlice, (tracker: SliceTracker) => void, string]>([
		["is news when this process never wrote it", slice(), nothing, "default/web"],
		["is an echo at the generation that was written", slice(1), wrote(1), ""],
		["is old at an earlier generation", slice(1), wrote(2), ""],
		["is news at a later generation", slice(3), wrote(2), "default/web"],
		["is news when it had been deleted", slice(1), deleted, "default/web"],
		["is nobody's business under another manager", foreign, nothing, ""],
		["is nobody's business without a manager", unlabelled, nothing, ""],
		["is told of when it names no Service", nameless, nothing, "?"],
		["is told of when it names an empty one", emptyName, nothing, "?"],
	])("%s", (_, added, prepare, keys) => {
		expect(heard((handlers) => handlers.added?.(added), prepare)).toBe(keys);
	});
});

describe("a slice that is updated", () => {
	test.each<[string, EndpointSlice, EndpointSlice, (tracker: SliceTracker) => void, string]>([
		["is news at a later generation", slice(1), slice(2), wrote(1), "default/web"],
		["is an echo at the generation that was written", slice(1), slice(2), wrote(2), ""],
		[
			"concerns the new and the old Service when the name changes",
			slice(1),
			slice(2, labelsOf("db")),
			wrote(2),
			"default/db default/web",
		],
		[
			"concerns both also when another manages it",
			foreign,
			slice(1, labelsOf("db", "somebody")),
			nothing,
			"default/db default/web",
		],
		["concerns the old Service when it names none any more", slice(1), nameless, nothing, "? default/web"],
		["is news when it becomes managed, whatever was written", foreign, slice(1), wrote(1), "default/web"],
		["is news when it is managed no more", slice(1), foreign, wrote(1), "default/web"],
		["is nobody's business under another manager", foreign, foreign, nothing, ""],
	])("%s", (_, old, after, prepare, keys) => {
		expect(heard((handlers) => handlers.updated?.(old, after), prepare)).toBe(keys);
	});
});

describe("a slice that is deleted", () => {
	test.each<[string, EndpointSlice, (tracker: SliceTracker) => void, string]>([
		["is missed when it was written and not deleted by this process", slice(), wrote(1), "default/web"],
		["is not missed when this process deleted it", slice(), deleted, ""],
		["is not missed when this process never wrote it", slice(), nothing, ""],
		["is not missed under another manager, though it was written", foreign, wrote(1), ""],
	])("%s", (_, gone, prepare, keys) => {
		expect(heard((handlers) => handlers.deleted?.(gone), prepare)).toBe(keys);
	});

	test("is forgotten: a second delete is not missed", () => {
		const twice = (handlers: Handlers<EndpointSlice>): void => {
			handlers.deleted?.(slice());
			handlers.deleted?.(slice());
		};
		expect(heard(twice, wrote(1))).toBe("default/web");
	});
});

describe("a slice that this process wrote, and that counts no more though it is there", () => {
	const held: EndpointSlice = {
		...slice(2),
		metadata: { ...slice(2).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
	};
	test.each<[string, EndpointSlice]>([
		["has another Service's name", slice(2, labelsOf("db"))],
		["has no Service's name", nameless],
		["has another manager", slice(2, labelsOf("web", "somebody"))],
		["is deleted, and held by a finalizer", held],
	])("%s: its Service does not wait for it", (_, now) => {
		const tracker = new SliceTracker();
		tracker.wrote(slice(1));
		expect(tracker.isStale("default/web", [])).toBe(true);
		const keys: string[] = [];
		const enqueue = (key: string): unknown => keys.push(key);
		const cache = { get: () => now };
		const listener = { manager: MANAGER, tracker, cache, enqueue, onNameless: () => undefined };
		sliceHandlers(listener).updated?.(slice(1), now);
		expect(tracker.isStale("default/web", [])).toBe(false);
		expect(keys).toContain("default/web");
	});
});

describe("a slice that was created while nobody watched", () => {
	const created = { ...slice(1), metadata: { ...slice(1).metadata, resourceVersion: "20" } };
	const renamed = { ...created, metadata: { ...created.metadata, resourceVersion: "21", labels: labelsOf("db") } };
	const namesake = { ...created, metadata: { ...created.metadata, resourceVersion: "21", uid: "another" } };
	test.each<[string, EndpointSlice | undefined, string, boolean, string]>([
		["is waited for until the cache is as of its write", undefined, "19", true, ""],
		["is missed by a cache that has seen its write and does not have it", undefined, "20", false, "default/web"],
		["is missed when it has got another Service's name", renamed, "21", false, "default/web"],
		["is missed when another one has its name", namesake, "100", false, "default/web"],
		["is as it should be when the cache has it", created, "20", false, ""],
	])("%s", (_, cached, asOf, isStale, keys) => {
		const tracker = new SliceTracker();
		tracker.wrote(created);
		const told: string[] = [];
		const enqueue = (key: string): unknown => told.push(key);
		const cache = { get: () => cached };
		sliceHandlers({ manager: MANAGER, tracker, cache, enqueue, onNameless: () => undefined }).applied?.(asOf);
		expect(tracker.isStale("default/web", cached === created ? [created] : [])).toBe(isStale);
		expect(told.join(" ")).toBe(keys);
	});
});
