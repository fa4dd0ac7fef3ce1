/** Writes the start state, in the format's order, before the controllers start. */
import { NODES } from "../../api/resource-names.ts";
import type { Node } from "../../api/types/core.ts";
import type { Repeat } from "../format/objects.ts";
import type { Given, Scenario } from "../format/scenario-file.ts";
import type { Raw } from "../format/vocabulary.ts";
import { DEFAULT_NAMESPACE, type Draft, endpointsDraft, nodeDraft, sliceDraft } from "../objects/drafts.ts";
import { repeated } from "../objects/repeat.ts";
import type { NamedFlow } from "../plane/proxy.ts";
import type { ScenarioRun } from "../run.ts";
import { proxyNames, usesDns, usesProxies } from "../uses.ts";
import { makeService } from "./objects.ts";
import { adopt, makePod } from "./pods.ts";
import { mustCreate } from "./requests.ts";

const DEFAULT_NODES = [{ name: "n1" }, { name: "n2" }, { name: "n3" }];

/** @throws {StepError} When the server refuses an object of it. */
export async function writeStartState(run: ScenarioRun, scenario: Scenario): Promise<void> {
	const { given } = run;
	const services = all(given.services, given.services_repeat);
	const pods = all(given.pods, given.pods_repeat);
	const slices = all(given.slices, given.slices_repeat);
	const raw = (given.raw ?? []).map(draftOfRaw);
	for (const name of namespacesOf(given, [...services, ...pods, ...slices, ...(given.endpoints ?? [])], raw)) {
		await mustCreate(run, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
	}
	for (const node of given.nodes ?? DEFAULT_NODES) await mustCreate(run, nodeDraft(node));
	for (const service of services) await makeService(run, service);
	for (const pod of pods) await makePod(run, pod);
	for (const endpoints of given.endpoints ?? []) await mustCreate(run, endpointsDraft(endpoints), endpoints.uid);
	for (const slice of slices) await mustCreate(run, sliceDraft(slice), slice.uid);
	for (const object of raw) await mustCreate(run, object);
	for (const pod of pods) await adopt(run, pod);
	run.plane.startControllers();
	await run.plane.clock.settle();
	// Flows of the start state go to endpoints that there are.
	if (usesProxies(scenario)) startProxies(run, proxyNames(scenario));
	if (usesDns(scenario)) run.plane.dns.start();
	await run.plane.clock.settle();
}

/** The connection table that a scenario gives is that of this node. */
const NODE_OF_FLOWS = "n1";

function startProxies({ plane, given }: ScenarioRun, names: ReadonlyMap<string, readonly string[]>): void {
	const flows = (given.conntrack ?? []).map(flowOf);
	for (const node of plane.stored(NODES) as readonly Node[]) {
		const { name } = node.metadata;
		plane.startProxy(node, names.get(name) ?? [], name === NODE_OF_FLOWS ? flows : []);
	}
}

function flowOf(raw: Raw): NamedFlow {
	return {
		id: String(raw["id"]),
		protocol: raw["proto"] === "tcp" ? "tcp" : "udp",
		originalDestination: String(raw["orig_dst"]),
		replySource: String(raw["reply_src"]),
	};
}

/** One by one, and those that stand for many. */
function all<T extends object>(single: readonly T[] = [], many: readonly Repeat<T>[] = []): readonly T[] {
	return [...single, ...many.flatMap(repeated)] as readonly T[];
}

/** Those that are named, and those that objects are in; but for those that every plane has. */
function namespacesOf(
	{ namespaces = [] }: Given,
	objects: readonly { readonly ns?: string }[],
	raw: readonly Draft[],
): ReadonlySet<string> {
	const used = objects.map(({ ns }) => ns ?? DEFAULT_NAMESPACE);
	const ofRaw = raw.flatMap(({ metadata }) =>
		typeof metadata["namespace"] === "string" ? [metadata["namespace"]] : [],
	);
	const all = new Set([DEFAULT_NAMESPACE, ...namespaces, ...used, ...ofRaw]);
	for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) all.delete(name);
	for (const { kind, metadata } of raw) if (kind === "Namespace") all.delete(String(metadata["name"]));
	return all;
}

function draftOfRaw(object: Readonly<Record<string, unknown>>): Draft {
	const { metadata } = object;
	return { ...object, metadata: typeof metadata === "object" && metadata !== null ? { ...metadata } : {} };
}
