import { expect, test } from "vitest";
import { memoryStore } from "../store/store.ts";
import { metadataOf } from "../testing/api-objects.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { EventExpiry } from "./event-expiry.ts";

const SPACE = "/registry/events/";
const MINUTE_MS = 60_000;

function expiring() {
	const store = memoryStore(100);
	const clock = new VirtualClock();
	const put = (name: string, space = SPACE) =>
		store.commit([
			{
				kind: "put",
				space,
				key: `default/${name}`,
				object: { apiVersion: "v1", kind: "Event", metadata: metadataOf(name) },
			},
		]);
	const names = (space = SPACE): string[] => {
		const range = store.space(space).range({ prefix: "" });
		return range.kind === "range" ? range.entries.map(({ object }) => object.metadata.name) : [];
	};
	const stop = new AbortController();
	const running = new EventExpiry({ store, clock }).run(stop.signal);
	const end = async (): Promise<void> => {
		stop.abort();
		await running;
	};
	return { store, clock, put, names, end };
}

test("an Event goes an hour after its last write, as a deletion that watches see", async () => {
	const { store, clock, put, names, end } = expiring();
	await put("old");
	await put("repeated");
	await put("kept", "/registry/pods/");
	await clock.advance(30 * MINUTE_MS);
	await put("repeated");
	await clock.advance(29 * MINUTE_MS);
	expect(names()).toEqual(["old", "repeated"]);
	const before = store.revision;
	await clock.advance(2 * MINUTE_MS);
	expect(names()).toEqual(["repeated"]);
	const batch = store.space(SPACE).readAfter(before, 10, store.revision);
	expect(batch.kind === "events" && batch.events.map(({ kind, current }) => `${kind} ${current.key}`)).toEqual([
		"delete default/old",
	]);
	await clock.advance(30 * MINUTE_MS);
	expect(names()).toEqual([]);
	expect(names("/registry/pods/")).toEqual(["kept"]);
	await end();
});

test("a great many go in several rounds", async () => {
	const { clock, put, names, end } = expiring();
	for (let n = 0; n < 4_500; n++) await put(`e${n}`);
	await clock.advance(61 * MINUTE_MS);
	expect(names()).toEqual([]);
	await end();
});

test("those that are too many go at the next tick, the oldest first", async () => {
	const { clock, put, names, end } = expiring();
	for (let n = 0; n < 20_010; n++) await put(`e${n}`);
	await put("e0");
	await clock.advance(MINUTE_MS);
	expect(names()).toHaveLength(20_000);
	expect(names()).toContain("e0");
	expect(names()).not.toContain("e10");
	await end();
});
