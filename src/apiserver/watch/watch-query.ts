/** Where a watch starts, and what it sends first (api-protocol, "Watch"). */
import { type FieldError, forbidden, notSupported } from "../../api/field-error.ts";
import { invalidObject } from "../../api/status.ts";
import type { Revision } from "../../store/entry.ts";
import { parseResourceVersion } from "../verbs/list.ts";

export interface WatchQuery {
	readonly labelSelector?: string;
	readonly fieldSelector?: string;
	readonly resourceVersion?: string;
	readonly resourceVersionMatch?: string;
	readonly sendInitialEvents?: boolean;
	readonly allowWatchBookmarks: boolean;
	readonly timeoutSeconds?: number;
}

export interface WatchStart {
	/** Changes after this one are sent; undefined: after the newest. */
	readonly after: Revision | undefined;
	/** Every object that there is goes first, as ADDED. */
	readonly sendsInitialEvents: boolean;
	/** A bookmark marks the end of the initial events. */
	readonly marksInitialEventsEnd: boolean;
	/** The state must be at least this new before anything is sent. */
	readonly notOlderThan: Revision;
}

/** @throws {ApiError} `Invalid` for parameters that exclude each other, `BadRequest` for a bad resourceVersion. */
export function watchStart(query: WatchQuery): WatchStart {
	const problems = watchQueryProblems(query);
	if (problems.length > 0) throw invalidObject({ group: "meta.k8s.io", kind: "ListOptions" }, "", problems);
	const asked = parseResourceVersion(query.resourceVersion);
	const { allowWatchBookmarks, sendInitialEvents } = query;
	if (sendInitialEvents !== undefined) {
		return {
			after: sendInitialEvents || asked === 0 ? undefined : asked,
			sendsInitialEvents: sendInitialEvents,
			marksInitialEventsEnd: sendInitialEvents && allowWatchBookmarks,
			notOlderThan: asked,
		};
	}
	if (asked === 0) {
		return {
			after: undefined,
			sendsInitialEvents: true,
			marksInitialEventsEnd: allowWatchBookmarks,
			notOlderThan: 0,
		};
	}
	return { after: asked, sendsInitialEvents: false, marksInitialEventsEnd: false, notOlderThan: 0 };
}

function watchQueryProblems(query: WatchQuery): FieldError[] {
	const match = query.resourceVersionMatch ?? "";
	if (query.sendInitialEvents === undefined) {
		if (match === "") return [];
		const why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
		return [forbidden("resourceVersionMatch", why)];
	}
	if (match === "") {
		const why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
		return [forbidden("resourceVersionMatch", why)];
	}
	return match === "NotOlderThan" ? [] : [notSupported("resourceVersionMatch", match, ["NotOlderThan"])];
}
