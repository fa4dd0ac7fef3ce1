import { beforeAll, describe, expect, test } from "vitest";
import { REVIEW_TYPES } from "../api/review-types.ts";
import { ApiError } from "../api/status.ts";
import { TestServer } from "../testing/test-server.ts";
import type { User } from "./ports.ts";
import { answeredReview, type ReviewPorts } from "./reviews.ts";

const admin: User = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const nobody: User = { name: "nobody", groups: ["system:authenticated"] };

let ports: ReviewPorts;
beforeAll(async () => {
	const { server } = await TestServer.start({ roles: true });
	const userOfToken: ReviewPorts["userOfToken"] = async (token, audiences = ["api"]) =>
		token === "good" && audiences.includes("api") ? { user: nobody, audiences: ["api"] } : undefined;
	ports = { authorizer: server.ports.authorizer, userOfToken, nowMs: () => 0 };
});

async function ask(kind: string, body: unknown, user: User): Promise<Record<string, unknown> | string> {
	const type = REVIEW_TYPES.find((known) => known.kind === kind);
	if (type === undefined) throw new Error(`No review ${kind}`);
	try {
		return { ...(await answeredReview(ports, type, body, user)) };
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
	])("$who.name asks for $body.spec and hears $allowed", async ({ who, body, allowed }) => {
		expect(await ask("SelfSubjectAccessReview", body, who)).toMatchObject({ status: { allowed } });
	});

	test("answers for the user that the question names, not for the one who asks", async () => {
		const about = { spec: { ...listPods.spec, user: "nobody", groups: ["system:authenticated"] } };
		expect(await ask("SubjectAccessReview", about, admin)).toMatchObject({ status: { allowed: false } });
	});

	test("says who asks", async () => {
		expect(await ask("SelfSubjectReview", {}, nobody)).toMatchObject({
			apiVersion: "authentication.k8s.io/v1",
			kind: "SelfSubjectReview",
			status: { userInfo: { username: "nobody", groups: ["system:authenticated"] } },
		});
	});

	test("lists what one may do", async () => {
		const rules = { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], incomplete: false };
		expect(await ask("SelfSubjectRulesReview", { spec: { namespace: "default" } }, admin)).toMatchObject({
			status: { ...rules, resourceRules: expect.arrayContaining(rules.resourceRules) },
		});
	});

	test("lists the roles' rules, of a namespace only", async () => {
		expect(await ask("SelfSubjectRulesReview", { spec: { namespace: "default" } }, nobody)).toMatchObject({
			status: {
				resourceRules: expect.arrayContaining([
					{ verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
				]),
				nonResourceRules: expect.arrayContaining([
					{ verbs: ["get"], nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"] },
				]),
			},
		});
		expect(await ask("SelfSubjectRulesReview", { spec: {} }, nobody)).toBe("400 no namespace on request");
	});

	test.each([
		{ spec: { token: "good" }, status: { authenticated: true, audiences: ["api"], user: { username: "nobody" } } },
		{ spec: { token: "good", audiences: ["vault"] }, status: { user: {}, error: "invalid bearer token" } },
		{ spec: { token: "bad" }, status: { user: {}, error: "invalid bearer token" } },
	])("says whose token it is: $spec", async ({ spec, status }) => {
		expect(await ask("TokenReview", { spec }, admin)).toMatchObject({ status });
	});

	test("wants a token to say whose it is", async () => {
		expect(await ask("TokenReview", { spec: {} }, admin)).toBe(
			"400 token is required for TokenReview in authentication",
		);
	});

	test("refuses a question about nothing", async () => {
		expect(await ask("SelfSubjectAccessReview", { spec: {} }, admin)).toContain(
			"422 SelfSubjectAccessReview.authorization.k8s.io",
		);
	});
});
