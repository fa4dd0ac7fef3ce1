/** The row of an Event, the same in both of its groups. */
import { age } from "../age.ts";
import type { Cell, Column, Table } from "../resource.ts";
import type { Event } from "../types/core.ts";
import { column, wideColumn } from "./cells.ts";

export const EVENT_TABLE: Table<Event> = { columns: eventColumns(), cells: eventCells };

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
