import { beforeEach, describe, expect, test } from "vitest";
import { parseCIDR } from "../api/ip.ts";
import { EVENTS, NAMESPACES, NEW_EVENTS } from "../api/resource-names.ts";
import { RESOURCE_TYPES } from "../api/resource-table.ts";
import type { NewEvent } from "../api/types/events.ts";
import type { Draft } from "../api/types/meta.ts";
import { memoryStore } from "../store/store.ts";
import { CountingIds, SeededRandom } from "../testing/seeded.ts";
import { silentLogger, silentMetrics } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { ApiServer } from "./api-server.ts";
import { InProcessClient } from "./in-process-client.ts";

const DRAFT: Draft<NewEvent> = {
	metadata: { name: "bound" },
	eventTime: "2026-01-01T00:00:00.000000Z",
	reportingController: "example.com/x",
	reportingInstance: "x-1",
	action: "Binding",
	reason: "Bound",
	type: "Normal",
	regarding: { kind: "Pod", namespace: "default", name: "web" },
	note: "It is bound",
};
const KEY = { namespace: "default", name: "bound" };

describe("an Event is one object in two groups", () => {
	let client: InProcessClient;

	beforeEach(async () => {
		const range = parseCIDR("10.96.0.0/16");
		const server = new ApiServer({
			store: memoryStore(1),
			types: RESOURCE_TYPES,
			clock: new VirtualClock(),
			random: new SeededRandom(1),
			ids: new CountingIds(),
			log: silentLogger,
			metrics: silentMetrics,
			ranges: { clusterIPs: range === undefined ? [] : [range], nodePorts: { first: 30_000, last: 32_767 } },
		});
		client = new InProcessClient(server, { name: "admin", groups: ["system:masters"] });
		await client.create(NAMESPACES, "", { metadata: { name: "default" } });
	});

	test("made in one, read in the other, with one resourceVersion and uid", async () => {
		const made = await client.create(NEW_EVENTS, "default", DRAFT);
		expect(made).toMatchObject({ apiVersion: "events.k8s.io/v1", note: "It is bound" });
		const old = await client.get(EVENTS, KEY);
		expect(old).toMatchObject({ apiVersion: "v1", message: "It is bound", involvedObject: DRAFT.regarding });
		expect(old.metadata).toEqual(made.metadata);
	});

	test("reading twice gives the same frozen object, so that its bytes are shared", async () => {
		await client.create(NEW_EVENTS, "default", DRAFT);
		const [first, second] = [await client.get(NEW_EVENTS, KEY), await client.get(NEW_EVENTS, KEY)];
		expect(second).toBe(first);
		expect(Object.isFrozen(first.regarding)).toBe(true);
	});

	test("each group is selected by fields in its own words", async () => {
		await client.create(NEW_EVENTS, "default", DRAFT);
		const named = async (fieldSelector: string, resource: typeof EVENTS | typeof NEW_EVENTS) =>
			(await client.list<NewEvent>(resource as typeof NEW_EVENTS, { fieldSelector })).items.map(
				({ apiVersion }) => apiVersion,
			);
		expect(await named("regarding.name=web", NEW_EVENTS)).toEqual(["events.k8s.io/v1"]);
		expect(await named("involvedObject.name=web", EVENTS)).toEqual(["v1"]);
		await expect(named("involvedObject.name=web", NEW_EVENTS)).rejects.toThrow("field label not supported");
	});

	test("watches of both see each write in their own shape", async () => {
		const stop = new AbortController();
		const options = { resourceVersion: (await client.list(EVENTS, {})).resourceVersion, signal: stop.signal };
		const seen: string[] = [];
		const follow = async (resource: typeof EVENTS | typeof NEW_EVENTS) => {
			for await (const batch of client.watch(resource as typeof EVENTS, options)) {
				for (const event of batch) {
					if (event.type !== "BOOKMARK")
						seen.push(`${event.type} ${event.object.apiVersion} ${event.object.metadata.name}`);
				}
				if (seen.length >= 6) stop.abort();
			}
		};
		const following = Promise.all([follow(EVENTS), follow(NEW_EVENTS)]);
		await client.create(NEW_EVENTS, "default", DRAFT);
		const series = { count: 2, lastObservedTime: "2026-01-01T00:01:00.000000Z" };
		await client.patch(NEW_EVENTS, KEY, { type: "strategic", body: { series } });
		await client.delete(EVENTS, KEY);
		await following;
		for (const version of ["v1", "events.k8s.io/v1"]) {
			const own = seen.filter((line) => line.split(" ")[1] === version).map((line) => line.split(" ")[0]);
			expect(own).toEqual(["ADDED", "MODIFIED", "DELETED"]);
		}
	});

	test("a patch in one group is seen in the other", async () => {
		await client.create(NEW_EVENTS, "default", DRAFT);
		await client.patch(EVENTS, KEY, { type: "merge", body: { message: "again", count: 2 } });
		expect(await client.get(NEW_EVENTS, KEY)).toMatchObject({ note: "again", deprecatedCount: 2 });
	});

	test("an update that changes nothing writes nothing", async () => {
		const made = await client.create(NEW_EVENTS, "default", DRAFT);
		expect((await client.update(NEW_EVENTS, made)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
	});
});
