import { describe, expect, test } from "vitest";
import { errorTexts, metadataOf } from "../../testing/api-objects.ts";
import type { Event } from "../types/core.ts";
import type { NewEvent } from "../types/events.ts";
import { EVENT } from "./event.ts";
import { NEW_EVENT } from "./new-event.ts";

const GOOD: Partial<NewEvent> = {
	eventTime: "2026-01-01T00:00:00.000000Z",
	reportingController: "example.com/x",
	reportingInstance: "x-1",
	action: "Binding",
	reason: "Bound",
	type: "Normal",
	regarding: { kind: "Pod", namespace: "default", name: "web" },
	note: "It is bound",
};

function newEvent(parts: Partial<NewEvent>): NewEvent {
	const object = { apiVersion: "events.k8s.io/v1", kind: "Event", metadata: metadataOf("x"), ...GOOD, ...parts };
	return NEW_EVENT.withDefaults(object) as NewEvent;
}

describe("an Event in newer words", () => {
	test.each<{ rule: string; parts: Partial<NewEvent>; errors: readonly string[] }>([
		{ rule: "a good one", parts: {}, errors: [] },
		{ rule: "has a time", parts: { eventTime: null }, errors: ["eventTime: Required value"] },
		{
			rule: "has a reporter",
			parts: { reportingController: "" },
			errors: [
				"reportingController: Required value",
				expect.stringContaining("reportingController: Invalid value"),
				expect.stringContaining("reportingController: Invalid value"),
			],
		},
		{
			rule: "is normal or a warning",
			parts: { type: "Bad" },
			errors: ['type: Invalid value: "": has invalid value: Bad'],
		},
		{
			rule: "says nothing in old words",
			parts: {
				deprecatedCount: 1,
				deprecatedSource: { component: "x" },
				deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
			},
			errors: [
				'firstTimestamp: Invalid value: "": needs to be unset',
				'count: Invalid value: "": needs to be unset',
				'source: Invalid value: "": needs to be unset',
			],
		},
		{
			rule: "a series starts at two",
			parts: { series: { count: 1 } },
			errors: ['series.count: Invalid value: "": should be at least 2', "series.lastObservedTime: Required value"],
		},
	])("$rule", ({ parts, errors }) => {
		expect(errorTexts(NEW_EVENT.validate(newEvent(parts)))).toEqual(errors);
	});

	test("only its series may change", () => {
		const series = { count: 2, lastObservedTime: "2026-01-01T00:01:00.000000Z" };
		expect(NEW_EVENT.validateUpdate(newEvent({ series }), newEvent({}))).toEqual([]);
		expect(
			errorTexts(NEW_EVENT.validateUpdate(newEvent({ note: "other", series: { count: 1 } }), newEvent({}))),
		).toEqual([
			'series.count: Invalid value: "": should be at least 2',
			"series.lastObservedTime: Required value",
			'message: Invalid value: "other": field is immutable',
		]);
	});

	test("each field has a place in both shapes", () => {
		const stored = EVENT.withDefaults({
			apiVersion: "v1",
			kind: "Event",
			metadata: metadataOf("x"),
			involvedObject: { kind: "Pod", name: "web" },
			reason: "R",
			message: "m",
			source: { component: "c", host: "h" },
			firstTimestamp: "2026-01-01T00:00:00Z",
			lastTimestamp: "2026-01-01T00:00:01Z",
			count: 3,
			type: "Normal",
			eventTime: "2026-01-01T00:00:00.000000Z",
			series: { count: 2, lastObservedTime: "2026-01-01T00:00:00.000000Z" },
			action: "A",
			related: { kind: "Node", name: "n1" },
			reportingComponent: "c",
			reportingInstance: "i",
		} as Event);
		const shown = NEW_EVENT.storedForm?.fromStored(stored) ?? stored;
		expect(shown).toMatchObject({
			apiVersion: "events.k8s.io/v1",
			regarding: { kind: "Pod", name: "web" },
			note: "m",
			deprecatedSource: { component: "c", host: "h" },
			deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
			deprecatedLastTimestamp: "2026-01-01T00:00:01Z",
			deprecatedCount: 3,
			reportingController: "c",
		});
		expect(NEW_EVENT.storedForm?.toStored(shown)).toEqual(stored);
	});
});
