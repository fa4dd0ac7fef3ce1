import { expect, test } from "vitest";
import { costLine } from "./watch-cost.ts";

test("a line says what one watcher received, and what that makes for all nodes", () => {
	const cost = { seconds: 3, endpoints: { events: 1, bytes: 2048 }, endpointSlices: { events: 2, bytes: 100 } };
	expect(costLine(cost, 1000)).toBe(
		"3.0s  Endpoints 1 event 2.0 KiB, for 1000 nodes 2.0 MiB  EndpointSlices 2 events 100 B, for 1000 nodes 97.7 KiB",
	);
});
