/** Which Endpoints are copied into slices: those that somebody made by hand, for a Service without selector. */
import type { Endpoints, Service } from "../../api/types/core.ts";
import { LEADER_ANNOTATION, SKIP_MIRROR_LABEL } from "../../api/well-known.ts";
import { ownValue } from "../../kernel/json.ts";
import { selectorOf } from "../service-selector.ts";

/** Neither told to be left alone, nor the lock of a leader election. */
export function mayBeMirrored({ metadata }: Endpoints): boolean {
	const { labels = {}, annotations = {} } = metadata;
	return ownValue(labels, SKIP_MIRROR_LABEL) !== "true" && ownValue(annotations, LEADER_ANNOTATION) === undefined;
}

/** The Service's type and addresses play no part. */
export function wantsMirror(service: Service): boolean {
	return selectorOf(service) === undefined;
}
