/** Users and groups that mean something to the API server itself. */
import type { User } from "./ports.ts";

export const MASTERS_GROUP = "system:masters";
export const AUTHENTICATED_GROUP = "system:authenticated";
export const UNAUTHENTICATED_GROUP = "system:unauthenticated";

/** A caller without credentials. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: [UNAUTHENTICATED_GROUP] };

/** As whoever has proved who they are, a member of `system:authenticated`. */
export function authenticated(user: User): User {
	const { groups } = user;
	const isSettled = groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP);
	return isSettled ? user : { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}

export function serviceAccountGroups(namespace: string): readonly string[] {
	return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}
