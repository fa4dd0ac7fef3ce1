/** Expectations of what the controllers did and said: writes, Events, retries, health, logs. */
import { EVENTS } from "../../api/resource-names.ts";
import type { Event } from "../../api/types/core.ts";
import type { Expectations, LogExpectation } from "../format/expectations.ts";
import type { Kind } from "../format/vocabulary.ts";
import { DEFAULT_NAMESPACE } from "../objects/drafts.ts";
import type { CountedVerb } from "../plane/write-counts.ts";
import type { ScenarioRun } from "../run.ts";
import { countFits } from "./counts.ts";
import { type Problem, problem, unless } from "./verdict.ts";

const VERBS: readonly CountedVerb[] = ["create", "update", "delete"];

export function judgeWrites({ plane }: ScenarioRun, expected: NonNullable<Expectations["writes"]>): readonly Problem[] {
	return Object.entries(expected).flatMap(([kind, wanted]) => {
		const found = (verb: CountedVerb): number => plane.counts.of(kind as Kind, verb);
		const any = VERBS.reduce((sum, verb) => sum + found(verb), 0);
		return Object.entries(wanted).flatMap(([verb, count]) => {
			const number = verb === "any" ? any : found(verb as CountedVerb);
			return unless(countFits(count, number), `writes.${kind}.${verb}`, count, number);
		});
	});
}

export function judgeEvents({ plane }: ScenarioRun, expected: NonNullable<Expectations["events"]>): readonly Problem[] {
	const events = plane.stored(EVENTS) as readonly Event[];
	return expected.flatMap((wanted, index) => {
		const { object, type, reason, message_contains: texts = [] } = wanted;
		const isMeant = (event: Event): boolean => {
			const { kind = "", name = "" } = event.involvedObject;
			return (
				(object === undefined || object === `${kind}/${name}`) &&
				(type === undefined || event.type === type) &&
				event.reason === reason &&
				texts.every((text) => (event.message ?? "").includes(text))
			);
		};
		const told = events.map(({ involvedObject, type: each, reason: why, message }) => {
			return `${involvedObject.kind}/${involvedObject.name} ${each} ${why}: ${message}`;
		});
		return unless(events.some(isMeant), `events[${index}]`, wanted, told.join("\n") || "no Event");
	});
}

/** Upstream's name of the queue whose keys are Services. */
const SLICE_QUEUE = "endpoint_slice";

export function judgeRetrying(
	{ plane }: ScenarioRun,
	expected: NonNullable<Expectations["retrying"]>,
): readonly Problem[] {
	const keys = plane.controllers.retrying(SLICE_QUEUE);
	return Object.entries(expected).flatMap(([service, wanted]) => {
		const isRetrying = keys.includes(service.includes("/") ? service : `${DEFAULT_NAMESPACE}/${service}`);
		return unless(isRetrying === wanted, `retrying.${service}`, wanted, isRetrying);
	});
}

export function judgeHealth({ plane }: ScenarioRun, part: string, wanted: "ready" | "not-ready"): readonly Problem[] {
	const parts = { proxy: plane.proxies.all, dns: [plane.dns] }[part] ?? [plane.controllers];
	const found = parts.every(({ isReady }) => isReady) ? "ready" : "not-ready";
	return unless(found === wanted, `health.${part}`, wanted, found);
}

export function judgeLog({ plane }: ScenarioRun, wanted: LogExpectation, path: string): readonly Problem[] {
	const { component, node = "", started_as: name, contains, after = 0, before = Number.POSITIVE_INFINITY } = wanted;
	const logs = {
		proxy: plane.proxies.get(node, name)?.log,
		dns: plane.dns.log,
		apiserver: plane.apiLog,
		controllers: plane.controllers.log,
	};
	const lines = logs[component]?.lines ?? [];
	const holds = lines.some(
		({ atMs, text }) =>
			atMs >= after && atMs <= before && contains.every((part) => text.toLowerCase().includes(part.toLowerCase())),
	);
	return holds
		? []
		: [problem(path, wanted, lines.map(({ atMs, text }) => `+${atMs}ms ${text}`).join("\n") || "no line")];
}
