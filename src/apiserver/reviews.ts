/** Answers questions about users: what may I, what may they, who am I, whose token is this. */

import type { DiscoveredType } from "../api/discovery.ts";
import { type FieldError, invalid, required } from "../api/field-error.ts";
import { apiVersionOf } from "../api/resource.ts";
import {
	LOCAL_SUBJECT_ACCESS_REVIEW,
	REVIEW_TYPES,
	SELF_SUBJECT_ACCESS_REVIEW,
	SELF_SUBJECT_REVIEW,
	SELF_SUBJECT_RULES_REVIEW,
	TOKEN_REVIEW,
} from "../api/review-types.ts";
import { decodeObject } from "../api/schema/decode.ts";
import { badRequest, invalidObject } from "../api/status.ts";
import type { TokenReview } from "../api/types/authentication.ts";
import type { AccessReview, AccessReviewSpec, RulesReview } from "../api/types/authorization.ts";
import type { PolicyRule } from "../api/types/rbac.ts";
import type { Question } from "../plan/access/question.ts";
import type { TokenUser } from "./access/account-tokens.ts";
import type { Authorizer } from "./access/authorizer.ts";
import type { User } from "./ports.ts";
import { timestamp } from "./timestamp.ts";

export interface ReviewPorts {
	readonly authorizer: Authorizer;
	/** Whose token it is, for these audiences; without them, for this API server. */
	readonly userOfToken: (token: string, audiences?: readonly string[]) => Promise<TokenUser | undefined>;
	readonly nowMs: () => number;
}

export function reviewTypeOf(group: string, version: string, plural: string): DiscoveredType | undefined {
	return REVIEW_TYPES.find((type) => type.group === group && type.version === version && type.plural === plural);
}

/**
 * The review with its status filled in.
 * @throws {ApiError} `BadRequest` for a body of another shape, `Invalid` for a question that cannot be answered.
 */
export async function answeredReview(
	ports: ReviewPorts,
	type: DiscoveredType,
	body: unknown,
	user: User,
): Promise<object> {
	const decoded = decodeObject(type.schema, body ?? {}, { apiVersion: apiVersionOf(type), kind: type.kind });
	if (decoded.kind === "wrong") throw badRequest(decoded.message);
	const metadata = { creationTimestamp: timestamp(ports.nowMs()) };
	const object: AccessReview = decoded.object;
	switch (type) {
		case SELF_SUBJECT_REVIEW:
			return { ...object, metadata, status: { userInfo: userInfoOf(user) } };
		case SELF_SUBJECT_RULES_REVIEW:
			return { ...object, metadata, status: rulesReview(ports, decoded.object, user) };
		case TOKEN_REVIEW:
			return { ...object, metadata, status: await tokenReview(ports, decoded.object) };
		default:
			return { ...object, status: accessReview(ports, type, object, user) };
	}
}

function accessReview({ authorizer }: ReviewPorts, type: DiscoveredType, review: AccessReview, user: User): object {
	const { spec = {} } = review;
	const errors = accessReviewErrors(type, review);
	if (errors.length > 0) throw invalidObject(type, "", errors);
	const subject = type === SELF_SUBJECT_ACCESS_REVIEW ? user : subjectOf(spec);
	const { allowed, reason } = authorizer.decide(subject, questionOf(spec));
	return { allowed, ...(reason === "" ? {} : { reason }) };
}

function rulesReview({ authorizer }: ReviewPorts, review: RulesReview, user: User): object {
	const { namespace = "" } = review.spec ?? {};
	if (namespace === "") throw badRequest("no namespace on request");
	const { rules, problems } = authorizer.rules(user, namespace);
	const isForPaths = ({ nonResourceURLs = [] }: PolicyRule): boolean => nonResourceURLs.length > 0;
	return {
		resourceRules: rules.filter((rule) => !isForPaths(rule)),
		nonResourceRules: rules.filter(isForPaths),
		incomplete: problems.length > 0,
		...(problems.length > 0 ? { evaluationError: problems.join(", ") } : {}),
	};
}

async function tokenReview({ userOfToken }: ReviewPorts, review: TokenReview): Promise<object> {
	const { token = "", audiences = [] } = review.spec ?? {};
	if (token === "") throw badRequest("token is required for TokenReview in authentication");
	const found = await (audiences.length > 0 ? userOfToken(token, audiences) : userOfToken(token));
	if (found === undefined) return { user: {}, error: "invalid bearer token" };
	return { authenticated: true, user: userInfoOf(found.user), audiences: found.audiences };
}

function userInfoOf({ name, uid, groups, extra }: User): object {
	return {
		username: name,
		...(uid === undefined ? {} : { uid }),
		groups,
		...(extra === undefined ? {} : { extra }),
	};
}

function subjectOf({ user = "", groups = [], uid }: AccessReviewSpec): User {
	return { name: user, groups, ...(uid === undefined ? {} : { uid }) };
}

function questionOf({ resourceAttributes, nonResourceAttributes }: AccessReviewSpec): Question {
	if (resourceAttributes === undefined) {
		return { kind: "path", verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
	}
	const { verb = "", group = "", resource = "", subresource, namespace = "", name = "" } = resourceAttributes;
	return { kind: "resource", verb, group, plural: resource, subresource, namespace, name };
}
function accessReviewErrors(type: DiscoveredType, { metadata, spec = {} }: AccessReview): readonly FieldError[] {
	const errors: FieldError[] = [];
	const { resourceAttributes, nonResourceAttributes } = spec;
	if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
		const why = "cannot be specified in combination with resourceAttributes";
		errors.push(invalid("spec.nonResourceAttributes", nonResourceAttributes, why));
	}
	if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
		const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
		errors.push(invalid("spec.resourceAttributes", undefined, why));
	}
	if (type === SELF_SUBJECT_ACCESS_REVIEW) return errors;
	if ((spec.user ?? "") === "" && (spec.groups ?? []).length === 0) {
		errors.push(required("spec.user", "at least one of user or group must be specified"));
	}
	if (type === LOCAL_SUBJECT_ACCESS_REVIEW && (resourceAttributes?.namespace ?? "") !== (metadata?.namespace ?? "")) {
		errors.push(
			invalid("spec.resourceAttributes.namespace", resourceAttributes?.namespace, "must match metadata.namespace"),
		);
	}
	return errors;
}
