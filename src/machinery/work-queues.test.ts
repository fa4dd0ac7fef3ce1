import { expect, test } from "vitest";
import { silentMetrics } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { WorkQueues } from "./work-queues.ts";

test("counts what all queues have to do, and what waits for another try apart", async () => {
	const clock = new VirtualClock();
	const queues = new WorkQueues({ clock, metrics: silentMetrics });
	const [slices, endpoints] = [queues.make<string>({ name: "slices" }), queues.make<string>({ name: "endpoints" })];
	slices.add("a");
	slices.add("b");
	slices.addAfter("c", 500);
	endpoints.addRateLimited("d");
	const taken = await slices.take();
	expect(queues.load()).toEqual({ waiting: 1, processing: 1, delayed: 1, retrying: 1 });
	expect([queues.retrying("endpoints"), queues.retrying("slices"), queues.retrying("unknown")]).toEqual([
		["d"],
		[],
		[],
	]);
	slices.done(taken ?? "");
	await slices.take();
	slices.done("b");
	await clock.advance(1_000);
	expect(queues.load()).toEqual({ waiting: 2, processing: 0, delayed: 0, retrying: 0 });
});
