import { expect, test } from "vitest";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import { silentMetrics } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { RequestLog } from "./request-log.ts";

function answered(path: string): AnsweredRequest {
	return { podUID: "u1", port: 8080, atMs: 0, text: `GET ${path} 200` };
}

test("tells what was answered in batches, and no more than a batch holds", async () => {
	const clock = new VirtualClock();
	const told: (readonly AnsweredRequest[])[] = [];
	const log = new RequestLog({ clock, metrics: silentMetrics, tell: (requests) => told.push(requests) });
	log.add(answered("/a"));
	log.add(answered("/b"));
	expect(told).toEqual([]);
	await clock.advance(50);
	expect(told).toEqual([[answered("/a"), answered("/b")]]);
	for (let i = 0; i < 600; i++) log.add(answered(`/${i}`));
	await clock.advance(50);
	expect(told[1]).toHaveLength(500);
});
