import { keyOf } from "../api/resource.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { Logger } from "../kernel/logger.ts";
import { ignoredParts } from "../plan/service-map/slice-endpoints.ts";

/** A line for each part of a slice that no rules are made of. */
export function logIgnoredParts(slice: EndpointSlice, log: Logger): void {
	for (const why of ignoredParts(slice)) log.warn("Ignored of an EndpointSlice", { slice: keyOf(slice), why });
}
