import { describe, expect, test } from "vitest";
import { service } from "../../testing/builders.ts";
import { RecordingMetrics } from "../../testing/recording-metrics.ts";
import { EncodedObjects } from "./encoded-objects.ts";

const objects = Array.from({ length: 20 }, (_, index) => service(`service-${index}`));
const bytes = JSON.stringify(objects[0]).length;

describe("EncodedObjects", () => {
	test("makes the JSON of an object once, and gives the same bytes to all", () => {
		const metrics = new RecordingMetrics();
		const encoded = new EncodedObjects(metrics);
		const [object = service("none")] = objects;
		const first = encoded.jsonOf(object);
		expect(new TextDecoder().decode(first)).toBe(JSON.stringify(object));
		expect(encoded.jsonOf(object)).toBe(first);
		expect(metrics.values.get("sliceplane_object_encodings_total")).toBe(1);
	});

	test("keeps to its limit, and forgets what was not used for longest", () => {
		const encoded = new EncodedObjects(new RecordingMetrics(), bytes * 5 + 10);
		const [first = service("none"), second = service("none")] = objects;
		const firstBytes = encoded.jsonOf(first);
		const secondBytes = encoded.jsonOf(second);
		for (const object of objects.slice(2)) {
			encoded.jsonOf(object);
			encoded.jsonOf(first);
			expect(encoded.size).toBeLessThanOrEqual(bytes * 5 + 10);
		}
		expect(encoded.jsonOf(first)).toBe(firstBytes);
		expect(encoded.jsonOf(second)).not.toBe(secondBytes);
	});

	test("does not keep an object that would push most others out", () => {
		const encoded = new EncodedObjects(new RecordingMetrics(), bytes * 3);
		encoded.jsonOf(objects[0] ?? service("none"));
		expect(encoded.size).toBe(0);
	});
});
