import { describe, expect, test } from "vitest";
import { SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import { service } from "../testing/builders.ts";
import { RecordingClient } from "../testing/recording-client.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger, silentMetrics } from "../testing/silent.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { TransportError } from "./api-client.ts";
import { EventRecorder } from "./event-recorder.ts";

function harness() {
	const client = new RecordingClient();
	const clock = new VirtualClock();
	const recorder = new EventRecorder({
		client,
		clock,
		random: new SeededRandom(1),
		log: silentLogger,
		metrics: silentMetrics,
	});
	const stop = new AbortController();
	const run = recorder.run(stop.signal);
	const record = (message: string, resourceVersion = "1"): void =>
		recorder.record({
			component: "endpoint-slice-controller",
			resource: SERVICES,
			object: service("web", {}, { resourceVersion }),
			type: "Warning",
			reason: "FailedToUpdateEndpointSlices",
			message,
		});
	return { client, clock, record, stop, run };
}

describe("EventRecorder", () => {
	test("writes an Event in the object's namespace, named after the object", async () => {
		const { client, record } = harness();
		record("no");
		await settle();
		expect(client.writes[0]?.key).toMatch(/^default\/web\.[0-9a-f]{16}$/);
		expect(client.writes[0]).toMatchObject({
			verb: "create",
			object: {
				involvedObject: { kind: "Service", namespace: "default", name: "web", uid: "uid-web", apiVersion: "v1" },
				source: { component: "endpoint-slice-controller" },
				firstTimestamp: "2026-01-01T00:00:00Z",
				count: 1,
				type: "Warning",
			},
		});
	});

	test("raises the count of the Event that is there when the same thing happens again", async () => {
		const { client, clock, record } = harness();
		record("no");
		await clock.advance(5_000);
		record("no");
		record("something else");
		await settle();
		expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "patch", "create"]);
		expect(client.writes[1]).toMatchObject({ body: { count: 2, lastTimestamp: "2026-01-01T00:00:05Z" } });
	});

	test("counts the same thing about a newer version of the object as a repeat", async () => {
		const { client, record } = harness();
		record("no");
		record("no", "2");
		await settle();
		expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "patch"]);
	});

	test("writes a new Event when the one that is counted has expired", async () => {
		const { client, record } = harness();
		client.onWrite = ({ verb }) => {
			if (verb === "patch") throw new ApiError("NotFound", "gone");
		};
		record("no");
		record("no");
		await settle();
		expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "create"]);
	});

	test("tries again while the server cannot be reached, and drops what the server refuses", async () => {
		const { client, clock, record, stop, run } = harness();
		const errors = [new TransportError("unreachable", "refused"), undefined, new ApiError("Forbidden", "no")];
		client.onWrite = () => {
			const error = errors.shift();
			if (error !== undefined) throw error;
		};
		record("one");
		record("two");
		record("three");
		await clock.advance(10_000);
		expect(client.writes).toMatchObject([{ object: { message: "one" } }, { object: { message: "three" } }]);
		stop.abort();
		await expect(run).resolves.toBeUndefined();
	});
});
