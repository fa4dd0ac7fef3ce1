/**
 * When the change happened that a sync answers to, so that consumers can measure how long it took.
 *
 * Both endpoint controllers keep such a state per Service. What counts: the Service's creation and the
 * transitions of its Pods' Ready conditions. Deletions, addresses and labels of Pods do not.
 */
import type { Pod, Service } from "../api/types/core.ts";
import { readyConditionOf } from "./pod-facts.ts";

export interface TriggerTimes {
	readonly serviceMs: number;
	readonly pods: ReadonlyMap<string, PodTime>;
}

interface PodTime {
	/** As written, so that an unchanged one need not be read again. */
	readonly text: string;
	readonly ms: number;
}

export interface TriggerTimeStep {
	/** RFC 3339, UTC; undefined when nothing that counts has changed. */
	readonly triggerTime: string | undefined;
	/** What to pass next time for this Service. */
	readonly next: TriggerTimes;
}

/** `known` is undefined for a Service never seen before: the result is then its creation, whatever its Pods say. */
export function nextTriggerTime(
	known: TriggerTimes | undefined,
	service: Service,
	pods: readonly Pod[],
): TriggerTimeStep {
	const times = new Map<string, PodTime>();
	let earliestMs = Number.POSITIVE_INFINITY;
	for (const pod of pods) {
		const before = known?.pods.get(pod.metadata.name);
		const time = podTime(pod, before);
		if (time === undefined) continue;
		times.set(pod.metadata.name, time);
		if (time.ms > (before?.ms ?? Number.NEGATIVE_INFINITY)) earliestMs = Math.min(earliestMs, time.ms);
	}
	const serviceMs = Date.parse(service.metadata.creationTimestamp);
	if (serviceMs > (known?.serviceMs ?? 0)) earliestMs = Math.min(earliestMs, serviceMs);
	const triggerMs = known === undefined ? serviceMs : earliestMs;
	return {
		triggerTime: Number.isFinite(triggerMs) ? formatted(triggerMs) : undefined,
		next: { serviceMs, pods: times },
	};
}

/**
 * The same step, told only what has changed since the last one. Takes `known` for itself: it must not be used again.
 */
export function steppedTriggerTime(
	known: TriggerTimes,
	service: Service,
	{ changed, gone }: { readonly changed: readonly Pod[]; readonly gone: readonly string[] },
): TriggerTimeStep {
	const step = nextTriggerTime(known, service, changed);
	// Made by this module, out of a map that nobody else has.
	const pods = known.pods as Map<string, PodTime>;
	for (const name of gone) pods.delete(name);
	for (const { metadata } of changed) pods.delete(metadata.name);
	for (const [name, time] of step.next.pods) pods.set(name, time);
	return { ...step, next: { ...step.next, pods } };
}

function podTime(pod: Pod, before: PodTime | undefined): PodTime | undefined {
	const text = readyConditionOf(pod)?.lastTransitionTime;
	if (text === undefined) return undefined;
	if (text === before?.text) return before;
	const ms = Date.parse(text);
	return Number.isNaN(ms) ? undefined : { text, ms };
}

/** RFC 3339 without trailing zeros in the fraction. */
function formatted(ms: number): string {
	return new Date(ms).toISOString().replace(/\.?0*Z$/, "Z");
}
