/** Steps that stop, pause and cut off components. */

import { SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../../api/well-known.ts";
import { isObject } from "../../kernel/json.ts";
import type { ClientCall } from "../../testing/faulty-client.ts";
import type { Component, StepValues } from "../format/steps.ts";
import { DEFAULT_NAMESPACE } from "../objects/drafts.ts";
import type { Controllers } from "../plane/controllers.ts";
import type { ScenarioDns } from "../plane/dns.ts";
import type { ScenarioProxy } from "../plane/proxy.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import type { ScenarioRun } from "../run.ts";

/** Components that are not built yet have nothing to stop: what is expected of them is pending. */
export async function stop({ plane }: ScenarioRun, { component, node }: StepValues["stop"]): Promise<void> {
	if (component === "controllers") await plane.controllers.stop();
	if (component === "apiserver") plane.setStopped(true);
	if (component === "proxy") await Promise.all(plane.proxies.of(node).map((proxy) => proxy.stop()));
	if (component === "dns") await plane.dns.stop();
}

export async function start({ plane }: ScenarioRun, { component, node }: StepValues["start"]): Promise<void> {
	if (component === "controllers") plane.controllers.start();
	if (component === "apiserver") plane.setStopped(false);
	if (component === "proxy") for (const proxy of plane.proxies.of(node)) proxy.start();
	if (component === "dns") plane.dns.start();
	await plane.clock.settle();
}

export async function restart(run: ScenarioRun, step: StepValues["restart"]): Promise<void> {
	await stop(run, step);
	for (const { faults } of partsOf(run, step)) {
		for (const kind of step.slow_lists ?? []) faults.slowList(typeOfKind(kind));
	}
	await start(run, step);
}

export function pause(run: ScenarioRun, step: StepValues["pause"]): void {
	for (const { faults } of partsOf(run, step)) faults.pause.close();
}

export async function resume(run: ScenarioRun, step: StepValues["resume"]): Promise<void> {
	for (const { faults } of partsOf(run, step)) faults.pause.open();
	await run.plane.clock.settle();
}

export function dropWatch(run: ScenarioRun, step: StepValues["drop_watch"]): void {
	for (const part of partsOf(run, step)) {
		part.faults.isCutOff = true;
		part.breakWatches();
	}
}

export async function restoreWatch(run: ScenarioRun, step: StepValues["restore_watch"]): Promise<void> {
	for (const { faults } of partsOf(run, step)) faults.isCutOff = false;
	await run.plane.clock.settle();
}

/** One sync of the node's proxies, whether anything has changed or not. */
export function proxySync({ plane }: ScenarioRun, { node }: StepValues["proxy_sync"]): void {
	for (const proxy of plane.proxies.of(node)) proxy.sync();
}

/** As if the client had reached the endpoint by the proxy of that node. */
export function affinityRecord(
	{ plane }: ScenarioRun,
	{ node, client, endpoint }: StepValues["affinity_record"],
): void {
	for (const { rules } of plane.proxies.of(node)) rules.remember(client, endpoint);
}

function partsOf(
	{ plane }: ScenarioRun,
	{ component, node }: { readonly component: Component; readonly node?: string },
): readonly (Controllers | ScenarioProxy | ScenarioDns)[] {
	if (component === "controllers") return [plane.controllers];
	if (component === "dns") return [plane.dns];
	return component === "proxy" ? plane.proxies.of(node) : [];
}

export async function gc({ plane }: ScenarioRun, what: StepValues["gc"]): Promise<void> {
	const { pause: gate } = plane.garbageCollector.faults;
	if (what === "pause") gate.close();
	else gate.open();
	await plane.clock.settle();
}

/** The write of the controllers that the step means is held back when the server has answered it. */
export function holdReply({ plane }: ScenarioRun, step: StepValues["hold_reply"]): void {
	const { kind, verb, ns = DEFAULT_NAMESPACE } = step;
	const verbs: readonly string[] = verb === "update" ? ["update", "patch"] : [verb];
	plane.controllers.faults.holdReply(
		(call, answer) =>
			call.resource.kind === kind && verbs.includes(call.verb) && call.namespace === ns && isMeant(call, answer, step),
	);
}

function isMeant(call: ClientCall, answer: unknown, step: StepValues["hold_reply"]): boolean {
	const written = isObject(answer) ? answer : {};
	const metadata = isObject(written["metadata"]) ? written["metadata"] : {};
	const labels = isObject(metadata["labels"]) ? metadata["labels"] : {};
	return (
		(step.name === undefined || step.name === (call.name === "" ? metadata["name"] : call.name)) &&
		(step.service === undefined || labels[SERVICE_NAME_LABEL] === step.service) &&
		(step.managedBy === undefined || labels[SLICE_MANAGED_BY_LABEL] === step.managedBy) &&
		(step.addressType === undefined || written["addressType"] === step.addressType)
	);
}
