/** Server-side apply: a PATCH that says what the applier wants, and makes the object when it is not there. */
import { apiVersionOf, type ResourceType } from "../../api/resource.ts";
import { DEPTH_MAX, isDeeperThan } from "../../api/schema/depth.ts";
import { badRequest, conflict, hasReason, notFound } from "../../api/status.ts";
import { isObject, ownValue } from "../../kernel/json.ts";
import { decodeBody } from "../decode-body.ts";
import { applied, checkedConfig, kindWords } from "../field-managers/apply.ts";
import { shapeOf } from "../field-managers/writer.ts";
import { inOneGo, type RequestContext, type ServerPorts, type Target } from "../ports.ts";
import { shownEntry } from "../stored-form.ts";
import { createObject } from "./create.ts";
import { applyUpdate, requireSameName, type UpdateAnswer, type UpdateOptions } from "./update.ts";

export type Config = Readonly<Record<string, unknown>>;

export async function applyObject(
	ports: ServerPorts,
	target: Target,
	body: unknown,
	options: UpdateOptions,
	context: RequestContext,
): Promise<UpdateAnswer> {
	const config = configOf(target.type, body);
	for (let attempt = context; ; attempt = inOneGo(context)) {
		const answer = await tryApply(ports, target, config, options, attempt);
		if (answer === undefined) continue;
		reportRepeats(options, context);
		return answer;
	}
}

/** Undefined when someone else wrote meanwhile. */
async function tryApply(
	ports: ServerPorts,
	target: Target,
	config: Config,
	options: UpdateOptions,
	context: RequestContext,
): Promise<UpdateAnswer | undefined> {
	const stored = shownEntry(ports, target);
	if (stored === undefined) return applyNew(ports, target, config, options, context);
	const given = checkedConfig(shapeOf(target.type), config);
	if (context.turn !== undefined) await context.turn();
	const { object: data, ownedBy } = applied(ports, target.type, stored.object, given, options, context);
	requireUnrepeated(options);
	if (context.turn !== undefined) await context.turn();
	const proposed = decodeBody(target.type, data, { fieldValidation: "Ignore" }, context, stored.object);
	requireSameName(target, proposed);
	if (context.turn !== undefined) await context.turn();
	const object = await applyUpdate(ports, target, stored, proposed, { ...options, ownedBy }, context);
	return object === undefined ? undefined : { object, isCreated: false };
}

async function applyNew(
	ports: ServerPorts,
	target: Target,
	config: Config,
	options: UpdateOptions,
	context: RequestContext,
): Promise<UpdateAnswer | undefined> {
	const { type, name } = target;
	if (options.subresource !== undefined) throw notFound(type, name);
	const metadata = ownValue(config, "metadata");
	const uid = isObject(metadata) ? ownValue(metadata, "uid") : undefined;
	if (typeof uid === "string" && uid !== "") {
		const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
		throw conflict(type, name, why);
	}
	ports.authorizer.authorize(context.user, { verb: "create", ...target });
	const given = checkedConfig(shapeOf(type), config);
	if (context.turn !== undefined) await context.turn();
	const { object, ownedBy } = applied(ports, type, undefined, given, options, context);
	requireUnrepeated(options);
	const flags = { dryRun: options.dryRun, fieldValidation: "Ignore", ownedBy } as const;
	try {
		return { object: await createObject(ports, target, object, flags, context), isCreated: true };
	} catch (error) {
		if (hasReason(error, "AlreadyExists") && shownEntry(ports, target) !== undefined) return undefined;
		throw error;
	}
}

/** @throws {ApiError} `BadRequest` for another kind, or a body that says who owns what. */
export function configOf(type: Pick<ResourceType, "group" | "version" | "kind">, body: unknown): Config {
	if (!isObject(body)) {
		const found = Array.isArray(body) ? "array" : typeof body;
		throw badRequest(
			`error decoding YAML: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
		);
	}
	if (isDeeperThan(body, DEPTH_MAX)) throw badRequest("error decoding YAML: exceeded max depth");
	const { apiVersion, kind } = body;
	if (apiVersion !== apiVersionOf(type) || kind !== type.kind) {
		throw badRequest(`invalid object type: ${kindWords(body)}`);
	}
	const metadata = ownValue(body, "metadata");
	if (isObject(metadata) && Array.isArray(ownValue(metadata, "managedFields"))) {
		throw badRequest("metadata.managedFields must be nil");
	}
	return body;
}

/** @throws {ApiError} `BadRequest` under Strict, for fields that came twice. */
export function requireUnrepeated({ oddities = [], fieldValidation }: UpdateOptions): void {
	if (fieldValidation !== "Strict" || oddities.length === 0) return;
	throw badRequest(`error strict decoding YAML: ${oddities.join(", ")}`);
}

export function reportRepeats({ oddities = [], fieldValidation }: UpdateOptions, context: RequestContext): void {
	if (fieldValidation === "Warn") for (const text of oddities) context.warn(text);
}
