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
export function impersonated(
	request: Pick<HttpRequest, "header" | "headers">,
	caller: User,
	authorizer: Authorizer,
): User {
	const name = request.header("impersonate-user") ?? "";
	const groups = listOf(request.header("impersonate-group"));
	const uid = request.header("impersonate-uid");
	// Nearly every request is nobody else's: its other headers are not looked at.
	if (name === "" && groups.length === 0 && uid === undefined) return caller;
	if (name === "") {
		throw badRequest("requested impersonation of groups or a uid without impersonating a user");
	}
	const extra = extraOf(request);
	requireAllowed(authorizer, caller, { name, groups, uid, extra });
	return {
		name,
		groups: completed(name, groups),
		...(uid === undefined ? {} : { uid }),
		...(Object.keys(extra).length === 0 ? {} : { extra }),
	};
}

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

/** Several headers of one name arrive as one, joined by commas. */
function listOf(header: string | undefined): readonly string[] {
	return (header ?? "")
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

/** Keys are percent-encoded, since they may have characters that headers may not. */
function extraOf({ headers = {} }: Pick<HttpRequest, "headers">): Readonly<Record<string, readonly string[]>> {
	const found = Object.entries(headers)
		.filter(([name]) => name.startsWith(EXTRA_HEADER))
		.map(([name, value]) => {
			const key = decoded(name.slice(EXTRA_HEADER.length));
			return [key, listOf(typeof value === "string" ? value : value.join(","))] as const;
		});
	return Object.fromEntries(found);
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
