/** What the API server needs from outside. */
import type { ResourceType } from "../api/resource.ts";
import type { RuleCompiler } from "../api/structural/rules.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { Metrics } from "../kernel/metrics.ts";
import type { IdSource, Random } from "../kernel/random.ts";
import type { Store } from "../store/store.ts";
import type { Authorizer } from "./access/authorizer.ts";
import type { NetworkRanges } from "./service-claims.ts";

export interface ServerPorts {
	readonly store: Store;
	readonly types: readonly ResourceType[];
	readonly clock: Clock;
	readonly random: Random;
	readonly ids: IdSource;
	readonly log: Logger;
	readonly metrics: Metrics;
	readonly ranges: NetworkRanges;
	/** Evaluates the rules of custom resources. Absent: definitions with rules are refused. */
	readonly rules?: RuleCompiler;
	/** Follows the store. */
	readonly authorizer: Authorizer;
}

/** Who asks. */
export interface User {
	readonly name: string;
	readonly uid?: string;
	readonly groups: readonly string[];
	/** What else a proof of identity says, such as the Pod that a token is for. */
	readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One request as the verbs see it: HTTP and in-process calls both end up here. */
export interface RequestContext {
	readonly user: User;
	/** Text of a Warning header; the same text is sent once. */
	warn(text: string): void;
	/** Owns what is written when the request does not say who does: the program that asks. */
	readonly manager?: string;
	/** Aborts when the client has gone or the request's time is over. */
	readonly signal?: AbortSignal;
	/** Of a request that takes long to go through: others are served between its steps. */
	readonly turn?: () => Promise<void>;
}

/**
 * For another try after somebody else wrote meanwhile: in one go, so that somebody who writes all the time cannot keep
 * a large request from ever coming to its end.
 */
export function inOneGo(context: RequestContext): RequestContext {
	const { turn: _, ...rest } = context;
	return rest;
}

export type FieldValidation = "Strict" | "Warn" | "Ignore";

export interface WriteFlags {
	readonly dryRun: boolean;
	readonly fieldValidation: FieldValidation;
	/** What the parser found odd, such as fields that came twice; told together with unknown fields. */
	readonly oddities?: readonly string[];
	/** Who is to own what is written; "" is nobody in particular, see {@link RequestContext.manager}. */
	readonly fieldManager?: string;
	/** An apply takes over what others own. */
	readonly force?: boolean;
}

export const PLAIN_WRITE: WriteFlags = { dryRun: false, fieldValidation: "Warn" };

/** An object, or a collection when `name` is "". */
export interface Target {
	readonly type: ResourceType;
	/** "" for cluster-scoped resources, and for lists over all namespaces. */
	readonly namespace: string;
	readonly name: string;
}

export function storeKey({ namespace, name }: Pick<Target, "namespace" | "name">): string {
	return namespace === "" ? name : `${namespace}/${name}`;
}
