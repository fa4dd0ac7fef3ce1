/** What makes the mirroring controller look at Endpoints, and what it does when the API refuses. */
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../api/resource-names.ts";
import { ApiError, notFound } from "../api/status.ts";
import type { Endpoints, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { ObjectMeta } from "../api/types/meta.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	LEADER_ANNOTATION,
	SERVICE_NAME_LABEL,
	SKIP_MIRROR_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import type { LogFields } from "../kernel/logger.ts";
import { planMirror } from "../plan/mirroring/plan-mirror.ts";
import { meta, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { stored } from "../testing/slice-worlds.ts";
import {
	EndpointSliceMirroringController,
	type EndpointSliceMirroringOptions,
} from "./endpointslicemirroring-controller.ts";

const CHANGES = "endpoint_slice_mirroring_controller_changes";
const { selector: _, ...withoutSelector } = service("db").spec;
const db: Service = { ...service("db"), spec: withoutSelector };
const SKIPPED = { labels: { [SKIP_MIRROR_LABEL]: "true" } };
const LEADER = { annotations: { [LEADER_ANNOTATION]: "{}" } };

function endpoints(metadata: Partial<ObjectMeta> = {}, ...ips: readonly string[]): Endpoints {
	const addresses = (ips.length === 0 ? ["10.0.0.1"] : ips).map((ip) => ({ ip }));
	const subsets = [{ addresses, ports: [{ name: "a", port: 80, protocol: "TCP" as const }] }];
	return { apiVersion: "v1", kind: "Endpoints", metadata: meta("db", metadata), subsets };
}

/** As it was mirrored before. */
function mirrored(name = "db-old", metadata: Partial<ObjectMeta> = {}): EndpointSlice {
	const [draft] = planMirror({ endpoints: endpoints(), existing: [] }, { addressesPerSubsetMax: 1000 }).creates;
	if (draft === undefined) throw new Error("no slice");
	const slice = stored(draft, name);
	return { ...slice, metadata: { ...slice.metadata, ...metadata } };
}

interface World {
	readonly services?: readonly Service[];
	readonly endpoints?: readonly Endpoints[];
	readonly slices?: readonly EndpointSlice[];
}

class Run extends ControllerHarness {
	/** Texts of the errors that syncs ended with. */
	readonly errors: string[] = [];

	static async of(
		world: World = {},
		{ refuses, ...options }: Partial<EndpointSliceMirroringOptions> & { readonly refuses?: Error } = {},
	): Promise<Run> {
		const run = new Run();
		run.client.serve(SERVICES, world.services ?? [db]);
		run.client.serve(ENDPOINTS, world.endpoints ?? [endpoints()]);
		run.client.serve(ENDPOINT_SLICES, world.slices ?? []);
		if (refuses !== undefined) {
			run.client.onWrite = () => {
				throw refuses;
			};
		}
		const warn = (_text: string, { error }: LogFields = {}): void => {
			if (error instanceof Error) run.errors.push(error.message);
		};
		await run.start(new EndpointSliceMirroringController({ ...run, log: { ...run.log, warn } }, options));
		return run;
	}

	get looks(): number {
		return this.metrics.values.get("workqueue_adds_total{name=endpoint_slice_mirroring}") ?? 0;
	}

	/** `create`, `update`, `delete`: the writes so far. */
	get verbs(): readonly string[] {
		return this.client.log().map((line) => line.split(" ")[0] ?? "");
	}
}

const v2 = { resourceVersion: "2" };

describe("a look at Endpoints follows", () => {
	test.each<[string, Endpoints, Endpoints, readonly string[]]>([
		["the label that skips them: the slices go", endpoints(), endpoints({ ...SKIPPED, ...v2 }), ["delete"]],
		["a leader's annotation: the slices go", endpoints(), endpoints({ ...LEADER, ...v2 }), ["delete"]],
		["a change, at once: the slice is written", endpoints(), endpoints(v2, "10.0.0.2"), ["update"]],
		["no change of those that are skipped before and after", endpoints(SKIPPED), endpoints({ ...SKIPPED, ...v2 }), []],
	])("%s", async (_rule, old, now, verbs) => {
		const isMirrored = old.metadata.labels === undefined;
		const world = { endpoints: [old], slices: isMirrored ? [mirrored()] : [] };
		const run = await Run.of(world, { batchPeriodMs: 60_000 });
		const before = run.looks;
		run.client.send(ENDPOINTS, { type: "MODIFIED", object: now });
		await run.clock.advance(0);
		expect([run.verbs, run.looks - before]).toEqual([verbs, isMirrored ? 1 : 0]);
	});

	test("the loss of the label that skips them: slices are made", async () => {
		const run = await Run.of({ endpoints: [endpoints(SKIPPED)] });
		expect(run.verbs).toEqual([]);
		run.client.send(ENDPOINTS, { type: "MODIFIED", object: endpoints(v2) });
		await run.clock.advance(0);
		expect(run.verbs).toEqual(["create"]);
	});

	test("their end: the slices go", async () => {
		const run = await Run.of({ slices: [mirrored()] });
		run.client.send(ENDPOINTS, { type: "DELETED", object: endpoints() });
		await run.clock.advance(0);
		expect(run.client.log()).toEqual(["delete endpointslices default/db-old"]);
	});

	test("a Service without selector that comes", async () => {
		const run = await Run.of({ services: [] });
		run.client.send(SERVICES, { type: "ADDED", object: db });
		await run.clock.advance(0);
		expect(run.verbs).toEqual(["create"]);
	});

	test("one that goes", async () => {
		const run = await Run.of({ slices: [mirrored()] });
		run.client.send(SERVICES, { type: "DELETED", object: db });
		await run.clock.advance(0);
		expect(run.client.log()).toEqual(["delete endpointslices default/db-old"]);
	});

	test.each<[string, Service, "ADDED" | "MODIFIED" | "DELETED"]>([
		["a Service with a selector that comes", service("db"), "ADDED"],
		["one that goes", service("db"), "DELETED"],
		["a change of a Service that still has no selector", { ...db, metadata: { ...db.metadata, ...v2 } }, "MODIFIED"],
	])("not %s", async (_rule, object, type) => {
		const run = await Run.of({ services: type === "ADDED" ? [] : [type === "MODIFIED" ? db : object] });
		const before = run.looks;
		run.client.send(SERVICES, { type, object });
		await run.clock.advance(0);
		expect(run.looks).toBe(before);
	});

	test("a change of a slice by somebody else, after the batch period and no second more", async () => {
		const run = await Run.of({ slices: [mirrored()] }, { batchPeriodMs: 300 });
		// The slices of the start are news too.
		await run.clock.advance(300);
		const changed = { ...mirrored("db-old", { resourceVersion: "2", generation: 2 }), endpoints: [] };
		run.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: changed });
		await run.clock.advance(299);
		expect(run.verbs).toEqual([]);
		await run.clock.advance(1);
		expect(run.verbs).toEqual(["update"]);
	});

	test("the end of a slice that was right from the start", async () => {
		const run = await Run.of({ slices: [mirrored()] });
		expect(run.verbs).toEqual([]);
		run.client.send(ENDPOINT_SLICES, { type: "DELETED", object: mirrored() });
		await run.clock.advance(0);
		expect(run.verbs).toEqual(["create"]);
	});

	test.each<[string, Partial<ObjectMeta>, number]>([
		[
			"another Service's name on a slice: both are looked at",
			{ labels: { ...mirrored().metadata.labels, [SERVICE_NAME_LABEL]: "other" } },
			2,
		],
		["another manager of a slice", { labels: { ...mirrored().metadata.labels, [SLICE_MANAGED_BY_LABEL]: "me" } }, 1],
		["no word of a generation that is known", {}, 0],
	])("%s", async (_rule, metadata, looks) => {
		const run = await Run.of({ slices: [mirrored()] });
		const before = run.looks;
		run.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: mirrored("db-old", { ...metadata, ...v2 }) });
		await run.clock.advance(0);
		expect(run.looks - before).toBe(looks);
	});
});

describe("a sync", () => {
	test("waits until every cache is filled", async () => {
		const run = new Run();
		run.client.serve(ENDPOINTS, [endpoints()]);
		run.client.serve(SERVICES, new ApiError("ServiceUnavailable", "not yet"));
		await run.start(new EndpointSliceMirroringController(run));
		expect(run.verbs).toEqual([]);
		run.client.serve(SERVICES, [db]);
		await run.clock.advance(2_000);
		expect(run.verbs).toEqual(["create"]);
	});

	test("touches no slice of another manager, so that those of a lost selector stay", async () => {
		const labels = { ...mirrored().metadata.labels, [SLICE_MANAGED_BY_LABEL]: ENDPOINTSLICE_CONTROLLER };
		const run = await Run.of({ slices: [mirrored("db-pods", { labels }), mirrored("db-mirror")] });
		run.client.send(ENDPOINTS, { type: "DELETED", object: endpoints() });
		await run.clock.advance(0);
		expect(run.client.log()).toEqual(["delete endpointslices default/db-mirror"]);
	});

	test("takes slices that are being deleted for there", async () => {
		const run = await Run.of({ slices: [mirrored("db-old", { deletionTimestamp: "2026-01-01T00:00:00Z" })] });
		expect(run.verbs).toEqual([]);
	});

	test("counts the deletes that it plans, and not those of a clean-up", async () => {
		const planned = await Run.of({ endpoints: [{ ...endpoints(), subsets: [] }], slices: [mirrored()] });
		const cleanUp = await Run.of({ endpoints: [endpoints(SKIPPED)], slices: [mirrored()] });
		cleanUp.client.send(ENDPOINTS, { type: "MODIFIED", object: endpoints(v2) });
		cleanUp.client.send(ENDPOINTS, { type: "MODIFIED", object: endpoints({ ...SKIPPED, resourceVersion: "3" }) });
		await cleanUp.clock.advance(0);
		expect([planned.verbs, planned.metrics.values.get(`${CHANGES}{operation=delete}`)]).toEqual([["delete"], 1]);
		expect(cleanUp.verbs).toContain("delete");
		expect(cleanUp.metrics.values.get(`${CHANGES}{operation=delete}`)).toBeUndefined();
	});

	test("tells of addresses that cannot be read", async () => {
		const run = await Run.of({ endpoints: [endpoints({}, "10.0.0.1", "foo", "bar")] });
		expect(run.events).toEqual([
			"Warning InvalidIPAddress Skipped 2 invalid IP addresses when mirroring to EndpointSlices",
		]);
	});

	test("says that the cache lags behind, and is tried again after 1 s", async () => {
		const run = await Run.of();
		run.client.send(ENDPOINTS, { type: "MODIFIED", object: endpoints(v2, "10.0.0.2") });
		await run.clock.advance(999);
		expect(run.errors).toEqual(["EndpointSlice informer cache is out of date"]);
		await run.clock.advance(1);
		expect(run.errors).toHaveLength(2);
	});
});

describe("when the API refuses, the error says", () => {
	const boom = new ApiError("InternalError", "boom");
	const twoFamilies = endpoints({}, "10.0.0.1", "fd00::1");
	test.each<[string, World, Error, string]>([
		["a create", {}, boom, "failed to create EndpointSlice for Endpoints default/db: boom"],
		[
			"an update",
			{ endpoints: [endpoints({}, "10.0.0.2")], slices: [mirrored()] },
			boom,
			"failed to update db-old EndpointSlice for Endpoints default/db: boom",
		],
		[
			"a delete",
			{ endpoints: [{ ...endpoints(), subsets: [] }], slices: [mirrored()] },
			boom,
			"failed to delete db-old EndpointSlice for Endpoints default/db: boom",
		],
		[
			"how many deletes of a clean-up failed, and the first reason",
			{ endpoints: [], services: [], slices: [] },
			boom,
			"error(s) deleting 2/2 EndpointSlices for default/db Endpoints, including: boom",
		],
		[
			"also that a slice to clean up is not there",
			{ endpoints: [], services: [], slices: [] },
			notFound(ENDPOINT_SLICES, "db-1"),
			'error(s) deleting 2/2 EndpointSlices for default/db Endpoints, including: endpointslices.discovery.k8s.io "db-1" not found',
		],
		[
			"the first of several, and nothing more is written",
			{ endpoints: [twoFamilies] },
			boom,
			"failed to create EndpointSlice for Endpoints default/db: boom",
		],
	])("%s", async (_rule, world, refuses, text) => {
		const isCleanUp = world.endpoints?.length === 0;
		const run = await Run.of(world, { refuses });
		if (isCleanUp)
			run.client.send(
				ENDPOINT_SLICES,
				{ type: "ADDED", object: mirrored("db-1") },
				{ type: "ADDED", object: mirrored("db-2") },
			);
		await run.clock.advance(0);
		expect(new Set(run.errors)).toEqual(new Set([text]));
		// A failing sync is logged and no Event is made of it.
		expect([run.events, run.client.writes]).toEqual([[], []]);
	});

	test.each([1, 2, 4, 8, 16, 32, 64, 100, 100])("and waits 1 s, doubling to 100 s (%i s)", async (seconds) => {
		const run = await Run.of({}, { refuses: boom, retriesMax: 0 });
		const triedMs: number[] = [];
		run.client.onWrite = () => {
			triedMs.push(run.clock.monotonicMs());
			throw boom;
		};
		await run.clock.advance(400_000);
		const waits = triedMs.map((ms, index) => (ms - (triedMs[index - 1] ?? 0)) / 1000);
		expect(waits).toContain(seconds);
		expect(Math.max(...waits)).toBe(100);
	});
});
