/** `pods/binding`: the scheduler's word on which node runs a Pod. */
import { decodeObject } from "../../api/schema/decode.ts";
import { badRequest, conflict, notFound, type ResourceWords, type Status } from "../../api/status.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Condition, ObjectMeta, ObjectReference, StringMap } from "../../api/types/meta.ts";
import type { Entry } from "../../store/entry.ts";
import type { ServerPorts, Target } from "../ports.ts";
import { storeKey } from "../ports.ts";
import { timestamp } from "../timestamp.ts";
import { commitPlan, planUpdate } from "../write-plan.ts";

/** @throws {ApiError} `Conflict` for a Pod that is deleted, gated, or bound already. */
export async function bindPod(ports: ServerPorts, target: Target, body: unknown, isDryRun: boolean): Promise<Status> {
	const binding = bindingOf(target, body);
	for (;;) {
		const stored = ports.store.space(target.type.storagePrefix).get(storeKey(target));
		if (stored === undefined) throw notFound(target.type, target.name);
		requireBindable(target, stored, binding);
		const pod = bound(stored.object as Pod, binding, timestamp(ports.clock.wallMs()));
		if (!isDryRun) {
			const plan = planUpdate(ports, target.type, stored, pod, false);
			const result = await commitPlan(ports, target.type, plan);
			if (result.kind !== "committed") continue;
		}
		return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
	}
}

interface Binding {
	readonly nodeName: string;
	/** Of the Pod that is meant; "" takes whichever has the name. */
	readonly uid: string;
	/** The Pod gets these beside its own. */
	readonly labels: StringMap | undefined;
	readonly annotations: StringMap | undefined;
}

/** @throws {ApiError} `BadRequest` */
function bindingOf({ name }: Target, body: unknown): Binding {
	const decoded = decodeObject("core.Binding", body, { apiVersion: "v1", kind: "Binding" });
	if (decoded.kind === "wrong") throw badRequest(decoded.message);
	const { metadata = {}, target } = decoded.object as {
		readonly metadata?: Partial<ObjectMeta>;
		readonly target?: ObjectReference;
	};
	if ((metadata.name ?? name) !== name) throw badRequest("name in URL does not match name in Binding object");
	const nodeName = target?.name ?? "";
	const { uid = "", labels, annotations } = metadata;
	if (nodeName !== "") return { nodeName, uid, labels, annotations };
	throw badRequest(
		'target.name: Required value: a Binding names the node, such as {"target":{"kind":"Node","name":"n1"}}',
	);
}

/** What a real server calls the resource when a Pod cannot be bound; a wrong uid is the Pod's own matter. */
const BINDING_WORDS: ResourceWords = { group: "", plural: "pods/binding", kind: "Binding" };

function requireBindable({ type, name }: Target, { object }: Entry, { uid }: Binding): void {
	const { metadata, spec } = object as Pod;
	if (uid !== "" && uid !== metadata.uid) {
		const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
		throw conflict(type, name, why);
	}
	if (metadata.deletionTimestamp !== undefined) {
		throw conflict(BINDING_WORDS, name, `pod ${name} is being deleted, cannot be assigned to a host`);
	}
	if (spec.nodeName !== undefined && spec.nodeName !== "") {
		throw conflict(BINDING_WORDS, name, `pod ${name} is already assigned to node "${spec.nodeName}"`);
	}
	if ((spec.schedulingGates ?? []).length > 0) {
		throw conflict(BINDING_WORDS, name, `pod ${name} has non-empty .spec.schedulingGates`);
	}
}

function bound(pod: Pod, { nodeName, labels, annotations }: Binding, at: string): Pod {
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
		metadata: {
			...pod.metadata,
			...(labels === undefined ? {} : { labels: { ...pod.metadata.labels, ...labels } }),
			...(annotations === undefined ? {} : { annotations: { ...pod.metadata.annotations, ...annotations } }),
		},
		spec: { ...pod.spec, nodeName },
		status: { ...pod.status, conditions: [...others, scheduled] },
	};
}
