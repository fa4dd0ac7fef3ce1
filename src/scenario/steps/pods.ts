/** Steps that make, change and delete Pods. */

import { apiVersionOf, keyOf } from "../../api/resource.ts";
import { PODS } from "../../api/resource-names.ts";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import type { Pod } from "../../api/types/core.ts";
import type { EndpointSlice } from "../../api/types/discovery.ts";
import { SERVICE_NAME_LABEL } from "../../api/well-known.ts";
import { groupBy, sortedBy } from "../../kernel/order.ts";
import type { PodShorthand, PodStep } from "../format/objects.ts";
import type { StepValues } from "../format/steps.ts";
import { DEFAULT_NAMESPACE, podDraft } from "../objects/drafts.ts";
import { changedPodStatus, newPodStatus } from "../objects/pod-status.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import { type ScenarioRun, StepError } from "../run.ts";
import { mustCreate, mustSend, namedPath, objectPath } from "./requests.ts";

/** Seconds: the Pod stays to the end of the scenario. */
const LONG_GRACE = 86_400;

export async function makePod(run: ScenarioRun, shorthand: PodShorthand): Promise<void> {
	const { body } = await mustCreate(run, podDraft(shorthand));
	const pod = body as object as Pod;
	run.podsMade.push(keyOf(pod));
	await writeStatus(run, pod, newPodStatus(shorthand, now(run)));
	if (shorthand.deleting !== true) return;
	await mustSend(run, "DELETE", objectPath(typeOfKind("Pod"), pod), { body: { gracePeriodSeconds: LONG_GRACE } });
}

/** Owners are there only after the Pods of a start state. An owner that there is not is left out. */
export async function adopt(run: ScenarioRun, shorthand: PodShorthand): Promise<void> {
	const { owner, name, ns = DEFAULT_NAMESPACE } = shorthand;
	if (owner === undefined) return;
	const [kind = "", ownerName = ""] = owner.split("/");
	const type = RESOURCE_TYPES.find((each) => each.kind === kind);
	const found = type === undefined ? [] : run.plane.stored(type, ns);
	const object = found.find(({ metadata }) => metadata.name === ownerName);
	if (type === undefined || object === undefined) return;
	const reference = {
		apiVersion: apiVersionOf(type),
		kind,
		name: ownerName,
		uid: object.metadata.uid,
		controller: true,
		blockOwnerDeletion: true,
	};
	await mustSend(run, "PATCH", namedPath({ kind: "Pod", ns, name }), {
		body: { metadata: { ownerReferences: [reference] } },
		contentType: "application/merge-patch+json",
	});
}

export async function pod(run: ScenarioRun, step: PodStep): Promise<void> {
	const { name, ns = DEFAULT_NAMESPACE, create } = step;
	if (create !== undefined) {
		const shorthand = { ...create, name, ns };
		await makePod(run, shorthand);
		return adopt(run, shorthand);
	}
	const stored = run.only({ kind: "Pod", ns, name }) as Pod;
	await writeStatus(run, stored, changedPodStatus(stored.status, step, now(run)));
}

export async function deletePods(run: ScenarioRun, step: StepValues["delete_pods"]): Promise<void> {
	for (const key of chosen(run, step)) {
		const [ns = "", name = ""] = key.split("/");
		await mustSend(run, "DELETE", namedPath({ kind: "Pod", ns, name }), { body: { gracePeriodSeconds: 0 } });
	}
}

/** Keys of the Pods that go. */
function chosen(run: ScenarioRun, step: StepValues["delete_pods"]): readonly string[] {
	const { match, keep, from_each_slice: fromEach, keep_one_per_slice: keepOne, match_slice_of: sliceOf } = step;
	const there = new Set(run.plane.stored(PODS, DEFAULT_NAMESPACE).map(keyOf));
	const made = run.podsMade.filter((key) => there.has(key));
	if (match !== undefined) return made.filter((key) => matches(match, key.slice(key.indexOf("/") + 1)));
	if (keep !== undefined) return made.slice(keep);
	const slices = podsOfSlices(run).map((pods) => pods.filter((key) => there.has(key)));
	if (fromEach !== undefined) return unique(slices.flatMap((pods) => pods.slice(0, fromEach)));
	if (keepOne === true) return unique(slices.flatMap((pods) => pods.slice(1)));
	const around = slices.filter((pods) => pods.includes(`${DEFAULT_NAMESPACE}/${sliceOf}`));
	if (around.length === 0) throw new StepError(`no slice has the Pod ${sliceOf}`);
	return unique(around.flat());
}

/** The Pods of each slice, in order of the slices' names and of their endpoints. */
function podsOfSlices(run: ScenarioRun): readonly (readonly string[])[] {
	const slices = run.plane.stored(typeOfKind("EndpointSlice"), DEFAULT_NAMESPACE) as readonly EndpointSlice[];
	const byService = groupBy(slices, ({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] ?? "");
	return [...byService.values()].flatMap((each) =>
		sortedBy(each, ({ metadata }) => metadata.name).map(({ endpoints }) =>
			(endpoints ?? []).flatMap(({ targetRef }) =>
				targetRef?.kind === "Pod" ? [`${targetRef.namespace ?? DEFAULT_NAMESPACE}/${targetRef.name ?? ""}`] : [],
			),
		),
	);
}

function unique(keys: readonly string[]): readonly string[] {
	return [...new Set(keys)];
}

/** `*` stands for any text. */
function matches(pattern: string, name: string): boolean {
	const parts = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
	return new RegExp(`^${parts.join(".*")}$`).test(name);
}

async function writeStatus(run: ScenarioRun, stored: Pod, status: object): Promise<void> {
	const { resourceVersion: _, ...metadata } = stored.metadata;
	const body = { ...stored, apiVersion: "v1", kind: "Pod", metadata, status };
	await mustSend(run, "PUT", objectPath(typeOfKind("Pod"), stored, "status"), { body });
}

/** RFC 3339, in whole seconds. */
function now({ plane }: ScenarioRun): string {
	return `${new Date(plane.clock.wallMs()).toISOString().slice(0, 19)}Z`;
}
