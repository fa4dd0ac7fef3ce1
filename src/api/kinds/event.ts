/** Event (`v1`): what happened to an object. */
import { pathSegmentName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { Event } from "../types/core.ts";
import type { ObjectReference } from "../types/meta.ts";
import { EVENT_TABLE } from "./event-table.ts";
import { validateEvent } from "./event-validation.ts";

const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** The names of the fields by which Events are selected by what they are about. */
export function referenceLabels(field: string): readonly string[] {
	return REFERENCE_FIELDS.map((key) => `${field}.${key}`);
}

export function referenceFields(field: string, reference: ObjectReference): Readonly<Record<string, string>> {
	return Object.fromEntries(REFERENCE_FIELDS.map((key) => [`${field}.${key}`, reference[key] ?? ""]));
}

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
	fieldLabels: [...referenceLabels("involvedObject"), "reason", "reportingComponent", "source", "type"],
	table: EVENT_TABLE,
	withDefaults: (event) => ({
		...event,
		involvedObject: event.involvedObject ?? {},
		source: event.source ?? {},
		// Times without a value are printed as null.
		firstTimestamp: event.firstTimestamp ?? null,
		lastTimestamp: event.lastTimestamp ?? null,
		eventTime: event.eventTime ?? null,
		reportingComponent: event.reportingComponent ?? "",
		reportingInstance: event.reportingInstance ?? "",
	}),
	prepareCreate: (event) => event,
	prepareUpdate: (next) => next,
	validate: (event) => validateEvent(event),
	validateUpdate: (event) => validateEvent(event),
	warnings: () => [],
	fields(event) {
		const { involvedObject, reason = "", type = "", source, reportingComponent = "" } = event;
		return {
			...referenceFields("involvedObject", involvedObject),
			reason,
			reportingComponent,
			source: source?.component || reportingComponent,
			type,
		};
	},
});
