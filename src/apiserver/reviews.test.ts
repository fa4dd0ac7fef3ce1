import { describe, expect, test } from "vitest";
import { REVIEW_TYPES } from "../api/review-types.ts";
import { ApiError } from "../api/status.ts";
import type { User } from "./ports.ts";
import { answeredReview } from "./reviews.ts";

const admin: User = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const nobody: User = { name: "nobody", groups: ["system:authenticated"] };

function ask(kind: string, body: unknown, user: User): Record<string, unknown> | string {
	const type = REVIEW_TYPES.find((known) => known.kind === kind);
	if (type === undefined) throw new Error(`No review ${kind}`);
	try {
		return { ...answeredReview(type, body, user, 0) };
	} catch (error) {
		return error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
	}
}

const listPods = { spec: { resourceAttributes: { verb: "list", resource: "pods", namespace: "default" } } };

describe("answeredReview()", () => {
	test.each([
		{ who: admin, body: listPods, allowed: true },
		{ who: nobody, body: listPods, allowed: false },
		{ who: nobody, body: { spec: { nonResourceAttributes: { path: "/version", verb: "get" } } }, allowed: true },
		{ who: nobody, body: { spec: { nonResourceAttributes: { path: "/metrics", verb: "get" } } }, allowed: false },
	])("$who.name asks for $body.spec and hears $allowed", ({ who, body, allowed }) => {
		expect(ask("SelfSubjectAccessReview", body, who)).toMatchObject({ status: { allowed } });
	});

	test("answers for the user that the question names, not for the one who asks", () => {
		const about = { spec: { ...listPods.spec, user: "nobody", groups: ["system:authenticated"] } };
		expect(ask("SubjectAccessReview", about, admin)).toMatchObject({ status: { allowed: false } });
	});

	test("says who asks", () => {
		expect(ask("SelfSubjectReview", {}, nobody)).toMatchObject({
			apiVersion: "authentication.k8s.io/v1",
			kind: "SelfSubjectReview",
			status: { userInfo: { username: "nobody", groups: ["system:authenticated"] } },
		});
	});

	test("lists what one may do", () => {
		const rules = { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], incomplete: false };
		expect(ask("SelfSubjectRulesReview", { spec: { namespace: "default" } }, admin)).toMatchObject({
			status: { ...rules, resourceRules: expect.arrayContaining(rules.resourceRules) },
		});
	});

	test("refuses a question about nothing", () => {
		expect(ask("SelfSubjectAccessReview", { spec: {} }, admin)).toContain(
			"422 SelfSubjectAccessReview.authorization.k8s.io",
		);
	});
});
