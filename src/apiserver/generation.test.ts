import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICE } from "../api/kinds/endpoint-slice.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { ObjectMeta } from "../api/types/meta.ts";
import { podRange, sliceOf } from "../testing/slice-worlds.ts";
import { raisesGeneration } from "./generation.ts";

const stored = sliceOf("a", podRange(0, 1));
const withMeta = (metadata: Partial<ObjectMeta>): EndpointSlice => ({
	...stored,
	metadata: { ...stored.metadata, ...metadata },
});

describe("the generation of an EndpointSlice", () => {
	test.each<[string, EndpointSlice, boolean]>([
		["rises with its endpoints", { ...stored, endpoints: null }, true],
		["rises with its ports", { ...stored, ports: null }, true],
		["rises with its labels", withMeta({ labels: { a: "b" } }), true],
		["stays with its annotations", withMeta({ annotations: { a: "b" } }), false],
		["stays with its owners", withMeta({ ownerReferences: [] }), false],
		["stays with nothing", stored, false],
	])("%s", (_, next, rises) => {
		expect(raisesGeneration(ENDPOINT_SLICE, next, stored)).toBe(rises);
	});
});
