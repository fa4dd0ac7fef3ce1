import { describe, expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { memoryStore } from "../store/store.ts";
import { Authorizer } from "./access/authorizer.ts";
import { impersonated } from "./impersonation.ts";
import type { User } from "./ports.ts";
import { MASTERS_GROUP } from "./users.ts";

const admin: User = { name: "admin", groups: [MASTERS_GROUP, "system:authenticated"] };
const plain: User = { name: "plain", groups: ["system:authenticated"] };

/** A header of several values came as often. */
function as(caller: User, sent: Readonly<Record<string, string | readonly string[]>>): User | string {
	const values = (name: string): readonly string[] => [sent[name] ?? []].flat();
	const headers = Object.fromEntries(Object.keys(sent).map((name) => [name, values(name).join(", ")]));
	try {
		const request = { header: (name: string) => headers[name], headers, headerValues: values };
		return impersonated(request, caller, new Authorizer(memoryStore(1)));
	} catch (error) {
		return error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
	}
}

describe("impersonated()", () => {
	test.each<{ rule: string; headers: Record<string, string | string[]>; gives: User | string }>([
		{ rule: "without headers the caller stays", headers: {}, gives: admin },
		{
			rule: "a user is authenticated",
			headers: { "impersonate-user": "bob" },
			gives: { name: "bob", groups: ["system:authenticated"] },
		},
		{
			rule: "the caller's own groups do not come along",
			headers: { "impersonate-user": "bob", "impersonate-group": ["dev", "ops"] },
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
			headers: { "impersonate-user": "bob", "impersonate-extra-example.com%2fscopes": ["a", "b"] },
			gives: { name: "bob", groups: ["system:authenticated"], extra: { "example.com/scopes": ["a", "b"] } },
		},
		{
			rule: "names of groups and extra values may have commas in them",
			headers: {
				"impersonate-user": "bob",
				"impersonate-group": ["cn=a,dc=b", "ops"],
				"impersonate-extra-scopes": "a, b",
			},
			gives: { name: "bob", groups: ["cn=a,dc=b", "ops", "system:authenticated"], extra: { scopes: ["a, b"] } },
		},
		{
			rule: "the first of two users counts",
			headers: { "impersonate-user": ["bob", "ann"] },
			gives: { name: "bob", groups: ["system:authenticated"] },
		},
		...[{ "impersonate-group": "dev" }, { "impersonate-uid": "1" }, { "impersonate-extra-scopes": "view" }].map(
			(headers) => ({
				rule: `${Object.keys(headers).join()} alone names nobody`,
				headers,
				gives: "400 requested impersonation of groups, a uid or extra values without impersonating a user",
			}),
		),
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
