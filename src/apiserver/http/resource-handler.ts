/** Requests for resources: from method, path and query to a verb, and from its result to a response. */

import type { DiscoveredType } from "../../api/discovery.ts";
import { apiVersionOf, type ResourceType } from "../../api/resource.ts";
import { SCALE_TABLE } from "../../api/scale.ts";
import type { TypeMeta } from "../../api/schema/decode.ts";
import { badRequest, methodNotAllowed, noSuchPath, tooLargeResourceVersion } from "../../api/status.ts";
import type { ApiServer } from "../api-server.ts";
import { authorize } from "../authorization.ts";
import type { RequestContext, Target } from "../ports.ts";
import { answeredReview, reviewTypeOf } from "../reviews.ts";
import { revisionReached } from "../revision-reached.ts";
import { selectionOf } from "../selection.ts";
import { bindPod } from "../subresources/binding.ts";
import { evictPod } from "../subresources/eviction.ts";
import { getScale, updateScale } from "../subresources/scale.ts";
import { createObject } from "../verbs/create.ts";
import { deleteCollection, deleteObject } from "../verbs/delete.ts";
import { listObjects } from "../verbs/list.ts";
import { patchObject } from "../verbs/patch.ts";
import { getObject } from "../verbs/read.ts";
import { updateObject } from "../verbs/update.ts";
import type { WatchHub } from "../watch/watch-hub.ts";
import { watchStart } from "../watch/watch-query.ts";
import { type AnswerOptions, type AnswerPorts, jsonAnswer, listAnswer, objectAnswer } from "./answer.ts";
import { type BodyCodecs, readBody, readPatch, requireBody } from "./body.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { negotiate, wantsPretty } from "./negotiate.ts";
import { booleanOf, deleteFlagsOf, listQueryOf, watchQueryOf, writeFlagsOf } from "./query.ts";
import type { ResourcePath } from "./route.ts";
import { includeObjectOf } from "./table.ts";
import { frameEncoding, watchBody } from "./watch-body.ts";

export interface ResourceHandlerPorts extends AnswerPorts {
	readonly server: ApiServer;
	readonly hub: WatchHub;
	readonly codecs: BodyCodecs;
}

const DELETE_OPTIONS: TypeMeta = { apiVersion: "v1", kind: "DeleteOptions" };
const SCALE: TypeMeta = { apiVersion: "autoscaling/v1", kind: "Scale" };
const BINDING: TypeMeta = { apiVersion: "v1", kind: "Binding" };
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
	const review = reviewTypeOf(path.group, path.version, path.plural);
	if (review !== undefined) return handleReview(ports, request, path, review, context);
	const type = ports.server.typeOf(path);
	requireScope(type, path);
	const target: Target = { type, namespace: path.namespace, name: path.name };
	const verb = verbOf(request, path);
	authorize(context.user, {
		verb,
		...target,
		...(path.subresource === undefined ? {} : { subresource: path.subresource }),
	});
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
	authorize(user, { verb: "create", type, namespace, name: "" });
	const body = await readBody(request, ports.codecs, { apiVersion: apiVersionOf(type), kind: type.kind });
	return jsonAnswer(201, answeredReview(type, body, user, ports.nowMs()));
}

/** @throws {ApiError} `NotFound` where a namespace is missing, or is given to a kind that has none. */
function requireScope(type: ResourceType, { namespace, name }: ResourcePath): void {
	if (!type.namespaced && namespace !== "") throw noSuchPath();
	if (type.namespaced && namespace === "" && name !== "") throw noSuchPath();
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

function answerOptions(request: HttpRequest): AnswerOptions {
	const negotiated = negotiate(request.header("accept"));
	const isPretty = negotiated.isPretty || wantsPretty(request.query, request.header("user-agent"));
	return { ...negotiated, isPretty, include: includeObjectOf(request.query) };
}

async function handleCollection(call: Call, verb: string): Promise<HttpResponse> {
	const { ports, request, target, context } = call;
	switch (verb) {
		case "list": {
			const options = answerOptions(request);
			const list = await listObjects(ports.server.ports, target, listQueryOf(request.query), context);
			return listAnswer(ports, target.type, list, options);
		}
		case "watch":
			return handleWatch(call);
		case "create":
			return handleCreate(call);
		case "deletecollection": {
			const options = answerOptions(request);
			requireVerb(target.type, verb);
			const body = await readBody(request, ports.codecs, DELETE_OPTIONS);
			const flags = deleteFlagsOf(body, request.query);
			const query = listQueryOf(request.query);
			const list = await deleteCollection(ports.server.ports, target, query, flags, context);
			return listAnswer(ports, target.type, list, options);
		}
		default:
			throw methodNotAllowed(target.type, verb);
	}
}

function requireVerb(type: ResourceType, verb: string): void {
	if (!type.verbs.some((known) => known === verb)) throw methodNotAllowed(type, verb);
}

async function handleCreate({ ports, request, target, context }: Call): Promise<HttpResponse> {
	if (target.type.namespaced && target.namespace === "") throw methodNotAllowed(target.type, "create");
	const options = answerOptions(request);
	const flags = writeFlagsOf(request.query, "CreateOptions");
	const body = requireBody(await readBody(request, ports.codecs, typeMetaOf(target.type)), target.type);
	const object = await createObject(ports.server.ports, target, body, flags, context);
	return objectAnswer(ports, 201, object, target.type.table, options);
}

async function handleObject(call: Call, verb: string): Promise<HttpResponse> {
	const { ports, request, target, context } = call;
	const { type } = target;
	const options = answerOptions(request);
	switch (verb) {
		case "get":
			return objectAnswer(ports, 200, getObject(ports.server.ports, target), type.table, options);
		case "update": {
			const flags = writeFlagsOf(request.query, "UpdateOptions");
			const body = requireBody(await readBody(request, ports.codecs, typeMetaOf(type)), type);
			const { object, isCreated } = await updateObject(ports.server.ports, target, body, flags, context);
			return objectAnswer(ports, isCreated ? 201 : 200, object, type.table, options);
		}
		case "patch": {
			const flags = writeFlagsOf(request.query, "PatchOptions");
			const patch = await readPatch(request);
			const object = await patchObject(ports.server.ports, target, patch, flags, context);
			return objectAnswer(ports, 200, object, type.table, options);
		}
		case "delete": {
			const body = await readBody(request, ports.codecs, DELETE_OPTIONS);
			const answer = await deleteObject(ports.server.ports, target, deleteFlagsOf(body, request.query));
			return objectAnswer(ports, 200, answer, type.table, options);
		}
		default:
			throw methodNotAllowed(type, verb);
	}
}

async function handleSubresource(call: Call, name: string): Promise<HttpResponse> {
	const { target, request } = call;
	const known = target.type.subresources.find((subresource) => subresource.name === name);
	if (known === undefined || target.name === "") throw noSuchPath();
	switch (name) {
		case "status":
		case "finalize":
			return handleStatus(call, name);
		case "scale":
			return handleScale(call);
		case "binding":
		case "eviction":
			if (request.method !== "POST") throw methodNotAllowed(target.type, request.method.toLowerCase());
			return handleAction(call, name);
		case "portforward":
			throw badRequest("Upgrade request required");
		default:
			throw noSuchPath();
	}
}

async function handleStatus(call: Call, subresource: "status" | "finalize"): Promise<HttpResponse> {
	const { ports, request, target, context } = call;
	const { type } = target;
	const options = answerOptions(request);
	switch (request.method) {
		case "GET":
			return objectAnswer(ports, 200, getObject(ports.server.ports, target), type.table, options);
		case "PUT": {
			const flags = { ...writeFlagsOf(request.query, "UpdateOptions"), subresource };
			const body = requireBody(await readBody(request, ports.codecs, typeMetaOf(type)), type);
			const { object } = await updateObject(ports.server.ports, target, body, flags, context);
			return objectAnswer(ports, 200, object, type.table, options);
		}
		case "PATCH": {
			const flags = { ...writeFlagsOf(request.query, "PatchOptions"), subresource };
			const patch = await readPatch(request);
			const object = await patchObject(ports.server.ports, target, patch, flags, context);
			return objectAnswer(ports, 200, object, type.table, options);
		}
		default:
			throw methodNotAllowed(type, request.method.toLowerCase());
	}
}

async function handleScale({ ports, request, target, context }: Call): Promise<HttpResponse> {
	const options = answerOptions(request);
	const { ports: serverPorts } = ports.server;
	switch (request.method) {
		case "GET":
			return objectAnswer(ports, 200, getScale(serverPorts, target), SCALE_TABLE, options);
		case "PUT": {
			const flags = writeFlagsOf(request.query, "UpdateOptions");
			const body = requireBody(await readBody(request, ports.codecs, SCALE), { kind: "Scale" });
			const scale = await updateScale(serverPorts, target, { body }, flags, context);
			return objectAnswer(ports, 200, scale, SCALE_TABLE, options);
		}
		case "PATCH": {
			const flags = writeFlagsOf(request.query, "PatchOptions");
			const scale = await updateScale(serverPorts, target, { patch: await readPatch(request) }, flags, context);
			return objectAnswer(ports, 200, scale, SCALE_TABLE, options);
		}
		default:
			throw methodNotAllowed(target.type, request.method.toLowerCase());
	}
}

async function handleAction({ ports, request, target }: Call, name: "binding" | "eviction"): Promise<HttpResponse> {
	const body = await readBody(request, ports.codecs, name === "binding" ? BINDING : EVICTION);
	const { dryRun } = writeFlagsOf(request.query, "CreateOptions");
	if (name === "binding") return jsonAnswer(201, await bindPod(ports.server.ports, target, body, dryRun));
	const deletion = (options: unknown) => deleteFlagsOf(options, request.query);
	return jsonAnswer(201, await evictPod(ports.server.ports, target, body, deletion));
}

/** How long a streaming list that is ahead of the server waits for it. */
const FUTURE_WAIT_MS = 3_000;

async function handleWatch({ ports, request, target }: Call): Promise<HttpResponse> {
	const { server, hub, encoded, nowMs } = ports;
	const options = answerOptions(request);
	if (options.syntax === "yaml") throw badRequest("watches are served as application/json only");
	const query = watchQueryOf(request.query);
	const start = watchStart(query);
	const { type, namespace } = target;
	const selection = selectionOf(type, { namespace, ...query });
	const { store, clock, random } = server.ports;
	if (!(await revisionReached(server.ports, start.notOlderThan, FUTURE_WAIT_MS, request.signal))) {
		throw tooLargeResourceVersion(start.notOlderThan, store.revision);
	}
	const form = frameEncoding({ type, form: options.form, include: options.include, encoded, nowMs });
	const key = { space: type.storagePrefix, selection, ...form };
	return {
		status: 200,
		headers: { "content-type": "application/json" },
		body: watchBody({ store, hub, clock, random, encoded }, key, query, start),
	};
}
