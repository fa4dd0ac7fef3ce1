/** Who may do what. */
import type { ResourceType } from "../api/resource.ts";
import { ApiError, forbiddenFor } from "../api/status.ts";
import type { User } from "./ports.ts";

export const MASTERS_GROUP = "system:masters";
export const AUTHENTICATED_GROUP = "system:authenticated";
export const UNAUTHENTICATED_GROUP = "system:unauthenticated";

/** A caller without credentials: health and version only. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: [UNAUTHENTICATED_GROUP] };

export interface Access {
	readonly verb: string;
	/** Need not be served: whoever may see nothing is not told what there is. */
	readonly type: Pick<ResourceType, "group" | "plural" | "kind">;
	readonly namespace: string;
	readonly name: string;
	readonly subresource?: string | undefined;
}

/** What is asked about: an access to a resource, or to a path that is none. */
export type Question =
	| {
			readonly kind: "resource";
			readonly verb: string;
			readonly group: string;
			readonly plural: string;
			readonly namespace: string;
	  }
	| { readonly kind: "path"; readonly verb: string; readonly path: string };

/** Paths that say nothing about the cluster's objects: health checks and the version. */
const OPEN_PATH = /^\/(healthz|livez|readyz)(\/|$)|^\/version\/?$/;
/** What every authenticated user may read, so that a client can find its way: which resources there are. */
const DISCOVERY_PATH = /^\/(api|apis|openapi)(\/|$)/;
/** Questions about oneself, which every authenticated user may ask. */
const SELF_REVIEWS: ReadonlySet<string> = new Set([
	"authorization.k8s.io/selfsubjectaccessreviews",
	"authorization.k8s.io/selfsubjectrulesreviews",
	"authentication.k8s.io/selfsubjectreviews",
]);

/**
 * The group `system:masters` may do everything. Every other user may do nothing but find out what there is
 * and what it may do.
 */
export function isAllowed({ groups }: User, question: Question): boolean {
	if (groups.includes(MASTERS_GROUP)) return true;
	const isAuthenticated = groups.includes(AUTHENTICATED_GROUP);
	if (question.kind === "path") {
		return OPEN_PATH.test(question.path) || (isAuthenticated && DISCOVERY_PATH.test(question.path));
	}
	return isAuthenticated && question.verb === "create" && SELF_REVIEWS.has(`${question.group}/${question.plural}`);
}

/** The status of a SelfSubjectRulesReview. */
export function rulesOf({ groups }: User): object {
	const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
	const selfReviews = [
		{
			verbs: ["create"],
			apiGroups: ["authorization.k8s.io"],
			resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
		},
		{ verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
	];
	const paths = [
		"/api",
		"/api/*",
		"/apis",
		"/apis/*",
		"/healthz",
		"/livez",
		"/openapi",
		"/openapi/*",
		"/readyz",
		"/version",
	];
	const isMaster = groups.includes(MASTERS_GROUP);
	return {
		resourceRules: isMaster ? [everything, ...selfReviews] : selfReviews,
		nonResourceRules: [
			...(isMaster ? [{ verbs: ["*"], nonResourceURLs: ["*"] }] : []),
			{ verbs: ["get"], nonResourceURLs: paths },
		],
		incomplete: false,
	};
}

/** @throws {ApiError} `Forbidden` */
export function authorize(user: User, { verb, type, namespace, name, subresource }: Access): void {
	const { group, plural } = type;
	if (isAllowed(user, { kind: "resource", verb, group, plural, namespace })) return;
	const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
	const place = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
	const why = `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
	throw forbiddenFor(type, name, why);
}

/** @throws {ApiError} `Forbidden` */
export function authorizePath(user: User, verb: string, path: string): void {
	if (isAllowed(user, { kind: "path", verb, path })) return;
	throw new ApiError("Forbidden", `forbidden: User "${user.name}" cannot ${verb} path "${path}"`, { details: {} });
}
