/** Expectations of what the API answered, and of watches that stay open. */
import { isObject } from "../../kernel/json.ts";
import type { TestWatch } from "../../testing/test-watch.ts";
import type { HttpExpectation, StreamExpectation } from "../format/expectations.ts";
import { firstEvent, messageOf, type Reply } from "../reply.ts";
import type { ScenarioRun } from "../run.ts";
import { hasAll, pointed } from "./objects.ts";
import { type Problem, problem, unless } from "./verdict.ts";

export function judgeReply({ reply }: ScenarioRun, wanted: HttpExpectation): readonly Problem[] {
	if (reply === undefined) return [problem("http", wanted, "no request was sent")];
	const { code, body, warnings } = reply;
	const said = `${code} ${String(body["reason"] ?? "")} ${messageOf(reply)}`.trim();
	const items = Array.isArray(body["items"]) ? body["items"].length : 0;
	return [
		...unless(wanted.code === undefined || wanted.code === code, "http.code", wanted.code, said),
		...unless(wanted.code_in === undefined || wanted.code_in.includes(code), "http.code_in", wanted.code_in, said),
		...unless(wanted.reason === undefined || wanted.reason === body["reason"], "http.reason", wanted.reason, said),
		...(wanted.message_contains ?? []).flatMap((text) =>
			unless(messageOf(reply).includes(text), "http.message_contains", text, said),
		),
		...(wanted.body_has ?? []).flatMap((pointer) =>
			unless(!isEmpty(pointed(body, pointer)), `http.body_has ${pointer}`, "something", pointed(body, pointer)),
		),
		...(wanted.body_lacks ?? []).flatMap((pointer) =>
			unless(isEmpty(pointed(body, pointer)), `http.body_lacks ${pointer}`, "nothing", pointed(body, pointer)),
		),
		...unless(wanted.items === undefined || wanted.items === items, "http.items", wanted.items, items),
		...(wanted.first_event === undefined ? [] : judgeFirstEvent(wanted.first_event, reply)),
		...unless(
			wanted.warnings === undefined || hasAll(wanted.warnings.map(warningText), warnings),
			"http.warnings",
			wanted.warnings,
			warnings,
		),
	];
}

function judgeFirstEvent(
	{ type, object }: NonNullable<HttpExpectation["first_event"]>,
	reply: Reply,
): readonly Problem[] {
	const event = firstEvent(reply);
	const holds = event?.type === type && (object === undefined || hasAll(object, event.object));
	return unless(holds, "http.first_event", { type, object }, event);
}

/** A whole header is `299 - "TEXT"`. */
function warningText(header: string): string {
	const [, quoted] = /^\d{3} \S+ (".*")$/.exec(header) ?? [];
	return quoted === undefined ? header : quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1");
}

function isEmpty(value: unknown): boolean {
	if (value === undefined || value === null || value === "") return true;
	if (Array.isArray(value)) return value.length === 0;
	return isObject(value) && Object.keys(value).length === 0;
}

export function judgeStream(run: ScenarioRun, name: string, wanted: StreamExpectation): readonly Problem[] {
	const path = `streams.${name}`;
	const watch = run.streams.get(name);
	if (watch === undefined) return [problem(path, wanted, "no stream of that name was opened")];
	const { exact, not_types: notTypes = [], ended } = wanted;
	const types = watch.events.map(({ type }) => type);
	const state = watch.isEnded ? "clean" : "open";
	return [
		...(exact === undefined ? [] : judgeEvents(run, watch, exact, `${path}.exact`)),
		...unless(
			!types.some((type) => notTypes.includes(type)),
			`${path}.not_types`,
			`none of ${notTypes.join(", ")}`,
			types,
		),
		...unless(ended === undefined || ended === state, `${path}.ended`, ended, state),
	];
}

function judgeEvents(
	run: ScenarioRun,
	watch: TestWatch,
	wanted: NonNullable<StreamExpectation["exact"]>,
	path: string,
): readonly Problem[] {
	const events = watch.events.filter(({ type }) => type !== "BOOKMARK");
	const isSame =
		events.length === wanted.length &&
		wanted.every(({ type, name, version_of: saved }, index) => {
			const event = events[index];
			const { metadata } = event?.object ?? { metadata: {} };
			const version = saved === undefined ? undefined : run.saved.get(saved)?.[0]?.resourceVersion;
			return (
				event?.type === type &&
				(name === undefined || metadata.name === name) &&
				(saved === undefined || (version !== undefined && metadata.resourceVersion === version))
			);
		});
	const told = events.map(
		({ type, object }) => `${type} ${object.metadata.name ?? ""} @${object.metadata.resourceVersion ?? ""}`,
	);
	return unless(isSame, path, wanted, told.join("\n") || "no event");
}
