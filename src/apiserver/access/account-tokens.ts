/**
 * Tokens of ServiceAccounts: made on request, bound to the account and perhaps a Pod, Secret or Node, and worth nothing
 * once one of these is gone.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
 */
import { type FieldError, invalid } from "../../api/field-error.ts";
import { decodeObject } from "../../api/schema/decode.ts";
import { badRequest, conflict, invalidObject, notFound } from "../../api/status.ts";
import type { Pod } from "../../api/types/core.ts";
import type { KubeObject } from "../../api/types/meta.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/random.ts";
import { serviceAccountName } from "../../plan/access/grants.ts";
import type { Store } from "../../store/store.ts";
import type { Target, User } from "../ports.ts";
import { storeKey } from "../ports.ts";
import { upToDate } from "../required-revision.ts";
import { timestamp } from "../timestamp.ts";
import { authenticated, serviceAccountGroups } from "../users.ts";

interface Identity {
	readonly name: string;
	readonly uid: string;
}

/** What a token says; times are seconds since 1970. */
export interface AccountClaims {
	readonly iss: string;
	readonly sub: string;
	readonly aud: readonly string[];
	readonly iat: number;
	readonly nbf: number;
	readonly exp: number;
	readonly jti: string;
	readonly "kubernetes.io": {
		readonly namespace: string;
		readonly serviceaccount: Identity;
		readonly pod?: Identity;
		readonly secret?: Identity;
		readonly node?: Identity;
	};
}

export interface TokenSigner {
	sign(claims: AccountClaims): Promise<string>;
	/** What a token of this signer says, whether it is in time or not; undefined for any other. */
	read(token: string): Promise<AccountClaims | undefined>;
}

export interface AccountTokenPorts {
	readonly store: Store;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly signer: TokenSigner;
	/** Of the tokens, and the audience that this API server is. */
	readonly issuer: string;
}

/** A user, and for whom the proof is good. */
export interface TokenUser {
	readonly user: User;
	readonly audiences: readonly string[];
}

const BINDABLE = {
	Pod: { claim: "pod", space: "/registry/pods/", plural: "pods", namespaced: true },
	Secret: { claim: "secret", space: "/registry/secrets/", plural: "secrets", namespaced: true },
	Node: { claim: "node", space: "/registry/minions/", plural: "nodes", namespaced: false },
} as const;

const ACCOUNTS = "/registry/serviceaccounts/";
const TOKEN_REQUEST = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" } as const;
const WORDS = { group: "authentication.k8s.io", kind: "TokenRequest" } as const;
/** Kubernetes' limits. */
const SECONDS_DEFAULT = 3600;
const SECONDS_MIN = 600;
const SECONDS_MAX = 2 ** 32;

interface TokenRequest {
	readonly metadata?: { readonly name?: string; readonly namespace?: string };
	readonly spec?: {
		readonly audiences?: readonly string[];
		readonly expirationSeconds?: number;
		readonly boundObjectRef?: BoundObjectReference;
	};
}

interface BoundObjectReference {
	readonly kind?: string;
	readonly apiVersion?: string;
	readonly name?: string;
	readonly uid?: string;
}

export class AccountTokens {
	readonly #ports: AccountTokenPorts;

	constructor(ports: AccountTokenPorts) {
		this.#ports = ports;
	}

	/**
	 * Answers a TokenRequest. `target` names the account.
	 * @throws {ApiError} `NotFound` without the account or what the token is to be bound to, `Invalid`, `BadRequest`.
	 */
	async request(target: Target, body: unknown): Promise<object> {
		const { store, clock, ids, signer, issuer } = this.#ports;
		const decoded = decodeObject("authentication.TokenRequest", body ?? {}, TOKEN_REQUEST);
		if (decoded.kind === "wrong") throw badRequest(decoded.message);
		const { metadata = {}, spec = {} } = decoded.object as TokenRequest;
		requirePlace(target, metadata);
		const account = store.space(ACCOUNTS).get(storeKey(target))?.object;
		if (account === undefined) throw notFound(target.type, target.name);
		const { expirationSeconds = SECONDS_DEFAULT, boundObjectRef } = spec;
		const audiences = (spec.audiences ?? []).length > 0 ? (spec.audiences ?? []) : [issuer];
		requireLife(expirationSeconds);
		const bound = boundObjectRef === undefined ? {} : this.#bound(target, boundObjectRef);
		const nowMs = clock.wallMs();
		const issued = Math.floor(nowMs / 1000);
		const { namespace, name } = target;
		const token = await signer.sign({
			iss: issuer,
			sub: serviceAccountName(namespace, name),
			aud: audiences,
			iat: issued,
			nbf: issued,
			exp: issued + expirationSeconds,
			jti: ids.uid(),
			"kubernetes.io": { namespace, serviceaccount: { name, uid: account.metadata.uid }, ...bound },
		});
		return {
			...TOKEN_REQUEST,
			metadata: { name, namespace, creationTimestamp: timestamp(nowMs) },
			spec: { audiences, expirationSeconds, boundObjectRef: boundObjectRef ?? null },
			status: { token, expirationTimestamp: timestamp((issued + expirationSeconds) * 1000) },
		};
	}

	/**
	 * Whom the token proves, if it is in time, its account and what it is bound to are still there, and it is meant for
	 * one of `audiences`.
	 */
	async userOf(token: string, audiences: readonly string[] = [this.#ports.issuer]): Promise<TokenUser | undefined> {
		const claims = await this.#ports.signer.read(token);
		if (claims === undefined || claims.iss !== this.#ports.issuer) return undefined;
		const nowSeconds = this.#ports.clock.wallMs() / 1000;
		if (nowSeconds >= claims.exp || nowSeconds < claims.nbf - CLOCK_LEEWAY_SECONDS) return undefined;
		const common = claims.aud.filter((audience) => audiences.includes(audience));
		const { namespace, serviceaccount } = claims["kubernetes.io"];
		if (common.length === 0) return undefined;
		const isThere = (): boolean => this.#isStill(ACCOUNTS, namespace, serviceaccount) && this.#isBoundStill(claims);
		// What another server has just made may not be known here yet.
		if (!isThere() && !(await upToDate(this.#ports, async () => isThere()))) return undefined;
		return { user: userOfClaims(claims), audiences: common };
	}

	#isBoundStill({ "kubernetes.io": said }: AccountClaims): boolean {
		return Object.values(BINDABLE).every(({ claim, space, namespaced }) => {
			const identity = said[claim];
			return identity === undefined || this.#isStill(space, namespaced ? said.namespace : "", identity);
		});
	}

	#isStill(space: string, namespace: string, { name, uid }: Identity): boolean {
		const metadata = this.#ports.store.space(space).get(storeKey({ namespace, name }))?.object.metadata;
		return metadata?.uid === uid;
	}

	#bound(target: Target, reference: BoundObjectReference): Partial<AccountClaims["kubernetes.io"]> {
		const { kind = "", apiVersion = "", name = "", uid = "" } = reference;
		const bindable = apiVersion === "v1" ? Object.entries(BINDABLE).find(([known]) => known === kind)?.[1] : undefined;
		if (bindable === undefined) {
			throw badRequest(`cannot bind token to object of type ${goKind(apiVersion)}, Kind=${kind}`);
		}
		const words = { group: "", plural: bindable.plural, kind };
		const key = storeKey({ namespace: bindable.namespaced ? target.namespace : "", name });
		const object: KubeObject | undefined = this.#ports.store.space(bindable.space).get(key)?.object;
		if (object === undefined) throw notFound(words, name);
		if (kind === "Pod" && ((object as Pod).spec.serviceAccountName ?? "default") !== target.name) {
			const account = JSON.stringify(target.name);
			throw badRequest(
				`cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`,
			);
		}
		if (uid !== "" && uid !== object.metadata.uid) {
			const why =
				`the UID in the bound object reference (${uid}) does not match the UID in record. ` +
				"The object might have been deleted and then recreated";
			throw conflict({ group: "", plural: kind, kind }, name, why);
		}
		return { [bindable.claim]: { name, uid: object.metadata.uid } };
	}
}

/** Clocks of one machine do not differ, but a token is made with whole seconds. */
const CLOCK_LEEWAY_SECONDS = 1;

/** `v1` is the version of the core group, whose name is empty. */
function goKind(apiVersion: string): string {
	return apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
}

function requirePlace({ name, namespace }: Target, metadata: NonNullable<TokenRequest["metadata"]>): void {
	const errors: FieldError[] = [];
	const { name: askedName = "", namespace: askedNamespace = "" } = metadata;
	if (askedName !== "" && askedName !== name) {
		errors.push(invalid("metadata.name", askedName, "must match the service account name if specified"));
	} else if (askedNamespace !== "" && askedNamespace !== namespace) {
		errors.push(invalid("metadata.namespace", askedNamespace, "must match the service account namespace if specified"));
	}
	if (errors.length > 0) throw invalidObject(WORDS, name, errors);
}

function requireLife(seconds: number): void {
	const wrong = (why: string): never => {
		throw invalidObject(WORDS, "", [invalid("spec.expirationSeconds", seconds, why)]);
	};
	if (seconds < SECONDS_MIN) wrong("may not specify a duration less than 10 minutes");
	if (seconds > SECONDS_MAX) wrong("may not specify a duration larger than 2^32 seconds");
}

function userOfClaims({ sub, jti, "kubernetes.io": said }: AccountClaims): User {
	const { namespace, serviceaccount, pod, node } = said;
	const prefix = "authentication.kubernetes.io";
	return authenticated({
		name: sub,
		uid: serviceaccount.uid,
		groups: serviceAccountGroups(namespace),
		extra: {
			[`${prefix}/credential-id`]: [`JTI=${jti}`],
			...(node === undefined ? {} : { [`${prefix}/node-name`]: [node.name], [`${prefix}/node-uid`]: [node.uid] }),
			...(pod === undefined ? {} : { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] }),
		},
	});
}
