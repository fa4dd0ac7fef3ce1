/** The runner's own requests: what a person with kubectl would send. */

import { apiVersionOf, type ResourceType } from "../../api/resource.ts";
import { resourceOfKind } from "../../api/resource-table.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import { resourcePath } from "../../edge/resource-path.ts";
import type { TestRequest } from "../../testing/test-server.ts";
import type { ObjectShorthand } from "../format/objects.ts";
import { DEFAULT_NAMESPACE, type Draft } from "../objects/drafts.ts";
import { typeOfKind } from "../plane/scenario-plane.ts";
import { messageOf, type Reply, replyOf } from "../reply.ts";
import { type ScenarioRun, StepError } from "../run.ts";

export const PATCH_TYPES: Readonly<Record<string, string>> = {
	merge: "application/merge-patch+json",
	json: "application/json-patch+json",
	strategic: "application/strategic-merge-patch+json",
	apply: "application/apply-patch+yaml",
};

/** Sends it, writes it into the trace, and lets everything happen that needs no time. */
export async function send(run: ScenarioRun, method: string, path: string, request: TestRequest = {}): Promise<Reply> {
	const reply = replyOf(await run.plane.server.exchange(method, path, request));
	const outcome = reply.code < 400 ? String(reply.code) : `${reply.code} ${messageOf(reply)}`;
	if (method !== "GET") run.plane.trace.wrote("runner", method.toLowerCase(), path, outcome);
	await run.plane.clock.settle();
	return reply;
}

/** @throws {StepError} When the server refuses what the scenario takes for granted. */
export async function mustSend(
	run: ScenarioRun,
	method: string,
	path: string,
	request: TestRequest = {},
): Promise<Reply> {
	const reply = await send(run, method, path, request);
	if (reply.code >= 400) throw new StepError(`${method} ${path}: ${reply.code} ${messageOf(reply)}`);
	return reply;
}

/** Posts the draft. @param symbol Stands for the uid that the server makes. */
export async function create(
	run: ScenarioRun,
	draft: Draft,
	{ symbol, query = "" }: { readonly symbol?: string | undefined; readonly query?: string } = {},
): Promise<Reply> {
	const reply = await send(run, "POST", `${collectionPath(run, draft)}${query}`, { body: draft });
	const uid = uidIn(reply);
	if (symbol !== undefined && uid !== undefined) run.uids.set(symbol, uid);
	return reply;
}

/** @throws {StepError} When the server refuses it. */
export async function mustCreate(run: ScenarioRun, draft: Draft, symbol?: string): Promise<Reply> {
	const reply = await create(run, draft, { symbol });
	if (reply.code < 400) return reply;
	throw new StepError(`${String(draft["kind"])} ${String(draft.metadata["name"])}: ${reply.code} ${messageOf(reply)}`);
}

export function objectPath(type: ResourceType, object: KubeObject, subresource = ""): string {
	const { namespace = "", name } = object.metadata;
	return resourcePath(type, { namespace, name, subresource });
}

/** Where an object that may not exist would be. */
export function namedPath({
	kind,
	ns = DEFAULT_NAMESPACE,
	name,
}: {
	kind: ObjectShorthand["kind"] | "Pod";
	ns?: string;
	name: string;
}): string {
	const type = typeOfKind(kind);
	return resourcePath(type, { namespace: type.namespaced ? ns : "", name });
}

/** @throws {StepError} For a kind that is not served. */
function typeOfDraft(run: ScenarioRun, draft: Draft): ResourceType {
	const [apiVersion, kind] = [String(draft["apiVersion"]), String(draft["kind"])];
	const custom = run.plane.server.server.customTypes.list;
	const type =
		resourceOfKind(apiVersion, kind) ?? custom.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
	if (type === undefined) throw new StepError(`${kind} of ${apiVersion}: no such kind is served`);
	return type;
}

function collectionPath(run: ScenarioRun, draft: Draft): string {
	const type = typeOfDraft(run, draft);
	const { namespace = DEFAULT_NAMESPACE } = draft.metadata;
	return resourcePath(type, { namespace: type.namespaced ? String(namespace) : "" });
}

function uidIn({ body }: Reply): string | undefined {
	const { metadata } = body as { readonly metadata?: { readonly uid?: string } };
	return metadata?.uid;
}
