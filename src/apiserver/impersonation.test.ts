import { describe, expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { MASTERS_GROUP } from "./authorization.ts";
import { impersonated } from "./impersonation.ts";
import type { User } from "./ports.ts";

const admin: User = { name: "admin", groups: [MASTERS_GROUP, "system:authenticated"] };
const plain: User = { name: "plain", groups: ["system:authenticated"] };

function as(caller: User, headers: Readonly<Record<string, string>>): User | string {
	try {
		return impersonated({ header: (name) => headers[name] }, caller);
	} catch (error) {
		return error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
	}
}

describe("impersonated()", () => {
	test.each<{ rule: string; headers: Record<string, string>; gives: User | string }>([
		{ rule: "without headers the caller stays", headers: {}, gives: admin },
		{
			rule: "a user is authenticated",
			headers: { "impersonate-user": "bob" },
			gives: { name: "bob", groups: ["system:authenticated"] },
		},
		{
			rule: "the caller's own groups do not come along",
			headers: { "impersonate-user": "bob", "impersonate-group": "dev, ops" },
			gives: { name: "bob", groups: ["dev", "ops", "system:authenticated"] },
		},
		{
			rule: "a uid comes along",
			headers: { "impersonate-user": "bob", "impersonate-uid": "42" },
			gives: { name: "bob", uid: "42", groups: ["system:authenticated"] },
		},
		{
			rule: "a service account has the groups of its namespace",
			headers: { "impersonate-user": "system:serviceaccount:shop:web" },
			gives: {
				name: "system:serviceaccount:shop:web",
				groups: ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
			},
		},
		{
			rule: "anonymous is not authenticated",
			headers: { "impersonate-user": "system:anonymous" },
			gives: { name: "system:anonymous", groups: ["system:unauthenticated"] },
		},
		{
			rule: "groups alone name nobody",
			headers: { "impersonate-group": "dev" },
			gives: "400 requested impersonation of groups or a uid without impersonating a user",
		},
	])("$rule", ({ headers, gives }) => {
		expect(as(admin, headers)).toEqual(gives);
	});

	test("is refused to those who may not do it", () => {
		expect(as(plain, { "impersonate-user": "admin" })).toBe(
			'403 users "admin" is forbidden: User "plain" cannot impersonate resource "users" in API group "" at the cluster scope',
		);
	});
});
