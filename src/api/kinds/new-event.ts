/** Event (`events.k8s.io/v1`): the same stored object as the `v1` Event, in newer words. */
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType } from "../resource.ts";
import type { Event } from "../types/core.ts";
import type { NewEvent } from "../types/events.ts";
import { EVENT, referenceFields, referenceLabels } from "./event.ts";
import { EVENT_TABLE } from "./event-table.ts";
import { validateNewForm, validateNewFormUpdate } from "./event-validation.ts";

export const NEW_EVENT: ResourceType = defineResource<NewEvent>({
	group: "events.k8s.io",
	version: "v1",
	kind: "Event",
	plural: "events",
	singular: "event",
	namespaced: true,
	shortNames: ["ev"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: EVENT.storagePrefix,
	schema: "events.Event",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: true,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [...referenceLabels("regarding"), "reason", "reportingController", "type"],
	storedForm: { fromStored, toStored },
	table: { columns: EVENT_TABLE.columns, cells: (event, nowMs) => EVENT_TABLE.cells(toStored(event), nowMs) },
	withDefaults: (event) => fromStored(EVENT.withDefaults(toStored(event)) as Event),
	prepareCreate: (event) => event,
	prepareUpdate: (next) => next,
	validate: (event) => validateNewForm(toStored(event)),
	validateUpdate: (next, stored) => validateNewFormUpdate(toStored(next), toStored(stored)),
	warnings: () => [],
	fields: ({ regarding = {}, reason = "", reportingController = "", type = "" }) => ({
		...referenceFields("regarding", regarding),
		reason,
		reportingController,
		type,
	}),
});

function fromStored(object: Event): NewEvent {
	const { metadata, eventTime = null, series, action, reason, related, type, reportingInstance } = object;
	return {
		kind: "Event",
		apiVersion: "events.k8s.io/v1",
		metadata,
		eventTime,
		...present({
			series,
			// An empty text is not printed here, and is in `v1`.
			reportingController: object.reportingComponent || undefined,
			reportingInstance: reportingInstance || undefined,
			action,
			reason,
		}),
		regarding: object.involvedObject,
		...present({ related, note: object.message, type }),
		deprecatedSource: object.source ?? {},
		deprecatedFirstTimestamp: object.firstTimestamp ?? null,
		deprecatedLastTimestamp: object.lastTimestamp ?? null,
		...present({ deprecatedCount: object.count }),
	};
}

function toStored(event: NewEvent): Event {
	const { metadata, eventTime = null, series, action, reason, related, type } = event;
	return {
		kind: "Event",
		apiVersion: "v1",
		metadata,
		involvedObject: event.regarding ?? {},
		...present({ reason, message: event.note }),
		source: event.deprecatedSource ?? {},
		firstTimestamp: event.deprecatedFirstTimestamp ?? null,
		lastTimestamp: event.deprecatedLastTimestamp ?? null,
		...present({ count: event.deprecatedCount, type }),
		eventTime,
		...present({ series, action, related }),
		reportingComponent: event.reportingController ?? "",
		reportingInstance: event.reportingInstance ?? "",
	};
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(object: T): Present<T> {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>;
}
