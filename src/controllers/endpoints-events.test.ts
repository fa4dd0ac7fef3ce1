/** What makes the Endpoints controller look at a Service, and what it does when the API refuses. */
import { describe, expect, test } from "vitest";
import { ENDPOINTS, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Endpoints, Pod, Service } from "../api/types/core.ts";
import type { ObjectMeta } from "../api/types/meta.ts";
import { LEADER_ANNOTATION } from "../api/well-known.ts";
import type { LogFields } from "../kernel/logger.ts";
import { meta, node, pod, service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { EndpointsController, type EndpointsOptions } from "./endpoints-controller.ts";

const web = service("web");
const a = pod("a", { ip: "10.0.0.1" });
const byHand = (name: string, metadata: Partial<ObjectMeta> = {}): Endpoints => ({
	apiVersion: "v1",
	kind: "Endpoints",
	metadata: meta(name, metadata),
	subsets: [{ addresses: [{ ip: "10.9.9.9" }], ports: [{ port: 80, protocol: "TCP" }] }],
});

interface World {
	readonly services?: readonly Service[];
	readonly pods?: readonly Pod[];
	readonly endpoints?: readonly Endpoints[];
}

class Run extends ControllerHarness {
	/** Texts of the errors that syncs ended with. */
	readonly errors: string[] = [];

	static async of(world: World = {}, options: Partial<EndpointsOptions> = {}): Promise<Run> {
		const run = new Run();
		run.client.serve(SERVICES, world.services ?? [web]);
		run.client.serve(PODS, world.pods ?? [a]);
		run.client.serve(ENDPOINTS, world.endpoints ?? []);
		const warn = (_: string, { error }: LogFields = {}): void => {
			if (error instanceof Error) run.errors.push(error.message);
		};
		await run.start(new EndpointsController({ ...run, log: { ...run.log, warn } }, options));
		return run;
	}

	/** The object of the last write, as the watch brings it back. */
	written(resourceVersion: string): Endpoints {
		const write = this.client.writes.at(-1);
		if (write === undefined || !("object" in write)) throw new Error("nothing was written");
		return { ...write.object, metadata: { ...write.object.metadata, resourceVersion } };
	}
}

const again = <T extends Service | Pod>(object: T, resourceVersion: string): T => ({
	...object,
	metadata: { ...object.metadata, resourceVersion },
});

describe("a look at the Service follows", () => {
	test("its own add, update and delete at once, whatever the batch period", async () => {
		const run = await Run.of({ services: [] }, { batchPeriodMs: 60_000 });
		run.client.send(SERVICES, { type: "ADDED", object: web });
		await run.clock.advance(0);
		run.client.send(ENDPOINTS, { type: "ADDED", object: run.written("5") });
		const labelled = service("web", {}, { labels: { team: "red" }, resourceVersion: "2" });
		run.client.send(SERVICES, { type: "MODIFIED", object: labelled });
		await run.clock.advance(0);
		run.client.send(SERVICES, { type: "DELETED", object: labelled });
		await run.clock.advance(0);
		expect(run.client.log().map((line) => line.split(" ")[0])).toEqual(["create", "update", "delete"]);
	});

	test.each<[string, "ADDED" | "MODIFIED" | "DELETED", Pod]>([
		["a new Pod", "ADDED", pod("b", { ip: "10.0.0.2" })],
		["a change of a Pod", "MODIFIED", pod("a", { ip: "10.0.0.1", isReady: false, metadata: { resourceVersion: "2" } })],
		["the end of a Pod", "DELETED", a],
	])("%s after the batch period", async (_, type, object) => {
		const run = await Run.of({}, { batchPeriodMs: 1_000 });
		run.client.send(ENDPOINTS, { type: "ADDED", object: run.written("5") });
		// What the start has delayed is over.
		await run.clock.advance(1_000);
		run.client.send(PODS, { type, object });
		await run.clock.advance(999);
		expect(run.client.writes).toHaveLength(1);
		await run.clock.advance(1);
		expect(run.client.log().slice(1)).toEqual(["update endpoints default/web"]);
	});

	test("nothing that is added to or changed in Endpoints by hand, which stays until the Service's next sync", async () => {
		const run = await Run.of();
		const own = run.written("5");
		run.client.send(ENDPOINTS, { type: "ADDED", object: own });
		run.client.send(ENDPOINTS, { type: "MODIFIED", object: { ...byHand("web", own.metadata) } });
		run.client.send(ENDPOINTS, { type: "ADDED", object: byHand("lonely") });
		await run.clock.advance(60_000);
		expect(run.client.writes).toHaveLength(1);
		run.client.send(SERVICES, { type: "MODIFIED", object: again(web, "2") });
		await run.clock.advance(0);
		expect(run.written("6").subsets?.[0]?.addresses?.[0]?.ip).toBe("10.0.0.1");
	});

	test("nothing of Nodes, which are not read at all", async () => {
		const run = await Run.of();
		run.client.send(NODES, { type: "ADDED", object: node("n1") });
		await run.clock.advance(1_000);
		expect(run.client.reads.filter((read) => read.includes("nodes"))).toEqual([]);
	});
});

describe("Endpoints go", () => {
	const { selector: _, ...withoutSelector } = web.spec;
	test.each<[string, Service, Endpoints]>([
		["with a Service without selector, made by hand", { ...web, spec: withoutSelector }, byHand("web")],
		["with an ExternalName Service", service("web", { type: "ExternalName" }), byHand("web")],
		[
			"of a leader election, when a Service of their name goes",
			{ ...web, spec: withoutSelector },
			byHand("web", { annotations: { [LEADER_ANNOTATION]: "{}" } }),
		],
	])("%s", async (_rule, of, endpoints) => {
		const run = await Run.of({ services: [of], endpoints: [endpoints] });
		expect(run.client.log()).toEqual([]);
		run.client.send(SERVICES, { type: "DELETED", object: of });
		await run.clock.advance(0);
		expect(run.client.log()).toEqual(["delete endpoints default/web"]);
	});

	test("that were deleted while their Service was gone: asked for once more, and that is all", async () => {
		const leader = byHand("lock", { annotations: { [LEADER_ANNOTATION]: "{}" } });
		const run = await Run.of({ services: [], endpoints: [leader] });
		run.client.send(ENDPOINTS, { type: "DELETED", object: leader });
		await run.clock.advance(60_000);
		expect(run.client.log()).toEqual(["delete endpoints default/lock"]);
	});

	test("not at a start, when their Service has no selector", async () => {
		const run = await Run.of({ services: [{ ...web, spec: withoutSelector }], endpoints: [byHand("web")] });
		expect(run.client.log()).toEqual([]);
	});

	test("over to a Service with a selector, when they were made by hand", async () => {
		const run = await Run.of({ endpoints: [byHand("web", { labels: { mine: "yes" } })] });
		expect(run.client.log()).toEqual(["update endpoints default/web"]);
	});
});

describe("when the API refuses", () => {
	test("a create in a namespace that is being deleted, that is fine", async () => {
		const run = new Run();
		run.client.serve(SERVICES, [web]);
		run.client.onWrite = () => {
			throw new ApiError("Forbidden", "no", { details: { causes: [{ reason: "NamespaceTerminating" }] } });
		};
		await run.start(new EndpointsController(run));
		await run.clock.advance(1_000);
		expect([run.warnings, run.events]).toEqual([[], []]);
	});

	test("an update, the user is told, and it is tried again after 5, 10, 20 ms and so on", async () => {
		const run = await Run.of();
		run.client.send(ENDPOINTS, { type: "ADDED", object: run.written("5") });
		const triedMs: number[] = [];
		run.client.onWrite = () => {
			triedMs.push(run.clock.monotonicMs());
			throw new ApiError("Conflict", "the object has been modified");
		};
		const startMs = run.clock.monotonicMs();
		run.client.send(PODS, { type: "DELETED", object: a });
		await run.clock.advance(80);
		expect(triedMs.map((ms) => ms - startMs)).toEqual([0, 5, 15, 35, 75]);
		expect(run.events[0]).toBe(
			"Warning FailedToUpdateEndpoint Failed to update endpoint default/web: the object has been modified",
		);
	});

	test("nothing, but the cache lags behind, that is said", async () => {
		const run = await Run.of();
		run.client.send(ENDPOINTS, { type: "ADDED", object: run.written("5") });
		run.client.send(PODS, { type: "DELETED", object: a });
		await run.clock.advance(0);
		run.client.send(SERVICES, { type: "MODIFIED", object: again(web, "2") });
		await run.clock.advance(0);
		expect(run.errors).toEqual([
			"endpoints informer cache is out of date, resource version 5 already processed for endpoints default/web",
		]);
	});

	test("a delete for another reason than that nothing is there, it is tried again", async () => {
		const run = await Run.of();
		let refusals = 1;
		run.client.onWrite = () => {
			if (refusals-- > 0) throw new ApiError("InternalError", "boom");
		};
		run.client.send(SERVICES, { type: "DELETED", object: web });
		await run.clock.advance(5);
		expect([run.errors, run.client.log().at(-1)]).toEqual([["boom"], "delete endpoints default/web"]);
	});
});
