/** `pods/binding`: the scheduler's word on which node runs a Pod. */
import { badRequest, conflict, notFound, type Status } from "../../api/status.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import { isObject, ownValue } from "../../kernel/json.ts";
import type { Entry } from "../../store/entry.ts";
import type { ServerPorts, Target } from "../ports.ts";
import { storeKey } from "../ports.ts";
import { timestamp } from "../timestamp.ts";
import { commitPlan, planUpdate } from "../write-plan.ts";

/** @throws {ApiError} `Conflict` for a Pod that is deleted, gated, or bound already. */
export async function bindPod(ports: ServerPorts, target: Target, body: unknown, isDryRun: boolean): Promise<Status> {
	const nodeName = targetOf(body);
	for (;;) {
		const stored = ports.store.space(target.type.storagePrefix).get(storeKey(target));
		if (stored === undefined) throw notFound(target.type, target.name);
		requireBindable(target, stored);
		const pod = bound(stored.object as Pod, nodeName, timestamp(ports.clock.wallMs()));
		if (!isDryRun) {
			const plan = planUpdate(ports, target.type, stored, pod, false);
			const result = await commitPlan(ports, target.type, plan);
			if (result.kind !== "committed") continue;
		}
		return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
	}
}

function targetOf(body: unknown): string {
	const target = isObject(body) ? ownValue(body, "target") : undefined;
	const name = isObject(target) ? ownValue(target, "name") : undefined;
	if (typeof name === "string" && name !== "") return name;
	throw badRequest(
		'target.name: Required value: a Binding names the node, such as {"target":{"kind":"Node","name":"n1"}}',
	);
}

function requireBindable({ type, name }: Target, { object }: Entry): void {
	const { metadata, spec } = object as Pod;
	if (metadata.deletionTimestamp !== undefined) {
		throw conflict(type, name, `pod ${name} is being deleted, cannot be assigned to a host`);
	}
	if (spec.nodeName !== undefined && spec.nodeName !== "") {
		throw conflict(type, name, `pod ${name} is already assigned to node "${spec.nodeName}"`);
	}
	if ((spec.schedulingGates ?? []).length > 0) {
		throw conflict(type, name, `pod ${name} has non-empty .spec.schedulingGates`);
	}
}

function bound(pod: Pod, nodeName: string, at: string): Pod {
	const scheduled: Condition = {
		type: "PodScheduled",
		status: "True",
		lastProbeTime: null,
		lastTransitionTime: at,
		observedGeneration: pod.metadata.generation ?? 1,
	};
	const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
	return {
		...pod,
		spec: { ...pod.spec, nodeName },
		status: { ...pod.status, conditions: [...others, scheduled] },
	};
}
