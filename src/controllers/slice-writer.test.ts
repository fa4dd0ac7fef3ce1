import { describe, expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { newSlice } from "../plan/endpointslice/slice-metadata.ts";
import { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";
import { RecordingClient } from "../testing/recording-client.ts";
import { podRange, sliceOf, web } from "../testing/slice-worlds.ts";
import { SliceWriter } from "./slice-writer.ts";

const KEY = "default/web";
const draft = newSlice(web, "IPv4", { endpoints: [], ports: [] });
const slice = (name: string) => sliceOf(name, podRange(0, 1));
const writes = { creates: [draft, draft], updates: [slice("u1"), slice("u2")], deletes: [slice("d1"), slice("d2")] };
const going = new ApiError("Forbidden", "going", { details: { causes: [{ reason: "NamespaceTerminating" }] } });
const { signal } = new AbortController();

/** Writes until the write whose log line is `failing`, which fails. */
async function written(failing = "", error = new ApiError("Forbidden", "no")) {
	const client = new RecordingClient();
	const tracker = new SliceTracker();
	const told: string[] = [];
	client.onWrite = ({ verb, key }) => {
		if (`${verb} ${key}` === failing) throw error;
	};
	const writer = new SliceWriter({ client, tracker, source: "Service", wrote: (operation) => told.push(operation) });
	const outcome = await writer.write(KEY, writes, signal).catch((thrown: Error) => thrown.message);
	const log = client.log().map((line) => line.replace(" endpointslices default/", " "));
	return { outcome, log, told, tracker, client, writer };
}

describe("SliceWriter", () => {
	test("creates, then updates, then deletes, and tells of each", async () => {
		const { outcome, log, told } = await written();
		expect(outcome).toBe(true);
		expect(log).toEqual(["create web-", "create web-", "update u1", "update u2", "delete d1", "delete d2"]);
		expect(told).toEqual(["create", "create", "update", "update", "delete", "delete"]);
	});

	test("deletes as the server deletes by default", async () => {
		const { client } = await written();
		expect(client.writes.flatMap((write) => (write.verb === "delete" ? [write.options] : []))).toEqual([{}, {}]);
	});

	test.each<[string, string, readonly string[]]>([
		["create default/web-", "failed to create EndpointSlice for Service default/web: no", []],
		["update default/u1", "failed to update u1 EndpointSlice for Service default/web: no", ["create", "create"]],
		[
			"delete default/d1",
			"failed to delete d1 EndpointSlice for Service default/web: no",
			["create", "create", "update", "update"],
		],
	])("when %s fails, says so and writes no more", async (failing, message, told) => {
		const done = await written(failing);
		expect([done.outcome, done.told]).toEqual([message, told]);
	});

	test("takes a slice that is not there for a failure to delete it", async () => {
		const { outcome } = await written("delete default/d1", new ApiError("NotFound", "gone"));
		expect(outcome).toBe("failed to delete d1 EndpointSlice for Service default/web: gone");
	});

	test("stops in peace when a create finds the namespace going", async () => {
		const { outcome, log } = await written("create default/web-", going);
		expect([outcome, log]).toEqual([false, []]);
	});

	test("takes the same cause of an update for a failure", async () => {
		expect((await written("update default/u1", going)).outcome).toContain("failed to update u1");
	});

	test("has the tracker know what was answered, and what was deleted", async () => {
		const { tracker } = await written("delete default/d2");
		const at = (name: string, generation: number) => {
			const made = slice(name);
			return { ...made, metadata: { ...made.metadata, generation } };
		};
		expect([tracker.isNews(at("u1", 2)), tracker.isNews(at("u1", 3))]).toEqual([false, true]);
		expect([tracker.has(slice("d1")), tracker.has(slice("d2"))]).toEqual([true, false]);
		expect(tracker.isStale(KEY, [])).toBe(true);
	});

	test("words a failure otherwise when the slice's family is gone", async () => {
		const { writer, client } = await written();
		client.onWrite = () => {
			throw new ApiError("Forbidden", "no");
		};
		await expect(writer.deleteUnsupported(KEY, slice("v6"), signal)).rejects.toThrow(
			"error deleting v6 EndpointSlice for Service default/web: no",
		);
	});
});
