import { beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
	server = await TestServer.start({ roles: true });
});

const AGGREGATED_V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const AGGREGATED_V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

interface DiscoveryItem {
	readonly metadata: { readonly name?: string };
	readonly versions: readonly {
		readonly version: string;
		readonly resources: readonly { readonly resource: string; readonly subresources?: readonly object[] }[];
	}[];
}

describe("discovery", () => {
	test.each([
		["kubectl 1.30 and later", `${AGGREGATED_V2},${AGGREGATED_V2BETA1},application/json`, AGGREGATED_V2],
		["kubectl 1.26 to 1.29", `${AGGREGATED_V2BETA1},application/json`, AGGREGATED_V2BETA1],
		["kubectl 1.36 with its own profile first", `${AGGREGATED_V2};profile=nopeer,${AGGREGATED_V2}`, AGGREGATED_V2],
		["a quality that prefers the older", `${AGGREGATED_V2};q=0.5,${AGGREGATED_V2BETA1}`, AGGREGATED_V2BETA1],
		["kubectl 1.25 and before", "application/json, */*", "application/json"],
		["a group that is not discovery", "application/json;g=other;v=v2;as=APIGroupDiscoveryList", "application/json"],
		["no Accept at all", undefined, "application/json"],
	])("answers the form that %s asks for, and says so in its Content-Type", async (_, accept, type) => {
		for (const path of ["/api", "/apis"]) {
			const headers = accept === undefined ? {} : { accept };
			const answer = await server.request("GET", `${path}?timeout=32s`, { headers });
			expect([answer.status, answer.headers["content-type"]]).toEqual([200, type]);
		}
	});

	test("aggregated documents list every resource and subresource, groups by priority", async () => {
		const headers = { accept: AGGREGATED_V2 };
		const core = await server.request("GET", "/api", { headers });
		const named = await server.request("GET", "/apis", { headers });
		expect(core.json).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
		const items = [core, named].flatMap(({ json }) => json.items as object as readonly DiscoveryItem[]);
		expect(items.map(({ metadata }) => metadata.name ?? "")).toEqual([
			"",
			"apps",
			"events.k8s.io",
			"authentication.k8s.io",
			"authorization.k8s.io",
			"networking.k8s.io",
			"rbac.authorization.k8s.io",
			"apiextensions.k8s.io",
			"coordination.k8s.io",
			"discovery.k8s.io",
		]);
		const [{ version = "", resources = [] } = {}] = items[0]?.versions ?? [];
		expect([version, resources.map(({ resource }) => resource)]).toEqual([
			"v1",
			["configmaps", "endpoints", "events", "namespaces", "nodes", "pods", "secrets", "serviceaccounts", "services"],
		]);
		const deployments = items[1]?.versions[0]?.resources.find(({ resource }) => resource === "deployments");
		expect(deployments).toMatchObject({
			resource: "deployments",
			responseKind: { group: "apps", version: "v1", kind: "Deployment" },
			scope: "Namespaced",
			singularResource: "deployment",
			shortNames: ["deploy"],
			categories: ["all"],
			subresources: [
				{ subresource: "scale", responseKind: { group: "autoscaling", version: "v1", kind: "Scale" } },
				{ subresource: "status" },
			],
		});
	});

	test("aggregated documents have an ETag, and 304 for those who know it", async () => {
		const headers = { accept: AGGREGATED_V2 };
		const first = await server.request("GET", "/apis", { headers });
		const etag = String(first.headers["etag"]);
		expect(etag).toMatch(/^"[0-9A-F]+"$/);
		expect(first.headers).toMatchObject({ vary: "Accept", "cache-control": "public" });
		const again = await server.request("GET", "/apis", { headers: { ...headers, "if-none-match": etag } });
		expect([again.status, again.text, again.headers["etag"]]).toEqual([304, "", etag]);
		const other = await server.request("GET", "/apis", { headers: { ...headers, "if-none-match": '"OTHER"' } });
		expect(other.status).toBe(200);
	});

	test.each([
		[
			"/api",
			{
				kind: "APIVersions",
				versions: ["v1"],
				serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:6443" }],
			},
		],
		["/apis", { kind: "APIGroupList", apiVersion: "v1" }],
		[
			"/apis/apps",
			{
				kind: "APIGroup",
				apiVersion: "v1",
				name: "apps",
				versions: [{ groupVersion: "apps/v1", version: "v1" }],
				preferredVersion: { groupVersion: "apps/v1", version: "v1" },
			},
		],
		["/api/v1", { kind: "APIResourceList", groupVersion: "v1" }],
		["/api/v1/", { kind: "APIResourceList", groupVersion: "v1" }],
		["/apis/apps/v1", { kind: "APIResourceList", apiVersion: "v1", groupVersion: "apps/v1" }],
	])("the legacy document %s is there", async (path, expected) => {
		expect((await server.request("GET", path)).json).toMatchObject(expected);
	});

	test("the legacy document of the core group names pods/eviction with its foreign group, as drain needs it", async () => {
		const { json } = await server.request("GET", "/api/v1");
		const resources = json["resources"] as readonly { readonly name: string }[];
		expect(resources.find(({ name }) => name === "pods/eviction")).toEqual({
			name: "pods/eviction",
			singularName: "",
			namespaced: true,
			group: "policy",
			version: "v1",
			kind: "Eviction",
			verbs: ["create"],
		});
	});

	test("every group-version that is listed has a document, and an OpenAPI document", async () => {
		const { json } = await server.request("GET", "/apis");
		const groups = json["groups"] as readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
		for (const { groupVersion } of groups.flatMap(({ versions }) => versions)) {
			expect((await server.request("GET", `/apis/${groupVersion}`)).status).toBe(200);
			expect((await server.request("GET", `/openapi/v3/apis/${groupVersion}`)).status).toBe(200);
		}
	});
});

describe("openapi", () => {
	interface Index {
		readonly [key: string]: { readonly serverRelativeURL: string };
	}

	test("the v3 index leads to documents that are cached for a year", async () => {
		const { json } = await server.request("GET", "/openapi/v3?timeout=32s");
		const url = (json["paths"] as Index)["apis/apps/v1"]?.serverRelativeURL ?? "";
		expect(url).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
		const document = await server.request("GET", url);
		expect(document.headers).toMatchObject({
			"cache-control": "public, immutable",
			expires: "Fri, 01 Jan 2027 00:00:00 GMT",
			vary: "Accept",
		});
		expect(document.json).toMatchObject({ openapi: "3.0.0" });
	});

	test("without a hash a document is plain, with a wrong one it is elsewhere", async () => {
		const plain = await server.request("GET", "/openapi/v3/api/v1");
		expect([plain.status, plain.headers["cache-control"]]).toEqual([200, "no-cache, private"]);
		const wrong = await server.request("GET", "/openapi/v3/api/v1?hash=OLD");
		expect([wrong.status, wrong.text]).toEqual([301, ""]);
		expect(wrong.headers["location"]).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+$/);
		const right = await server.request("GET", String(wrong.headers["location"]));
		expect(right.status).toBe(200);
	});

	test.each([
		["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200, V2_PROTOBUF],
		[V2_PROTOBUF, 200, V2_PROTOBUF],
		["application/json", 200, "application/json"],
		["", 200, "application/json"],
		["text/html", 406, "application/json"],
	])("v2 for Accept %j is %i %s", async (accept, status, type) => {
		const answer = await server.request("GET", "/openapi/v2?timeout=32s", { headers: { accept } });
		expect([answer.status, answer.headers["content-type"]]).toEqual([status, type]);
		if (status !== 200) return;
		expect(answer.text.startsWith(type === V2_PROTOBUF ? "\n\u00032.0" : '{"swagger":"2.0"')).toBe(true);
		const known = { accept, "if-none-match": String(answer.headers["etag"]) };
		expect((await server.request("GET", "/openapi/v2", { headers: known })).status).toBe(304);
	});

	test.each(["/openapi/v3/api/v2", "/openapi/v3/apis/none/v1", "/openapi", "/swagger-2.0.0.pb-v1"])(
		"%s is NotFound",
		async (path) => {
			expect((await server.request("GET", path)).status).toBe(404);
		},
	);
});

describe("version and health", () => {
	test.each(["/version", "/version/", "/version?timeout=5s"])("GET %s says what is served", async (path) => {
		const { status, json } = await server.request("GET", path, { token: "" });
		expect(status).toBe(200);
		expect(json).toMatchObject({ major: "1", minor: expect.stringMatching(/^\d+\+?$/) });
		expect(json["gitVersion"]).toMatch(/^v\d+\.\d+\.\d+/);
		expect(Object.values(json).every((value) => typeof value === "string")).toBe(true);
	});

	test.each([
		["/healthz", 200, "ok"],
		["/livez", 200, "ok"],
		["/readyz", 200, "ok"],
		["/readyz?exclude=etcd", 200, "ok"],
		["/livez?verbose", 200, "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n"],
	])("GET %s is %i %j, to anybody", async (path, status, text) => {
		const answer = await server.request("GET", path, { token: "" });
		expect([answer.status, answer.text]).toEqual([status, text]);
		expect(answer.headers).toMatchObject({
			"content-type": "text/plain; charset=utf-8",
			"x-content-type-options": "nosniff",
		});
	});

	test("single checks are for those who may see them", async () => {
		expect((await server.request("GET", "/healthz/ping")).text).toBe("ok");
		expect((await server.request("GET", "/healthz/ping", { token: "" })).status).toBe(403);
	});

	test("a server that is not ready is alive all the same", async () => {
		const starting = await TestServer.start({ unready: () => "controllers" });
		const ready = await starting.request("GET", "/readyz");
		const expected = "[-]controllers failed: reason withheld\nreadyz check failed\n";
		expect([ready.status, ready.text]).toEqual([500, expected]);
		expect((await starting.request("GET", "/livez")).text).toBe("ok");
	});
});

describe("other paths", () => {
	test("GET / lists what is served", async () => {
		const { json } = await server.request("GET", "/");
		expect(json["paths"]).toEqual(expect.arrayContaining(["/api", "/apis", "/openapi/v3", "/version"]));
	});

	test.each([
		"/nope",
		"/api/v2",
		"/api/v1/nope",
		"/apis/none",
		"/apis/apps/v2",
		"/apis/apps/v1/pods",
		"/healthz/none",
		"/api/v1/constructor",
		"/__proto__",
		"/api/v1/pods/web",
		"/api/v1/namespaces/default/nodes",
		"/api/v1/namespaces/default/pods/web/nope",
		"/api/v1/namespaces/default/pods/web/constructor",
		"/api/v1/namespaces/default/pods/web/status/more",
	])("GET %s is NotFound, as a Status", async (path) => {
		const answer = await server.request("GET", path);
		expect(answer.json).toEqual({
			kind: "Status",
			apiVersion: "v1",
			metadata: {},
			status: "Failure",
			message: "the server could not find the requested resource",
			reason: "NotFound",
			details: {},
			code: 404,
		});
		expect(answer.text.endsWith("}\n")).toBe(true);
	});

	test.each(["POST", "PUT", "PATCH", "DELETE"])("%s of a path that is no resource is not allowed", async (method) => {
		const { status, json } = await server.request(method, "/version");
		expect([status, json.reason, json.message]).toEqual([
			405,
			"MethodNotAllowed",
			"the server does not allow this method on the requested resource",
		]);
	});

	test("every answer has an audit id, the client's own if it is fit for a header", async () => {
		const ask = async (id: string): Promise<unknown> =>
			(await server.request("GET", "/healthz", { headers: { "audit-id": id } })).headers["audit-id"];
		expect(await ask("my-id.1")).toBe("my-id.1");
		expect(await ask("bad\r\nid")).toMatch(/^[0-9a-f-]{36}$/);
		expect((await server.request("GET", "/healthz")).headers["cache-control"]).toBe("no-cache, private");
	});
});
