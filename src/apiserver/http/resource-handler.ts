/** Requests for resources: from method, path and query to a verb, and from its result to a response. */

import type { DiscoveredType } from "../../api/discovery.ts";
import { selectedName } from "../../api/field-selector.ts";
import { apiVersionOf, type ResourceType } from "../../api/resource.ts";
import { SCALE_TABLE } from "../../api/scale.ts";
import type { TypeMeta } from "../../api/schema/decode.ts";
import { badRequest, methodNotAllowed, noSuchPath } from "../../api/status.ts";
import type { Pod } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { ContainerLogs } from "../../machinery/container-logs.ts";
import type { AccountTokens } from "../access/account-tokens.ts";
import type { ApiServer } from "../api-server.ts";
import type { RequestContext, Target, WriteFlags } from "../ports.ts";
import { requireRevision } from "../required-revision.ts";
import { answeredReview, type ReviewPorts, reviewTypeOf } from "../reviews.ts";
import { selectionOf } from "../selection.ts";
import { bindPod } from "../subresources/binding.ts";
import { evictPod } from "../subresources/eviction.ts";
import { getScale, updateScale } from "../subresources/scale.ts";
import { createObject } from "../verbs/create.ts";
import { deleteCollection, deleteObject } from "../verbs/delete.ts";
import { listObjects, parseResourceVersion } from "../verbs/list.ts";
import { type Patch, patchObject } from "../verbs/patch.ts";
import { getObject } from "../verbs/read.ts";
import { updateObject } from "../verbs/update.ts";
import type { WatchHub } from "../watch/watch-hub.ts";
import { watchStart } from "../watch/watch-query.ts";
import { type AnswerOptions, type AnswerPorts, jsonAnswer, listAnswer, objectAnswer } from "./answer.ts";
import { type BodyPorts, patchTypeOf, type ReadBody, readBody, readPatch, requireBody } from "./body.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { type AnswerShape, negotiate, wantsPretty } from "./negotiate.ts";
import { podLogAnswer } from "./pod-log.ts";
import { type AskPod, proxyAnswer } from "./proxy.ts";
import { booleanOf, deleteFlagsOf, listQueryOf, watchQueryOf, writeFlagsOf } from "./query.ts";
import type { ResourcePath } from "./route.ts";
import { includeObjectOf } from "./table.ts";
import { frameEncoding, watchBody } from "./watch-body.ts";

export interface ResourceHandlerPorts extends AnswerPorts {
	readonly server: ApiServer;
	readonly hub: WatchHub;
	readonly body: BodyPorts;
	readonly logs: ContainerLogs;
	/** Absent: no Pod answers. */
	readonly askPod?: AskPod;
	readonly accountTokens: AccountTokens;
	readonly userOfToken: ReviewPorts["userOfToken"];
}

const DELETE_OPTIONS: TypeMeta = { apiVersion: "v1", kind: "DeleteOptions" };
const SCALE: TypeMeta = { apiVersion: "autoscaling/v1", kind: "Scale" };
const BINDING: TypeMeta = { apiVersion: "v1", kind: "Binding" };
const TOKEN_REQUEST: TypeMeta = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };
const EVICTION: TypeMeta = { apiVersion: "policy/v1", kind: "Eviction" };

function typeMetaOf(type: ResourceType): TypeMeta {
	return { apiVersion: apiVersionOf(type), kind: type.kind };
}

/** One request with everything its handler needs. */
interface Call {
	readonly ports: ResourceHandlerPorts;
	readonly request: HttpRequest;
	readonly target: Target;
	readonly context: RequestContext;
}

export async function handleResource(
	ports: ResourceHandlerPorts,
	request: HttpRequest,
	path: ResourcePath,
	context: RequestContext,
): Promise<HttpResponse> {
	const verb = verbOf(request, path);
	const isRead = verb === "list" || verb === "watch";
	const name = isRead ? selectedName(request.query.get("fieldSelector") ?? "") : path.name;
	ports.server.ports.authorizer.authorize(context.user, { verb, ...path, name, type: { ...path, kind: "" } });
	const review = reviewTypeOf(path.group, path.version, path.plural);
	if (review !== undefined) return handleReview(ports, request, path, review, context);
	const type = ports.server.typeOf(path);
	requireScope(type, path);
	requireVerb(type, verb, path);
	const target: Target = { type, namespace: path.namespace, name: path.name };
	if (type.deprecation !== undefined) context.warn(type.deprecation);
	const call: Call = { ports, request, target, context };
	if (path.subresource !== undefined) return handleSubresource(call, path.subresource);
	return path.name === "" ? handleCollection(call, verb) : handleObject(call, verb);
}

async function handleReview(
	ports: ResourceHandlerPorts,
	request: HttpRequest,
	{ namespace, name }: ResourcePath,
	type: DiscoveredType,
	{ user }: RequestContext,
): Promise<HttpResponse> {
	if (name !== "" || (namespace !== "") !== type.namespaced) throw noSuchPath();
	if (request.method !== "POST") throw methodNotAllowed(type, request.method.toLowerCase());
	const { value: body } = await readBody(request, ports.body, { apiVersion: apiVersionOf(type), kind: type.kind });
	const { authorizer } = ports.server.ports;
	const { userOfToken, nowMs } = ports;
	return jsonAnswer(201, await answeredReview({ authorizer, userOfToken, nowMs }, type, body, user));
}

/** @throws {ApiError} `NotFound` where a namespace is missing, or is given to a kind that has none. */
function requireScope(type: ResourceType, { namespace, name }: ResourcePath): void {
	if (!type.namespaced && namespace !== "") throw noSuchPath();
	if (type.namespaced && namespace === "" && name !== "") throw noSuchPath();
}

/** @throws {ApiError} `MethodNotAllowed`, or `NotFound` for a subresource that the kind does not have. */
function requireVerb(type: ResourceType, verb: string, { namespace, name, subresource }: ResourcePath): void {
	const sub = type.subresources.find((known) => known.name === subresource);
	if (subresource !== undefined && (sub === undefined || name === "")) throw noSuchPath();
	const { verbs } = sub ?? type;
	// Over all namespaces objects can be read, and nothing else.
	const isPlaced = !type.namespaced || namespace !== "" || verb === "list" || verb === "watch";
	if (!isPlaced || !verbs.some((known) => known === verb)) throw methodNotAllowed(type, verb);
}

function verbOf({ method, query }: HttpRequest, { name }: ResourcePath): string {
	const isCollection = name === "";
	switch (method) {
		case "GET":
		case "HEAD":
			if (!isCollection) return "get";
			return booleanOf(query, "watch") ? "watch" : "list";
		case "POST":
			return "create";
		case "PUT":
			return "update";
		case "PATCH":
			return "patch";
		case "DELETE":
			return isCollection ? "deletecollection" : "delete";
		default:
			return method.toLowerCase();
	}
}

function answerOptions({ request, target }: Call, shape: AnswerShape): AnswerOptions {
	const negotiated = negotiate(request.header("accept"), shape, target.type.kind);
	const isPretty = negotiated.isPretty || wantsPretty(request.query, request.header("user-agent"));
	const include = negotiated.form.kind === "table" ? includeObjectOf(request.query) : "Metadata";
	return { ...negotiated, isPretty, include };
}

async function handleCollection(call: Call, verb: string): Promise<HttpResponse> {
	const { ports, request, target, context } = call;
	switch (verb) {
		case "list": {
			const options = answerOptions(call, "list");
			const list = await listObjects(ports.server.ports, target, listQueryOf(request.query), context);
			return listAnswer(ports, target.type, list, options);
		}
		case "watch":
			return handleWatch(call);
		case "create":
			return handleCreate(call);
		case "deletecollection": {
			const options = answerOptions(call, "list");
			const { value } = await readBody(request, ports.body, DELETE_OPTIONS);
			const flags = deleteFlagsOf(value, request.query);
			const query = listQueryOf(request.query);
			const list = await deleteCollection(ports.server.ports, target, query, flags, context);
			return listAnswer(ports, target.type, list, options);
		}
		default:
			throw methodNotAllowed(target.type, verb);
	}
}

async function handleCreate(call: Call): Promise<HttpResponse> {
	const { ports, target } = call;
	const options = answerOptions(call, "object");
	const { body, flags, context } = await readObject(call, "CreateOptions", typeMetaOf(target.type));
	const object = await createObject(ports.server.ports, target, body, flags, context);
	return answered(call, context, 201, object, options);
}

/** What a write was sent with. */
interface Sent {
	readonly flags: WriteFlags;
	readonly context: RequestContext;
}

/** Query and body of a write. @throws {ApiError} For options or a body that cannot be read. */
async function readObject(
	{ ports, request, context }: Call,
	optionsKind: "CreateOptions" | "UpdateOptions",
	expected: TypeMeta,
): Promise<Sent & { readonly body: unknown }> {
	const flags = writeFlagsOf(request.query, optionsKind);
	const read = requireBody(await readBody(request, ports.body, expected), expected);
	return { body: read.value, ...sent(ports, flags, read, context) };
}

async function readPatchOf({ ports, request, context }: Call): Promise<Sent & { readonly patch: Patch }> {
	const type = patchTypeOf(request);
	const flags = writeFlagsOf(request.query, type === "apply" ? "ApplyOptions" : "PatchOptions");
	const read = await readPatch(request, type, ports.body);
	return { patch: { type, body: read.value }, ...sent(ports, flags, read, context) };
}

function sent(
	{ body: { turn } }: ResourceHandlerPorts,
	flags: WriteFlags,
	{ oddities, isLarge = false }: ReadBody,
	context: RequestContext,
): Sent {
	return { flags: { ...flags, oddities }, context: isLarge ? { ...context, turn } : context };
}

/** Of what was sent large, the answer is large as well. */
async function answered(
	{ ports, target }: Call,
	{ turn }: RequestContext,
	status: number,
	object: KubeObject,
	options: AnswerOptions,
): Promise<HttpResponse> {
	if (turn !== undefined) await turn();
	return objectAnswer(ports, status, object, target.type.table, options);
}

async function handleObject(call: Call, verb: string): Promise<HttpResponse> {
	const { ports, request, target } = call;
	const { type } = target;
	const options = answerOptions(call, "object");
	switch (verb) {
		case "get":
			refuseExport(request);
			await requireReached(call);
			return objectAnswer(ports, 200, getObject(ports.server.ports, target), type.table, options);
		case "update": {
			const { body, flags, context } = await readObject(call, "UpdateOptions", typeMetaOf(type));
			const { object, isCreated } = await updateObject(ports.server.ports, target, body, flags, context);
			return answered(call, context, isCreated ? 201 : 200, object, options);
		}
		case "patch": {
			const { patch, flags, context } = await readPatchOf(call);
			const { object, isCreated } = await patchObject(ports.server.ports, target, patch, flags, context);
			return answered(call, context, isCreated ? 201 : 200, object, options);
		}
		case "delete": {
			const { value } = await readBody(request, ports.body, DELETE_OPTIONS);
			const flags = deleteFlagsOf(value, request.query);
			const { answer, isPending } = await deleteObject(ports.server.ports, target, flags);
			// An old promise to those who ask in the old way: 202 when there is something to wait for.
			const status = isPending && flags.orphanDependents === false ? 202 : 200;
			return objectAnswer(ports, status, answer, type.table, options);
		}
		default:
			throw methodNotAllowed(type, verb);
	}
}

async function handleSubresource(call: Call, name: string): Promise<HttpResponse> {
	switch (name) {
		case "status":
		case "finalize":
			return handleStatus(call, name);
		case "scale":
			return handleScale(call);
		case "binding":
		case "eviction":
			return handleAction(call, name);
		case "token":
			return handleToken(call);
		case "log":
			return handleLog(call);
		case "proxy":
			return proxyAnswer(call.ports.server, call.ports.askPod, call.request, call.target);
		case "portforward":
			throw badRequest("Upgrade request required");
		default:
			throw noSuchPath();
	}
}

async function handleStatus(call: Call, subresource: "status" | "finalize"): Promise<HttpResponse> {
	const { ports, request, target } = call;
	const { type } = target;
	const options = answerOptions(call, "object");
	switch (request.method) {
		case "GET":
		case "HEAD":
			await requireReached(call);
			return objectAnswer(ports, 200, getObject(ports.server.ports, target), type.table, options);
		case "PUT": {
			const { body, flags, context } = await readObject(call, "UpdateOptions", typeMetaOf(type));
			const { object } = await updateObject(ports.server.ports, target, body, { ...flags, subresource }, context);
			return answered(call, context, 200, object, options);
		}
		case "PATCH": {
			const { patch, flags, context } = await readPatchOf(call);
			const { object } = await patchObject(ports.server.ports, target, patch, { ...flags, subresource }, context);
			return answered(call, context, 200, object, options);
		}
		default:
			throw methodNotAllowed(type, request.method.toLowerCase());
	}
}

async function handleScale(call: Call): Promise<HttpResponse> {
	const { ports, request, target, context } = call;
	const options = answerOptions(call, "object");
	const { ports: serverPorts } = ports.server;
	switch (request.method) {
		case "GET":
		case "HEAD":
			await requireReached(call);
			return objectAnswer(ports, 200, getScale(serverPorts, target), SCALE_TABLE, options);
		case "PUT": {
			const { body, flags } = await readObject(call, "UpdateOptions", SCALE);
			const scale = await updateScale(serverPorts, target, { body }, flags, context);
			return objectAnswer(ports, 200, scale, SCALE_TABLE, options);
		}
		case "PATCH": {
			const { patch, flags } = await readPatchOf(call);
			const scale = await updateScale(serverPorts, target, { patch }, flags, context);
			return objectAnswer(ports, 200, scale, SCALE_TABLE, options);
		}
		default:
			throw methodNotAllowed(target.type, request.method.toLowerCase());
	}
}

async function handleAction({ ports, request, target }: Call, name: "binding" | "eviction"): Promise<HttpResponse> {
	const { value: body } = await readBody(request, ports.body, name === "binding" ? BINDING : EVICTION);
	const { dryRun } = writeFlagsOf(request.query, "CreateOptions");
	if (name === "binding") return jsonAnswer(201, await bindPod(ports.server.ports, target, body, dryRun));
	const deletion = (options: unknown) => deleteFlagsOf(options, request.query);
	return jsonAnswer(201, await evictPod(ports.server.ports, target, body, deletion));
}

async function handleToken({ ports, request, target }: Call): Promise<HttpResponse> {
	const { value: body } = await readBody(request, ports.body, TOKEN_REQUEST);
	return jsonAnswer(201, await ports.accountTokens.request(target, body));
}

async function handleLog(call: Call): Promise<HttpResponse> {
	const { ports, request, target } = call;
	await requireReached(call);
	// The log subresource is one of Pods alone.
	const pod = getObject(ports.server.ports, target) as Pod;
	return podLogAnswer(ports.logs, pod, request.query, ports.nowMs());
}

/** A get is not older than the resourceVersion that it names. @throws {ApiError} `BadRequest`, `Timeout` */
function requireReached({ ports, request }: Call): Promise<void> {
	const asked = parseResourceVersion(request.query.get("resourceVersion") ?? undefined);
	return requireRevision(ports.server.ports, asked, request.signal);
}

/** A parameter of old that changed what a get answered. @throws {ApiError} `BadRequest` */
function refuseExport({ query }: HttpRequest): void {
	if (!booleanOf(query, "export")) return;
	throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

async function handleWatch(call: Call): Promise<HttpResponse> {
	const { ports, request, target } = call;
	const { server, hub, encoded, nowMs } = ports;
	const options = answerOptions(call, "watch");
	const query = watchQueryOf(request.query);
	const start = watchStart(query);
	const { type, namespace } = target;
	const selection = selectionOf(type, { namespace, ...query });
	const { store, clock, random } = server.ports;
	await requireRevision(server.ports, start.notOlderThan, request.signal);
	const form = frameEncoding({ type, form: options.form, include: options.include, encoded, nowMs });
	const key = { space: type.storagePrefix, selection, ...form };
	return {
		status: 200,
		headers: { "content-type": "application/json" },
		body: watchBody({ store, hub, clock, random, encoded }, key, query, start),
	};
}
