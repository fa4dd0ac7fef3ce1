import { describe, expect, test } from "vitest";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { applyMeasurements, ForwardedMetrics } from "./data-plane-metrics.ts";

describe("ForwardedMetrics", () => {
	test("loses nothing and counts nothing twice on its way", () => {
		const [here, there] = [new ForwardedMetrics(), new RecordingMetrics()];
		const counter = here.counter({ name: "c", help: "", labelNames: ["result"] });
		const gauge = here.gauge({ name: "g", help: "" });
		counter.add(1, { result: "ok" });
		counter.add(2, { result: "ok" });
		counter.add(1, { result: "bad" });
		gauge.set(5);
		gauge.set(3);
		const first = here.take();
		expect(first).toHaveLength(3);
		applyMeasurements(there, first);
		counter.add(1, { result: "ok" });
		applyMeasurements(there, here.take());
		expect(Object.fromEntries(there.values)).toEqual({ "c{result=ok}": 4, "c{result=bad}": 1, g: 3 });
		expect(here.take()).toEqual([]);
	});
});
