/** Acting as somebody else, by `Impersonate-` headers: what `kubectl --as` sends. */
import { badRequest } from "../api/status.ts";
import type { Authorizer } from "./access/authorizer.ts";
import type { HttpRequest } from "./http/message.ts";
import type { User } from "./ports.ts";
import { AUTHENTICATED_GROUP, serviceAccountGroups, UNAUTHENTICATED_GROUP } from "./users.ts";

const USERS = { group: "", plural: "users", kind: "User" } as const;
const GROUPS = { group: "", plural: "groups", kind: "Group" } as const;
const ACCOUNTS = { group: "", plural: "serviceaccounts", kind: "ServiceAccount" } as const;
const UIDS = { group: "authentication.k8s.io", plural: "uids", kind: "UID" } as const;
const EXTRAS = { group: "authentication.k8s.io", plural: "userextras", kind: "UserExtra" } as const;

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const EXTRA_HEADER = "impersonate-extra-";

/**
 * The user that the request is made as.
 * @throws {ApiError} `Forbidden` if `caller` may not act as that user, `BadRequest` for groups without a user.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function impersonated(request: ImpersonatingRequest, caller: User, authorizer: Authorizer): User {
	const [name = ""] = valuesOf(request, "impersonate-user");
	const groups = valuesOf(request, "impersonate-group");
	const [uid] = valuesOf(request, "impersonate-uid");
	const extra = extraOf(request);
	const hasExtra = Object.keys(extra).length > 0;
	if (name === "" && groups.length === 0 && uid === undefined && !hasExtra) return caller;
	if (name === "") {
		throw badRequest("requested impersonation of groups, a uid or extra values without impersonating a user");
	}
	requireAllowed(authorizer, caller, { name, groups, uid, extra });
	return {
		name,
		groups: completed(name, groups),
		...(uid === undefined ? {} : { uid }),
		...(hasExtra ? { extra } : {}),
	};
}

type ImpersonatingRequest = Pick<HttpRequest, "header" | "headers" | "headerValues">;

interface Wanted {
	readonly name: string;
	readonly groups: readonly string[];
	readonly uid: string | undefined;
	readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Each part of an identity is a right of its own. */
function requireAllowed(authorizer: Authorizer, caller: User, { name, groups, uid, extra }: Wanted): void {
	const allow = (type: typeof USERS | typeof GROUPS | typeof UIDS, who: string): void =>
		authorizer.authorize(caller, { verb: "impersonate", type, namespace: "", name: who });
	const [, namespace, account = ""] = SERVICE_ACCOUNT.exec(name) ?? [];
	if (namespace === undefined) allow(USERS, name);
	else authorizer.authorize(caller, { verb: "impersonate", type: ACCOUNTS, namespace, name: account });
	for (const group of groups) allow(GROUPS, group);
	if (uid !== undefined) allow(UIDS, uid);
	for (const [key, values] of Object.entries(extra)) {
		for (const value of values) {
			const access = { verb: "impersonate", type: EXTRAS, namespace: "", name: value, subresource: key };
			authorizer.authorize(caller, access);
		}
	}
}

/** A header each: names of groups may have commas in them. */
function valuesOf(request: ImpersonatingRequest, name: string): readonly string[] {
	const value = request.header(name);
	// Nearly every request is nobody else's.
	if (value === undefined) return [];
	return (request.headerValues?.(name) ?? [value]).filter((each) => each !== "");
}

/** Keys are percent-encoded, since they may have characters that headers may not. */
function extraOf(request: ImpersonatingRequest): Readonly<Record<string, readonly string[]>> {
	const names = Object.keys(request.headers ?? {}).filter((name) => name.startsWith(EXTRA_HEADER));
	return Object.fromEntries(names.map((name) => [decoded(name.slice(EXTRA_HEADER.length)), valuesOf(request, name)]));
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** The groups that follow from the name. */
function completed(name: string, asked: readonly string[]): readonly string[] {
	const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
	const own = namespace === undefined || asked.length > 0 ? [] : serviceAccountGroups(namespace);
	const groups = [...asked, ...own];
	if (name === "system:anonymous") return [...groups, UNAUTHENTICATED_GROUP];
	const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
	return isSettled ? groups : [...groups, AUTHENTICATED_GROUP];
}
