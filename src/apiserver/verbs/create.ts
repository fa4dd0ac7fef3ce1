/** POST of a new object. The order of the steps is that of a real server (api-protocol, "Writes"). */
import { validateMetadata } from "../../api/metadata-validation.ts";
import { ApiError, alreadyExists, badRequest, invalidObject } from "../../api/status.ts";
import type { KubeObject, ObjectMeta } from "../../api/types/meta.ts";
import { without } from "../../kernel/json.ts";
import { randomName } from "../../kernel/random.ts";
import { requireNoEscalation } from "../access/escalation.ts";
import { requireActiveNamespace } from "../admission.ts";
import { decodeBody } from "../decode-body.ts";
import { type ManagedFields, trackedCreate } from "../field-managers/track-write.ts";
import { dedupedOwners, type WithSelfLink } from "../metadata.ts";
import {
	inOneGo,
	type RequestContext,
	type ServerPorts,
	storeKey,
	type Target,
	type User,
	type WriteFlags,
} from "../ports.ts";
import { timestamp } from "../timestamp.ts";
import { commitPlan, planCreate, type WritePlan } from "../write-plan.ts";

/** With generateName: how often a taken name is thrown again, the first try included. */
const NAME_TRIES_MAX = 8;
const PREFIX_CHARACTERS_MAX = 58;
const SUFFIX_CHARACTERS = 5;

export interface CreateOptions extends WriteFlags {
	/** For PUT of a missing name: the URL's name, which the body must agree with. */
	readonly name?: string;
	/** An apply knows already who owns what. */
	readonly ownedBy?: ManagedFields;
}

export async function createObject(
	ports: ServerPorts,
	target: Target,
	body: unknown,
	options: CreateOptions,
	context: RequestContext,
): Promise<KubeObject> {
	const { type } = target;
	const decoded = decodeBody(type, body, options, context);
	const draft = withSystemMetadata(ports, target, decoded, context);
	requireActiveNamespace(ports, target, draft.metadata.name);
	if (context.turn !== undefined) await context.turn();
	for (let attempt = 1; ; attempt++) {
		const object = named(ports, draft);
		const result = await tryCreate(ports, target, object, options, attempt === 1 ? context : inOneGo(context));
		if (result.kind === "created") return result.object;
		if (draft.metadata.name !== "" || attempt >= NAME_TRIES_MAX) throw taken(target, object, draft, result.stored);
	}
}

type CreateResult =
	| { readonly kind: "created"; readonly object: KubeObject }
	| { readonly kind: "taken"; readonly stored: KubeObject | undefined };

async function tryCreate(
	ports: ServerPorts,
	target: Target,
	draft: KubeObject,
	options: CreateOptions,
	context: RequestContext,
): Promise<CreateResult> {
	const { type } = target;
	const complete = type.withDefaults(draft);
	if (context.turn !== undefined) await requireValidInTurns(ports, target, complete, options, context, context.turn);
	const tracked = trackedCreate(ports, type, complete, options, context);
	if (context.turn !== undefined) await context.turn();
	// Whether there may be something new was found out before others were served.
	if (context.turn !== undefined) requireActiveNamespace(ports, target, draft.metadata.name);
	const existing = ports.store.space(type.storagePrefix).get(storeKey({ ...target, name: draft.metadata.name }));
	const plan = planOf(ports, target, tracked, options, context.user);
	if (context.turn === undefined) requireValid(target, plan);
	for (const text of type.warnings(plan.object, undefined)) context.warn(text);
	if (existing !== undefined) return { kind: "taken", stored: existing.object };
	if (options.dryRun) return { kind: "created", object: plan.object };
	const committed = await commitPlan(ports, type, plan);
	if (committed.kind === "committed") return { kind: "created", object: committed.object };
	if (committed.kind === "conflict") return { kind: "taken", stored: committed.stored };
	return tryCreate(ports, target, draft, options, inOneGo(context));
}

/** What breaks the rules is refused before it is found out who owns all of it, which takes longest. */
async function requireValidInTurns(
	ports: ServerPorts,
	target: Target,
	complete: KubeObject,
	options: CreateOptions,
	{ user }: RequestContext,
	turn: () => Promise<void>,
): Promise<void> {
	await turn();
	const bare = { ...complete, metadata: without(complete.metadata, "managedFields") };
	requireValid(target, planOf(ports, target, bare, options, user));
	await turn();
}

/** @throws {ApiError} `Forbidden` for rights that the writer does not hold, `Invalid` for what cannot be claimed. */
function planOf(
	ports: ServerPorts,
	target: Target,
	object: KubeObject,
	{ dryRun }: CreateOptions,
	user: User,
): WritePlan {
	const { type, namespace } = target;
	const prepared = type.prepareCreate(object, { nowMs: ports.clock.wallMs() });
	requireNoEscalation(ports, target, user, prepared);
	return planCreate(ports, type, storeKey({ namespace, name: object.metadata.name }), prepared, dryRun);
}

/** @throws {ApiError} `Invalid` */
function requireValid({ type }: Target, { object }: WritePlan): void {
	const errors = [...validateMetadata(type, object.metadata), ...type.validate(object)];
	if (errors.length > 0) throw invalidObject(type, object.metadata.name, errors);
}

function taken(target: Target, object: KubeObject, draft: KubeObject, stored: KubeObject | undefined): ApiError {
	const { type } = target;
	if (draft.metadata.name !== "") {
		return alreadyExists(type, object.metadata.name, stored?.metadata.deletionTimestamp !== undefined);
	}
	const { message, details } = alreadyExists(type, object.metadata.name);
	const why = "the server was not able to generate a unique name for the object";
	return new ApiError("AlreadyExists", `${message}, ${why}`, { details: { ...details, retryAfterSeconds: 1 } });
}

function named(ports: ServerPorts, draft: KubeObject): KubeObject {
	const { name, generateName = "" } = draft.metadata;
	if (name !== "" || generateName === "") return draft;
	const prefix = generateName.slice(0, PREFIX_CHARACTERS_MAX);
	const generated = prefix + randomName(ports.random, SUFFIX_CHARACTERS);
	return { ...draft, metadata: { ...draft.metadata, name: generated } };
}

/** What clients may not choose is replaced: identity, time of birth, generation. */
function withSystemMetadata(
	ports: ServerPorts,
	target: Target,
	object: KubeObject,
	context: RequestContext,
): KubeObject {
	const {
		resourceVersion,
		namespace,
		generation: _generation,
		deletionTimestamp: _at,
		deletionGracePeriodSeconds: _grace,
		selfLink: _link,
		...asked
	} = object.metadata as Partial<ObjectMeta> & WithSelfLink;
	// A PUT that finds nothing creates, whatever version it meant.
	const isPost = target.name === "";
	if (isPost && resourceVersion !== undefined && resourceVersion !== "" && resourceVersion !== "0") {
		throw new ApiError("", "resourceVersion should not be set on objects to be created");
	}
	const metadata: ObjectMeta = {
		...asked,
		...namespaceFor(target, namespace),
		name: nameFor(target, asked.name),
		uid: ports.ids.uid(),
		resourceVersion: "",
		creationTimestamp: timestamp(ports.clock.wallMs()),
		...(target.type.generation === "never" ? {} : { generation: 1 }),
		...dedupedOwners(asked.ownerReferences, context),
	};
	return { ...object, metadata };
}

function nameFor(target: Target, asked: string | undefined): string {
	if (target.name !== "" && asked !== undefined && asked !== "" && asked !== target.name) {
		throw badRequest(`the name of the object (${asked}) does not match the name on the URL (${target.name})`);
	}
	return asked === undefined || asked === "" ? target.name : asked;
}

function namespaceFor(target: Target, asked: string | undefined): { namespace?: string } {
	if (!target.type.namespaced) return {};
	if (asked !== undefined && asked !== "" && asked !== target.namespace) {
		throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
	}
	return { namespace: target.namespace };
}
