/** Steps that stop, pause and cut off components. */

import { SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL } from "../../api/well-known.ts";
import { isObject } from "../../kernel/json.ts";
import type { ClientCall } from "../../testing/faulty-client.ts";
import type { StepValues } from "../format/steps.ts";
import { DEFAULT_NAMESPACE } from "../objects/drafts.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import type { ScenarioRun } from "../run.ts";

/** Components that are not built yet have nothing to stop: what is expected of them is pending. */
export async function stop({ plane }: ScenarioRun, { component }: StepValues["stop"]): Promise<void> {
	if (component === "controllers") await plane.controllers.stop();
	if (component === "apiserver") plane.setStopped(true);
}

export async function start({ plane }: ScenarioRun, { component }: StepValues["start"]): Promise<void> {
	if (component === "controllers") plane.controllers.start();
	if (component === "apiserver") plane.setStopped(false);
	await plane.clock.settle();
}

export async function restart(run: ScenarioRun, step: StepValues["restart"]): Promise<void> {
	await stop(run, step);
	for (const kind of step.slow_lists ?? []) run.plane.controllers.faults.slowList(typeOfKind(kind));
	await start(run, step);
}

export async function pause({ plane }: ScenarioRun, { component }: StepValues["pause"]): Promise<void> {
	if (component === "controllers") plane.controllers.faults.pause.close();
}

export async function resume({ plane }: ScenarioRun, { component }: StepValues["resume"]): Promise<void> {
	if (component === "controllers") plane.controllers.faults.pause.open();
	await plane.clock.settle();
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
