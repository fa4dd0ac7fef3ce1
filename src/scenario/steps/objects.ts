/** Steps that write objects. */
import { listIndex, pointerSteps } from "../../api/patch/json-pointer.ts";
import type { Node } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { storeKey } from "../../apiserver/ports.ts";
import { deepFreeze, isObject, ownValue } from "../../kernel/json.ts";
import type { CreateStep, ObjectShorthand, PutStep, ServiceShorthand, StoreRawStep } from "../format/objects.ts";
import type { StepValues } from "../format/steps.ts";
import { DEFAULT_NAMESPACE, draftOf, endpointsDraft, serviceDraft } from "../objects/drafts.ts";
import { repeated } from "../objects/repeat.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import { type ScenarioRun, StepError } from "../run.ts";
import { create, mustCreate, mustSend, namedPath, objectPath, PATCH_TYPES, send } from "./requests.ts";

export async function makeService(run: ScenarioRun, shorthand: ServiceShorthand): Promise<void> {
	await mustCreate(run, serviceDraft(shorthand), shorthand.uid);
	await writeServiceStatus(run, shorthand);
}

export async function createObject(run: ScenarioRun, step: CreateStep): Promise<void> {
	const shorthand = step.spec_as === "given" ? withGiven(run, step) : step;
	const query = "fieldManager" in step ? `?fieldManager=${encodeURIComponent(step.fieldManager ?? "")}` : "";
	run.reply = await create(run, draftOf(shorthand), { symbol: symbolOf(step), query });
	if (run.reply.code >= 400) return;
	if (shorthand.kind === "Service") await writeServiceStatus(run, shorthand);
	if (shorthand.kind === "Node" && run.plane.proxies.all.length > 0) {
		run.plane.startProxy(run.only({ kind: "Node", name: shorthand.name }) as Node, [], []);
	}
}

export async function putObject(run: ScenarioRun, step: PutStep): Promise<void> {
	const { resourceVersion } = step;
	const draft = draftOf(step);
	const metadata = { ...draft.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
	run.reply = await send(run, "PUT", namedPath(step), { body: { ...draft, metadata } });
}

export async function patchObject(run: ScenarioRun, step: StepValues["patch"]): Promise<void> {
	const contentType = PATCH_TYPES[step.type] ?? "";
	run.reply = await send(run, "PATCH", pathOf(run, step), { body: step.body, contentType });
}

/** Server-side apply of the whole shorthand. */
export async function applyObject(run: ScenarioRun, step: StepValues["ssa"]): Promise<void> {
	const query = new URLSearchParams({ fieldManager: step.fieldManager, force: String(step.force ?? false) });
	const request = { body: draftOf(step), contentType: PATCH_TYPES["apply"] ?? "" };
	run.reply = await send(run, "PATCH", `${namedPath(step)}?${query.toString()}`, request);
}

export async function deleteObject(run: ScenarioRun, step: StepValues["delete"]): Promise<void> {
	const { grace, gone, propagationPolicy } = step;
	const seconds = gone === true ? 0 : grace === undefined ? undefined : Math.round(grace / 1000);
	const body = {
		...(seconds === undefined ? {} : { gracePeriodSeconds: seconds }),
		...(propagationPolicy === undefined ? {} : { propagationPolicy }),
	};
	run.reply = await send(run, "DELETE", pathOf(run, step), { body });
}

/** Below validation and defaulting, as an old store would hold it. */
export async function storeRaw(run: ScenarioRun, step: StoreRawStep): Promise<void> {
	const object = step.remove === undefined ? rawEndpoints(run, step) : withoutField(run, step);
	const kind = step.remove === undefined ? "Endpoints" : step.kind;
	const type = typeOfKind(kind as "Endpoints");
	const { namespace = "", name } = object.metadata;
	const write = { kind: "put", space: type.storagePrefix, key: storeKey({ namespace, name }), object } as const;
	await run.plane.server.store.commit([write]);
	await run.plane.clock.settle();
}

async function writeServiceStatus(run: ScenarioRun, { name, ns, status_ip: ip }: ServiceShorthand): Promise<void> {
	if (ip === undefined) return;
	await mustSend(run, "PATCH", `${namedPath({ kind: "Service", name, ...(ns === undefined ? {} : { ns }) })}/status`, {
		body: { status: { loadBalancer: { ingress: [{ ip }] } } },
		contentType: "application/merge-patch+json",
	});
}

/** What the step does not name is as in the start state. */
function withGiven({ given }: ScenarioRun, step: CreateStep): ObjectShorthand {
	const { kind, name } = step;
	const ns = "ns" in step ? step.ns : undefined;
	const { services = [], services_repeat = [], slices = [], slices_repeat = [], endpoints, nodes } = given;
	const lists: Readonly<Record<string, readonly { readonly name: string; readonly ns?: string }[] | undefined>> = {
		Service: [...services, ...services_repeat.flatMap(repeated)],
		Endpoints: endpoints,
		EndpointSlice: [...slices, ...slices_repeat.flatMap(repeated)],
		Node: nodes,
	};
	const inNamespace = (each: string | undefined): string => each ?? DEFAULT_NAMESPACE;
	const before = lists[kind]?.find((each) => each.name === name && inNamespace(each.ns) === inNamespace(ns));
	if (before === undefined) throw new StepError(`spec_as: given: the start state has no ${kind} ${name}`);
	return { ...before, ...step };
}

function symbolOf(step: CreateStep): string | undefined {
	return "uid" in step ? step.uid : undefined;
}

/** By name the object need not exist: the server says so then. */
function pathOf(run: ScenarioRun, selector: StepValues["patch"] | StepValues["delete"]): string {
	const { kind, ns, name, service, managedBy, addressType, index } = selector;
	const isByName = [service, managedBy, addressType, index].every((each) => each === undefined);
	if (name !== undefined && isByName) return namedPath({ kind, name, ...(ns === undefined ? {} : { ns }) });
	return objectPath(typeOfKind(kind), run.only(selector));
}

function rawEndpoints(run: ScenarioRun, step: Extract<StoreRawStep, { kind: "Endpoints" }>): KubeObject {
	const draft = endpointsDraft(step);
	const uid = run.plane.server.server.ports.ids.uid();
	if (step.uid !== undefined) run.uids.set(step.uid, uid);
	const creationTimestamp = `${new Date(run.plane.clock.wallMs()).toISOString().slice(0, 19)}Z`;
	const namespace = step.ns ?? DEFAULT_NAMESPACE;
	const metadata = { ...draft.metadata, name: step.name, namespace, uid, creationTimestamp, resourceVersion: "" };
	return deepFreeze({ apiVersion: "v1", kind: "Endpoints", ...draft, metadata });
}

function withoutField(run: ScenarioRun, step: Extract<StoreRawStep, { remove: string }>): KubeObject {
	const { kind, ns = DEFAULT_NAMESPACE, name, remove } = step;
	const stored = run.only({ kind: kind as "Service", ns, name });
	const copy = structuredClone(stored);
	const steps = pointerSteps(remove) ?? [];
	const last = steps.at(-1) ?? "";
	const around = steps
		.slice(0, -1)
		.reduce<unknown>((value, key) => (value instanceof Object ? ownValue(value, key) : undefined), copy);
	const index = Array.isArray(around) ? listIndex(last, around.length) : undefined;
	if (Array.isArray(around) && index !== undefined) around.splice(index, 1);
	else if (isObject(around)) delete around[last];
	else throw new StepError(`${kind} ${name} has nothing at ${remove}`);
	return deepFreeze(copy);
}
