/** Answers questions about users: what may I, what may they, who am I. */

import type { DiscoveredType } from "../api/discovery.ts";
import { type FieldError, invalid, required } from "../api/field-error.ts";
import { apiVersionOf } from "../api/resource.ts";
import {
	LOCAL_SUBJECT_ACCESS_REVIEW,
	REVIEW_TYPES,
	SELF_SUBJECT_ACCESS_REVIEW,
	SELF_SUBJECT_REVIEW,
	SELF_SUBJECT_RULES_REVIEW,
} from "../api/review-types.ts";
import { decodeObject } from "../api/schema/decode.ts";
import { badRequest, invalidObject } from "../api/status.ts";
import type { AccessReview, AccessReviewSpec } from "../api/types/authorization.ts";
import { isAllowed, rulesOf } from "./authorization.ts";
import type { User } from "./ports.ts";
import { timestamp } from "./timestamp.ts";

export function reviewTypeOf(group: string, version: string, plural: string): DiscoveredType | undefined {
	return REVIEW_TYPES.find((type) => type.group === group && type.version === version && type.plural === plural);
}

/**
 * The review with its status filled in.
 * @throws {ApiError} `BadRequest` for a body of another shape, `Invalid` for a question that cannot be answered.
 */
export function answeredReview(type: DiscoveredType, body: unknown, user: User, nowMs: number): object {
	const decoded = decodeObject(type.schema, body ?? {}, { apiVersion: apiVersionOf(type), kind: type.kind });
	if (decoded.kind === "wrong") throw badRequest(decoded.message);
	const metadata = { creationTimestamp: timestamp(nowMs) };
	if (type === SELF_SUBJECT_REVIEW) return { ...decoded.object, metadata, status: { userInfo: userInfoOf(user) } };
	if (type === SELF_SUBJECT_RULES_REVIEW) return { ...decoded.object, metadata, status: rulesOf(user) };
	const review: AccessReview = decoded.object;
	const { spec = {} } = review;
	const errors = accessReviewErrors(type, review);
	if (errors.length > 0) throw invalidObject(type, "", errors);
	const subject = type === SELF_SUBJECT_ACCESS_REVIEW ? user : subjectOf(spec);
	return { ...review, status: { allowed: isAllowed(subject, questionOf(spec)) } };
}

function userInfoOf({ name, uid, groups }: User): object {
	return { username: name, ...(uid === undefined ? {} : { uid }), groups };
}

function subjectOf({ user = "", groups = [], uid }: AccessReviewSpec): User {
	return { name: user, groups, ...(uid === undefined ? {} : { uid }) };
}

function questionOf({ resourceAttributes, nonResourceAttributes }: AccessReviewSpec): Parameters<typeof isAllowed>[1] {
	if (resourceAttributes === undefined) {
		return { kind: "path", verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
	}
	const { verb = "", group = "", resource = "", namespace = "" } = resourceAttributes;
	return { kind: "resource", verb, group, plural: resource, namespace };
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
