/** Event (`v1`): what happened to an object. */
import { age } from "../age.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import { byteLength, pathSegmentName, qualifiedNameProblems } from "../names.ts";
import { ALL_VERBS, type Cell, type Column, defineResource, type ResourceType } from "../resource.ts";
import type { Event } from "../types/core.ts";
import { column, wideColumn } from "./cells.ts";

const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

export const EVENT: ResourceType = defineResource<Event>({
	group: "",
	version: "v1",
	kind: "Event",
	plural: "events",
	singular: "event",
	namespaced: true,
	shortNames: ["ev"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/events/",
	schema: "core.Event",
	nameProblems: pathSegmentName,
	generation: "never",
	createOnUpdate: true,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [
		...REFERENCE_FIELDS.map((key) => `involvedObject.${key}`),
		"reason",
		"reportingComponent",
		"source",
		"type",
	],
	table: { columns: eventColumns(), cells: eventCells },
	withDefaults: (event) => ({
		...event,
		involvedObject: event.involvedObject ?? {},
		source: event.source ?? {},
		eventTime: event.eventTime ?? null,
		reportingComponent: event.reportingComponent ?? "",
		reportingInstance: event.reportingInstance ?? "",
	}),
	prepareCreate: (event) => event,
	prepareUpdate: (next) => next,
	validate,
	validateUpdate: validate,
	warnings: () => [],
	fields(event) {
		const { involvedObject, reason = "", type = "", source, reportingComponent = "" } = event;
		return {
			...Object.fromEntries(REFERENCE_FIELDS.map((key) => [`involvedObject.${key}`, involvedObject[key] ?? ""])),
			reason,
			reportingComponent,
			source: source?.component || reportingComponent,
			type,
		};
	},
});

const WORD_BYTES_MAX = 128;
const MESSAGE_BYTES_MAX = 1024;

/** Events with an eventTime are of the newer form, with rules of its own. */
function validate(event: Event): readonly FieldError[] {
	const isNew = (event.eventTime ?? "") !== "";
	return [...validateNamespace(event, isNew), ...(isNew ? validateReport(event) : [])];
}

function validateNamespace(event: Event, isNew: boolean): readonly FieldError[] {
	const namespace = event.involvedObject.namespace ?? "";
	const forClusterScope = ["", "default", ...(isNew ? ["kube-system"] : [])];
	const own = event.metadata.namespace ?? "";
	const isRight = namespace === "" ? forClusterScope.includes(own) : isNew || own === namespace;
	return isRight ? [] : [invalid("involvedObject.namespace", namespace, "does not match event.namespace")];
}

function validateReport(event: Event): readonly FieldError[] {
	const { reportingComponent = "", message = "" } = event;
	return [
		...(reportingComponent === "" ? [required("reportingComponent", "")] : []),
		...invalids("reportingComponent", reportingComponent, qualifiedNameProblems(reportingComponent)),
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

function eventColumns(): readonly Column[] {
	return [
		column("Last Seen", "Time since this event was last seen."),
		column("Type", "Normal or Warning."),
		column("Reason", "Why this event was made, as one word for machines."),
		column("Object", "The object that this event is about."),
		wideColumn("Subobject", "The part of the object that this event is about."),
		wideColumn("Source", "Who reported this event, and from where."),
		column("Message", "What happened, for people."),
		wideColumn("First Seen", "Time since this event was first seen."),
		wideColumn("Count", "How often this event was seen."),
		{ ...wideColumn("Name", "Name must be unique within a namespace."), format: "name" },
	];
}

function eventCells(event: Event, nowMs: number): readonly Cell[] {
	const { involvedObject, series } = event;
	const first = event.firstTimestamp ?? event.eventTime;
	const last = series?.lastObservedTime ?? event.lastTimestamp ?? first;
	const kind = (involvedObject.kind ?? "").toLowerCase();
	const name = involvedObject.name ?? "";
	return [
		age(nowMs, last),
		event.type ?? "",
		event.reason ?? "",
		name === "" ? kind : `${kind}/${name}`,
		involvedObject.fieldPath ?? "",
		sourceCell(event),
		(event.message ?? "").trim(),
		age(nowMs, first),
		(series === undefined ? event.count : series.count) || 1,
		event.metadata.name,
	];
}

function sourceCell({ source, reportingComponent, reportingInstance }: Event): string {
	const component = source?.component || (reportingComponent ?? "");
	const instance = source?.host || (reportingInstance ?? "");
	return instance === "" ? component : `${component}, ${instance}`;
}
