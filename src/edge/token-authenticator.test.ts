import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../apiserver/http/message.ts";
import { TokenAuthenticator } from "./token-authenticator.ts";

const ann = { name: "ann", groups: ["a"] };
const bob = { name: "bob", groups: [] };
const users = new TokenAuthenticator({ "token-of-ann": ann, "token-of-bob": bob });

function user(authorization: string | undefined): unknown {
	const request: Pick<HttpRequest, "header"> = {
		header: (name) => (name === "authorization" ? authorization : undefined),
	};
	return users.authenticate(request as HttpRequest);
}

describe("TokenAuthenticator", () => {
	test.each([
		["Bearer token-of-ann", ann],
		["bearer token-of-bob", bob],
		["BEARER   token-of-bob  ", bob],
		[undefined, undefined],
	])("%j is %j", (authorization, expected) => {
		expect(user(authorization)).toEqual(expected);
	});

	test.each([
		"",
		"Bearer",
		"Bearer ",
		"Bearer token-of-an",
		"Bearer token-of-annn",
		"Bearer TOKEN-OF-ANN",
		"Bearer token-of-ann token-of-bob",
		"Basic token-of-ann",
		"token-of-ann",
		"Bearer constructor",
		"Bearer __proto__",
	])("%j is refused", (authorization) => {
		expect(() => user(authorization)).toThrow("Unauthorized");
	});

	test("nobody is known by an empty token", () => {
		const none = new TokenAuthenticator({});
		const request: Pick<HttpRequest, "header"> = { header: () => "Bearer " };
		expect(() => none.authenticate(request as HttpRequest)).toThrow("Unauthorized");
	});
});
