/** Who may do what. */
import { ApiError, forbiddenFor, type ResourceWords } from "../api/status.ts";
import type { User } from "./ports.ts";

export const MASTERS_GROUP = "system:masters";

/** A caller without credentials: health and version only. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

export interface Access {
	readonly verb: string;
	/** Need not be served: whoever may see nothing is not told what there is. */
	readonly resource: ResourceWords;
	readonly namespace: string;
	readonly name: string;
	readonly subresource?: string | undefined;
}

/**
 * The group `system:masters` may do everything, every other user nothing.
 * @throws {ApiError} `Forbidden`
 */
export function authorize(user: User, { verb, resource, namespace, name, subresource }: Access): void {
	if (user.groups.includes(MASTERS_GROUP)) return;
	const words = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
	const place = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
	const why = `User "${user.name}" cannot ${verb} resource "${words}" in API group "${resource.group}" ${place}`;
	throw forbiddenFor(resource, name, why);
}

/** Paths that say nothing about the cluster's objects: health checks and the version. */
const OPEN_PATH = /^\/(healthz|livez|readyz)(\/|$)|^\/version\/?$/;

/** @throws {ApiError} `Forbidden` */
export function authorizePath(user: User, verb: string, path: string): void {
	if (OPEN_PATH.test(path) || user.groups.includes(MASTERS_GROUP)) return;
	throw new ApiError("Forbidden", `forbidden: User "${user.name}" cannot ${verb} path "${path}"`, { details: {} });
}
