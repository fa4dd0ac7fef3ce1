import { expect, test } from "vitest";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { StringMap } from "../api/types/meta.ts";
import { ENDPOINTSLICE_CONTROLLER, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../api/well-known.ts";
import { SliceTracker } from "../plan/endpointslice/slice-tracker.ts";
import { podRange, sliceOf } from "../testing/slice-worlds.ts";
import { sliceHandlers } from "./slice-events.ts";

const OWN: StringMap = { [SERVICE_NAME_LABEL]: "web", [SLICE_MANAGED_BY_LABEL]: ENDPOINTSLICE_CONTROLLER };

function labelled(labels: StringMap): EndpointSlice {
	const slice = sliceOf("a", podRange(0, 1));
	return { ...slice, metadata: { ...slice.metadata, generation: 1, labels } };
}

test.each<[string, StringMap]>([
	["another Service's name", { ...OWN, [SERVICE_NAME_LABEL]: "api" }],
	["another manager", { ...OWN, [SLICE_MANAGED_BY_LABEL]: "example.org/hand" }],
])("a Service does not wait for a slice that a user gave %s", (_, labels) => {
	const tracker = new SliceTracker();
	const woken: string[] = [];
	const handlers = sliceHandlers({
		manager: ENDPOINTSLICE_CONTROLLER,
		tracker,
		enqueue: (key) => woken.push(key),
		onNameless: () => undefined,
	});
	tracker.wrote(labelled(OWN));
	expect(tracker.isStale("default/web", [])).toBe(true);
	handlers.updated?.(labelled(OWN), labelled(labels));
	expect(tracker.isStale("default/web", [])).toBe(false);
	expect(woken).toContain("default/web");
});
