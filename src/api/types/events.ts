/** `events.k8s.io/v1`: the newer words for an Event. The object is the same one as in `v1`. */
import type { EventSource } from "./core.ts";
import type { KubeObject, ObjectReference } from "./meta.ts";

export interface NewEvent extends KubeObject {
	/** MicroTime: six decimals. */
	readonly eventTime?: string | null;
	readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
	readonly reportingController?: string;
	readonly reportingInstance?: string;
	readonly action?: string;
	readonly reason?: string;
	readonly regarding?: ObjectReference;
	readonly related?: ObjectReference;
	readonly note?: string;
	readonly type?: string;
	readonly deprecatedSource?: EventSource;
	readonly deprecatedFirstTimestamp?: string | null;
	readonly deprecatedLastTimestamp?: string | null;
	readonly deprecatedCount?: number;
}
