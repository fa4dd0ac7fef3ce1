/**
 * Questions about users: they are POSTed, answered and forgotten, so they are resources for discovery only.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
 */
import type { DiscoveredType } from "./discovery.ts";

function review(group: "authentication" | "authorization", kind: string, namespaced = false): DiscoveredType {
	return {
		group: `${group}.k8s.io`,
		version: "v1",
		kind,
		plural: `${kind.toLowerCase()}s`,
		singular: kind.toLowerCase(),
		namespaced,
		shortNames: [],
		categories: [],
		verbs: ["create"],
		subresources: [],
		schema: `${group}.${kind}`,
	};
}

export const SELF_SUBJECT_REVIEW: DiscoveredType = review("authentication", "SelfSubjectReview");
export const TOKEN_REVIEW: DiscoveredType = review("authentication", "TokenReview");
export const SELF_SUBJECT_ACCESS_REVIEW: DiscoveredType = review("authorization", "SelfSubjectAccessReview");
export const SELF_SUBJECT_RULES_REVIEW: DiscoveredType = review("authorization", "SelfSubjectRulesReview");
export const SUBJECT_ACCESS_REVIEW: DiscoveredType = review("authorization", "SubjectAccessReview");
export const LOCAL_SUBJECT_ACCESS_REVIEW: DiscoveredType = review("authorization", "LocalSubjectAccessReview", true);

export const REVIEW_TYPES: readonly DiscoveredType[] = [
	SELF_SUBJECT_REVIEW,
	TOKEN_REVIEW,
	LOCAL_SUBJECT_ACCESS_REVIEW,
	SELF_SUBJECT_ACCESS_REVIEW,
	SELF_SUBJECT_RULES_REVIEW,
	SUBJECT_ACCESS_REVIEW,
];
