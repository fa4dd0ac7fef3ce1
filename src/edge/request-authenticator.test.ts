import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../apiserver/http/message.ts";
import { testAccountTokens } from "../testing/test-api.ts";
import { TestServer } from "../testing/test-server.ts";
import { RequestAuthenticator } from "./request-authenticator.ts";
import { TokenAuthenticator } from "./token-authenticator.ts";

const ann = { name: "ann", groups: ["a", "system:authenticated"] };
const bob = { name: "bob", groups: ["system:authenticated"] };
const tokens = new TokenAuthenticator({ "token-of-ann": { name: "ann", groups: ["a"] }, "token-of-bob": bob });
const { server } = await TestServer.start();
const accounts = testAccountTokens(server);
const users = new RequestAuthenticator({ tokens, accounts, issuer: "us" });

/** With what a connection's certificate says, if it has one. */
async function user(
	authorization: string | undefined,
	clientCertificate?: HttpRequest["clientCertificate"],
): Promise<unknown> {
	const request: Pick<HttpRequest, "header" | "clientCertificate"> = {
		header: (name) => (name === "authorization" ? authorization : undefined),
		clientCertificate,
	};
	return users.authenticate(request as HttpRequest);
}

describe("a bearer token", () => {
	test.each([
		["Bearer token-of-ann", ann],
		["bearer token-of-bob", bob],
		["BEARER   token-of-bob  ", bob],
		[undefined, undefined],
	])("%j is %j", async (authorization, expected) => {
		expect(await user(authorization)).toEqual(expected);
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
		"Bearer a.b.c",
	])("%j is refused", async (authorization) => {
		await expect(user(authorization)).rejects.toThrow("Unauthorized");
	});

	test("is for this server only", async () => {
		expect(await users.userOfToken("token-of-bob")).toEqual({ user: bob, audiences: ["us"] });
		expect(await users.userOfToken("token-of-bob", ["them"])).toBeUndefined();
		expect(await users.userOfToken("token-of-nobody")).toBeUndefined();
	});
});

describe("a client certificate", () => {
	const certificate = { commonName: "cat", organizations: ["c"] };

	test("names its user and groups", async () => {
		expect(await user(undefined, certificate)).toEqual({ name: "cat", groups: ["c", "system:authenticated"] });
	});

	test("that is not ours is refused, unless a token is known", async () => {
		await expect(user(undefined, "untrusted")).rejects.toThrow("Unauthorized");
		expect(await user("Bearer token-of-bob", "untrusted")).toEqual(bob);
	});

	test("that names nobody is none", async () => {
		expect(await user(undefined, { commonName: "", organizations: [] })).toBeUndefined();
	});
});
