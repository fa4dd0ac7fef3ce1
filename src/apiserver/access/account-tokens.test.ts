import { beforeEach, describe, expect, test } from "vitest";
import { SERVICE_ACCOUNTS } from "../../api/resource-names.ts";
import { testAccountTokens } from "../../testing/test-api.ts";
import { TestServer } from "../../testing/test-server.ts";
import type { AccountTokens } from "./account-tokens.ts";

const KEY = { namespace: "default", name: "web" };
let server: TestServer;
let tokens: AccountTokens;
beforeEach(async () => {
	server = await TestServer.start();
	tokens = testAccountTokens(server.server);
	await server.client.create(SERVICE_ACCOUNTS, "default", { metadata: { name: "web" } });
});

async function tokenFor(spec: object = {}): Promise<string> {
	const type = server.server.typeOf(SERVICE_ACCOUNTS);
	const answer = await tokens.request({ type, ...KEY }, { spec });
	return (answer as { status: { token: string } }).status.token;
}

const nameOf = async (token: string): Promise<string | undefined> => (await tokens.userOf(token))?.user.name;

describe("a token of a ServiceAccount", () => {
	test("proves the account, with its uid, its groups and its own id", async () => {
		const { metadata } = await server.client.get(SERVICE_ACCOUNTS, KEY);
		expect(await tokens.userOf(await tokenFor())).toMatchObject({
			user: {
				name: "system:serviceaccount:default:web",
				uid: metadata.uid,
				groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
				extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=/)] },
			},
		});
	});

	test("is worth nothing once its time is over", async () => {
		const token = await tokenFor({ expirationSeconds: 600 });
		await server.clock.advance(599_000);
		expect(await nameOf(token)).toBe("system:serviceaccount:default:web");
		await server.clock.advance(1_000);
		expect(await nameOf(token)).toBeUndefined();
	});

	test("is worth nothing once its account is gone, or is another one of that name", async () => {
		const token = await tokenFor();
		await server.client.delete(SERVICE_ACCOUNTS, KEY);
		expect(await nameOf(token)).toBeUndefined();
		await server.client.create(SERVICE_ACCOUNTS, "default", { metadata: { name: "web" } });
		expect(await nameOf(token)).toBeUndefined();
	});

	test.each([
		["another signature", (token: string) => `${token.slice(0, -6)}AAAAAA`],
		["no signature", (token: string) => token.replace(/[^.]+$/, "")],
		["other claims", (token: string) => token.replace(/\.[^.]+\./, `.${btoa('{"sub":"system:admin"}')}.`)],
		["the algorithm none", (token: string) => token.replace(/^[^.]+/, btoa('{"alg":"none"}').replaceAll("=", ""))],
	])("with %s is worth nothing", async (_, changed) => {
		expect(await nameOf(changed(await tokenFor()))).toBeUndefined();
	});

	test("of a Pod names it, and ends with it", async () => {
		const pods = "/api/v1/namespaces/default/pods";
		const spec = { containers: [{ name: "c", image: "i" }], serviceAccountName: "web" };
		await server.request("POST", pods, { body: { metadata: { name: "p" }, spec } });
		const token = await tokenFor({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } });
		expect((await tokens.userOf(token))?.user.extra).toMatchObject({ "authentication.kubernetes.io/pod-name": ["p"] });
		await server.request("DELETE", `${pods}/p?gracePeriodSeconds=0`);
		expect(await nameOf(token)).toBeUndefined();
	});

	test("is not bound to a Pod of another account", async () => {
		const spec = { containers: [{ name: "c", image: "i" }] };
		await server.request("POST", "/api/v1/namespaces/default/pods", { body: { metadata: { name: "p" }, spec } });
		await expect(tokenFor({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } })).rejects.toThrow(
			'cannot bind token for serviceaccount "web" to pod running with different serviceaccount name.',
		);
	});
});
