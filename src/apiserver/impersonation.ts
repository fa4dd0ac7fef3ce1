/** Acting as somebody else, by `Impersonate-` headers: what `kubectl --as` sends. */
import { badRequest } from "../api/status.ts";
import { AUTHENTICATED_GROUP, authorize, UNAUTHENTICATED_GROUP } from "./authorization.ts";
import type { HttpRequest } from "./http/message.ts";
import type { User } from "./ports.ts";

const SUBJECTS = {
	users: { group: "", plural: "users", kind: "User" },
	groups: { group: "", plural: "groups", kind: "Group" },
	uids: { group: "authentication.k8s.io", plural: "uids", kind: "UID" },
} as const;

/**
 * The user that the request is made as.
 * @throws {ApiError} `Forbidden` if `caller` may not act as that user, `BadRequest` for groups without a user.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function impersonated(request: Pick<HttpRequest, "header">, caller: User): User {
	const name = request.header("impersonate-user") ?? "";
	const groups = listOf(request.header("impersonate-group"));
	const uid = request.header("impersonate-uid");
	if (name === "") {
		if (groups.length === 0 && uid === undefined) return caller;
		throw badRequest("requested impersonation of groups or a uid without impersonating a user");
	}
	const allow = (subject: keyof typeof SUBJECTS, who: string): void =>
		authorize(caller, { verb: "impersonate", type: SUBJECTS[subject], namespace: "", name: who });
	allow("users", name);
	for (const group of groups) allow("groups", group);
	if (uid !== undefined) allow("uids", uid);
	return { name, groups: completed(name, groups), ...(uid === undefined ? {} : { uid }) };
}

/** Several headers of one name arrive as one, joined by commas. */
function listOf(header: string | undefined): readonly string[] {
	return (header ?? "")
		.split(",")
		.map((item) => item.trim())
		.filter((item) => item !== "");
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

/** The groups that follow from the name. */
function completed(name: string, asked: readonly string[]): readonly string[] {
	const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
	const own =
		namespace === undefined || asked.length > 0
			? []
			: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
	const groups = [...asked, ...own];
	if (name === "system:anonymous") return [...groups, UNAUTHENTICATED_GROUP];
	const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
	return isSettled ? groups : [...groups, AUTHENTICATED_GROUP];
}
