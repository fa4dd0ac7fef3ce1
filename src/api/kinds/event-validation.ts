/** The rules of an Event. Both groups check the stored form, so paths are those of `v1`, but for the reporter. */
import { deepEqual } from "../../kernel/json.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import { byteLength, qualifiedNameProblems } from "../names.ts";
import type { Event } from "../types/core.ts";

const WORD_BYTES_MAX = 128;
const MESSAGE_BYTES_MAX = 1024;

/**
 * Events with an eventTime are of the newer form, with rules of its own.
 * @param reporter What the group calls the field of who reports.
 */
export function validateEvent(
	event: Event,
	reporter: "reportingComponent" | "reportingController" = "reportingComponent",
): readonly FieldError[] {
	const isNew = hasEventTime(event);
	return [...validateNamespace(event, isNew), ...(isNew ? validateReport(event, reporter) : [])];
}

function hasEventTime({ eventTime }: Event): boolean {
	return (eventTime ?? "") !== "";
}

function validateNamespace(event: Event, isNew: boolean): readonly FieldError[] {
	const namespace = event.involvedObject.namespace ?? "";
	const forClusterScope = ["", "default", ...(isNew ? ["kube-system"] : [])];
	const own = event.metadata.namespace ?? "";
	const isRight = namespace === "" ? forClusterScope.includes(own) : isNew || own === namespace;
	return isRight ? [] : [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}

function validateReport(event: Event, reporter: string): readonly FieldError[] {
	const { reportingComponent = "", message = "" } = event;
	return [
		...(reportingComponent === "" ? [required(reporter, "")] : []),
		...invalids(reporter, reportingComponent, qualifiedNameProblems(reportingComponent)),
		...(["reportingInstance", "action", "reason"] as const).flatMap((key) => {
			const word = event[key] ?? "";
			return word === "" ? [required(key, "")] : validateLength(key, word, WORD_BYTES_MAX);
		}),
		...validateLength("message", message, MESSAGE_BYTES_MAX),
	];
}

/** The value is not shown: it is too long for that. */
function validateLength(field: string, text: string, bytesMax: number): readonly FieldError[] {
	return byteLength(text) > bytesMax ? [invalid(field, "", `can have at most ${bytesMax} characters`)] : [];
}

/** What `events.k8s.io` asks of a new Event beside the rules of both groups. */
export function validateNewForm(event: Event): readonly FieldError[] {
	const { type = "", count = 0, source } = event;
	const isSourced = (source?.component ?? "") !== "" || (source?.host ?? "") !== "";
	const unset = (field: string, isSet: boolean): readonly FieldError[] =>
		isSet ? [invalid(field, "", "needs to be unset")] : [];
	return [
		...validateEvent(event, "reportingController"),
		...validateSeries(event),
		...(hasEventTime(event) ? [] : [required("eventTime", "")]),
		...(type === "Normal" || type === "Warning" ? [] : [invalid("type", "", `has invalid value: ${type}`)]),
		...unset("firstTimestamp", (event.firstTimestamp ?? "") !== ""),
		...unset("lastTimestamp", (event.lastTimestamp ?? "") !== ""),
		...unset("count", count !== 0),
		...unset("source", isSourced),
	];
}

function validateSeries({ series }: Event): readonly FieldError[] {
	if (series === undefined) return [];
	return [
		...((series.count ?? 0) < 2 ? [invalid("series.count", "", "should be at least 2")] : []),
		...((series.lastObservedTime ?? "") === "" ? [required("series.lastObservedTime", "")] : []),
	];
}

const FIXED = [
	"involvedObject",
	"reason",
	"message",
	"source",
	"firstTimestamp",
	"lastTimestamp",
	"count",
	"type",
	"eventTime",
	"action",
	"related",
	"reportingComponent",
	"reportingInstance",
] as const satisfies readonly (keyof Event)[];

/** In `events.k8s.io` an Event is a fact: only how often it was seen may change. */
export function validateNewFormUpdate(next: Event, stored: Event): readonly FieldError[] {
	return [
		...validateEvent(next, "reportingController"),
		...(deepEqual(next.series, stored.series) ? [] : validateSeries(next)),
		...FIXED.filter((key) => !deepEqual(next[key], stored[key])).map((key) => {
			const field = key === "reportingComponent" ? "reportingController" : key;
			return invalid(field, next[key], "field is immutable");
		}),
	];
}
