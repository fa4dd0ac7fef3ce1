import { describe, expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { memoryStore } from "../store/store.ts";
import { Authorizer } from "./access/authorizer.ts";
import { impersonated } from "./impersonation.ts";
import type { User } from "./ports.ts";
import { MASTERS_GROUP } from "./users.ts";

const admin: User = { name: "admin", groups: [MASTERS_GROUP, "system:authenticated"] };
const plain: User = { name: "plain", groups: ["system:authenticated"] };

function as(caller: User, headers: Readonly<Record<string, string>>): User | string {
	try {
		return impersonated({ header: (name) => headers[name], headers }, caller, new Authorizer(memoryStore(1)));
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
			rule: "what else is known of the user comes along, by decoded keys",
			headers: { "impersonate-user": "bob", "impersonate-extra-example.com%2fscopes": "a, b" },
			gives: { name: "bob", groups: ["system:authenticated"], extra: { "example.com/scopes": ["a", "b"] } },
		},
		{
			rule: "groups alone name nobody",
			headers: { "impersonate-group": "dev" },
			gives: "400 requested impersonation of groups or a uid without impersonating a user",
		},
	])("$rule", ({ headers, gives }) => {
		expect(as(admin, headers)).toEqual(gives);
	});

	test("of a ServiceAccount is a right in its namespace", () => {
		expect(as(plain, { "impersonate-user": "system:serviceaccount:shop:web" })).toBe(
			'403 serviceaccounts "web" is forbidden: User "plain" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "shop"',
		);
	});

	test("is refused to those who may not do it", () => {
		expect(as(plain, { "impersonate-user": "admin" })).toBe(
			'403 users "admin" is forbidden: User "plain" cannot impersonate resource "users" in API group "" at the cluster scope',
		);
	});
});
