import { beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
	server = await TestServer.start({ roles: true });
	await server.request("POST", "/api/v1/namespaces/default/pods", {
		body: { metadata: { name: "web" }, spec: { containers: [{ name: "c", image: "i" }] } },
	});
});

describe("authentication", () => {
	test.each([
		["an unknown token", "Bearer wrong"],
		["no token at all", "Bearer "],
		["another scheme", "Basic YWRtaW46YWRtaW4="],
		["an empty header", ""],
		["two tokens", "Bearer admin nobody"],
	])("%s is Unauthorized, on every path", async (_, authorization) => {
		for (const path of ["/api/v1/pods", "/healthz", "/version", "/nope"]) {
			const { status, json } = await server.request("GET", path, { token: "", headers: { authorization } });
			expect([status, json]).toEqual([
				401,
				{
					kind: "Status",
					apiVersion: "v1",
					metadata: {},
					status: "Failure",
					message: "Unauthorized",
					reason: "Unauthorized",
					code: 401,
				},
			]);
		}
	});

	test("the scheme is read in any case", async () => {
		const headers = { authorization: "bearer admin" };
		expect((await server.request("GET", "/api/v1/pods", { token: "", headers })).status).toBe(200);
	});
});

describe("authorization", () => {
	const Anyone = 'User "system:anonymous"';
	const Ns = "/api/v1/namespaces/default";

	test.each([
		[
			"GET",
			"/api/v1/pods",
			`pods is forbidden: ${Anyone} cannot list resource "pods" in API group "" at the cluster scope`,
		],
		[
			"GET",
			`${Ns}/pods?watch=1`,
			`pods is forbidden: ${Anyone} cannot watch resource "pods" in API group "" in the namespace "default"`,
		],
		[
			"GET",
			`${Ns}/pods/web`,
			`pods "web" is forbidden: ${Anyone} cannot get resource "pods" in API group "" in the namespace "default"`,
		],
		[
			"POST",
			"/apis/apps/v1/namespaces/default/deployments",
			`deployments.apps is forbidden: ${Anyone} cannot create resource "deployments" in API group "apps" in the namespace "default"`,
		],
		[
			"PATCH",
			`${Ns}/pods/web/status`,
			`pods "web" is forbidden: ${Anyone} cannot patch resource "pods/status" in API group "" in the namespace "default"`,
		],
		[
			"DELETE",
			`${Ns}/pods`,
			`pods is forbidden: ${Anyone} cannot deletecollection resource "pods" in API group "" in the namespace "default"`,
		],
		[
			"PUT",
			"/api/v1/nodes/n1",
			`nodes "n1" is forbidden: ${Anyone} cannot update resource "nodes" in API group "" at the cluster scope`,
		],
		[
			"GET",
			"/api/v1/secrets",
			`secrets is forbidden: ${Anyone} cannot list resource "secrets" in API group "" at the cluster scope`,
		],
		["GET", "/api", `forbidden: ${Anyone} cannot get path "/api"`],
		["GET", "/metrics", `forbidden: ${Anyone} cannot get path "/metrics"`],
		["GET", "/nope", `forbidden: ${Anyone} cannot get path "/nope"`],
		["GET", "/versions", `forbidden: ${Anyone} cannot get path "/versions"`],
	])("%s %s without credentials is Forbidden", async (method, path, message) => {
		const { status, json } = await server.request(method, path, { token: "" });
		expect([status, json.reason, json.message]).toEqual([403, "Forbidden", message]);
	});

	test("a user without rights is named in the refusal, which changes nothing", async () => {
		const revision = server.store.revision;
		const { json } = await server.request("DELETE", `${Ns}/pods/web`, { token: "nobody" });
		expect(json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message:
				'pods "web" is forbidden: User "nobody" cannot delete resource "pods" in API group "" in the namespace "default"',
			reason: "Forbidden",
			details: { name: "web", kind: "pods" },
			code: 403,
		});
		expect(server.store.revision).toBe(revision);
	});

	test("what is not served is forbidden too, so that nobody learns what there is", async () => {
		const { status } = await server.request("GET", "/apis/none/v1/nothings", { token: "nobody" });
		expect(status).toBe(403);
	});
});

describe("rights that change", () => {
	const Rbac = "/apis/rbac.authorization.k8s.io/v1";
	const asEve = { headers: { "impersonate-user": "eve" } };
	const binding = {
		metadata: { name: "eve" },
		subjects: [{ kind: "User", name: "eve" }],
		roleRef: { kind: "ClusterRole", name: "view" },
	};
	const podsOfEve = async (): Promise<number> =>
		(await server.request("GET", "/api/v1/namespaces/default/pods", asEve)).status;

	test("what a binding gave is gone when its deletion is answered", async () => {
		const bindings = `${Rbac}/namespaces/default/rolebindings`;
		expect(await podsOfEve()).toBe(403);
		await server.request("POST", bindings, { body: binding });
		expect(await podsOfEve()).toBe(200);
		await server.request("DELETE", `${bindings}/eve`);
		expect(await podsOfEve()).toBe(403);
		expect(server.server.ports.authorizer.asOf).toBe(server.store.revision);
	});

	test("a namespace itself is a thing of its own place", async () => {
		await server.request("POST", `${Rbac}/namespaces/default/rolebindings`, { body: binding });
		const statusOf = async (path: string): Promise<number> => (await server.request("GET", path, asEve)).status;
		expect(await statusOf("/api/v1/namespaces/default")).toBe(200);
		expect(await statusOf("/api/v1/namespaces/kube-system")).toBe(403);
		expect(await statusOf("/api/v1/namespaces")).toBe(403);
	});

	test("whoever may list one object may ask for a list of it alone", async () => {
		const metadata = { name: "one" };
		const rules = [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"], verbs: ["list", "watch"] }];
		await server.request("POST", `${Rbac}/namespaces/default/roles`, { body: { metadata, rules } });
		const roleRef = { kind: "Role", name: "one" };
		const subjects = [{ kind: "User", name: "bob" }];
		await server.request("POST", `${Rbac}/namespaces/default/rolebindings`, { body: { metadata, roleRef, subjects } });
		const asked = async (query: string): Promise<number> => {
			const path = `/api/v1/namespaces/default/configmaps${query}`;
			return (await server.request("GET", path, { headers: { "impersonate-user": "bob" } })).status;
		};
		expect(await asked("?fieldSelector=metadata.name%3Done")).toBe(200);
		expect(await asked("?fieldSelector=metadata.namespace%3Ddefault,metadata.name%3D%3Done&limit=1")).toBe(200);
		const headers = { "impersonate-user": "bob" };
		const path = "/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Done";
		const watch = await server.watch(path, { headers });
		watch.close();
		for (const query of ["", "?fieldSelector=metadata.name%3Dtwo", "?fieldSelector=metadata.name!%3Done"]) {
			expect(await asked(query)).toBe(403);
		}
	});
});
