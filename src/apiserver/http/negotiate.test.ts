import { beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const ONE = `${SERVICES}/web`;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

let server: TestServer;
beforeAll(async () => {
	server = await TestServer.start();
	await server.request("POST", SERVICES, { body: { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } } });
});

const get = async (path: string, accept: string) => server.request("GET", path, { headers: { accept } });

describe("Accept", () => {
	test.each([
		["", ONE, "Service"],
		["*/*", ONE, "Service"],
		["application/*", ONE, "Service"],
		["application/json; charset=utf-8", ONE, "Service"],
		["APPLICATION/JSON", ONE, "Service"],
		["application/vnd.kubernetes.protobuf,application/json", ONE, "Service"],
		["application/cbor, application/json;q=0.1", ONE, "Service"],
		["application/json;profile=x;unknown=1", ONE, "Service"],
		[`${TABLE},application/json`, ONE, "Table"],
		[`${TABLE},application/json`, SERVICES, "Table"],
		["application/json;as=Table;g=meta.k8s.io;v=v1beta1", ONE, "Table"],
		[`application/json,${TABLE}`, ONE, "Service"],
		[`application/json;q=0.5,${TABLE}`, ONE, "Table"],
		["application/json;as=Table;v=v2;g=meta.k8s.io,application/json", ONE, "Service"],
		["application/json;as=Chair;v=v1;g=meta.k8s.io,application/json", ONE, "Service"],
		[PARTIAL, ONE, "PartialObjectMetadata"],
		[PARTIAL_LIST, SERVICES, "PartialObjectMetadataList"],
		["application/json", SERVICES, "ServiceList"],
	])("%j of %s is answered with a %s", async (accept, path, kind) => {
		const { status, json } = await get(path, accept);
		expect([status, json.kind]).toEqual([200, kind]);
	});

	const All =
		"only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";

	test.each([
		["application/vnd.kubernetes.protobuf", ONE, All],
		["text/html", ONE, All],
		["application/json;q=0", ONE, All],
		["application/json;as=Table;v=v2;g=meta.k8s.io", ONE, All],
		[PARTIAL, SERVICES, "you requested PartialObjectMetadata, but the requested object is a list (ServiceList)"],
		[PARTIAL_LIST, ONE, "you requested PartialObjectMetadataList, but the requested object is not a list"],
		["application/yaml", `${SERVICES}?watch=1`, All],
	])("%j of %s is NotAcceptable", async (accept, path, message) => {
		const { status, json, headers } = await get(path, accept);
		expect([status, json.reason, json.message, headers["content-type"]]).toEqual([
			406,
			"NotAcceptable",
			message,
			"application/json",
		]);
	});

	test.each([
		["POST", SERVICES, "text/html"],
		["POST", SERVICES, PARTIAL_LIST],
		["DELETE", SERVICES, PARTIAL],
		["DELETE", ONE, "text/html"],
		["PATCH", ONE, PARTIAL_LIST],
	])("%s %s is not carried out when its answer could not be given as %s", async (method, path, accept) => {
		const revision = server.store.revision;
		const body = { metadata: { name: "new", labels: { a: "b" } }, spec: { ports: [{ port: 80 }] } };
		const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
		const answer = await server.request(method, path, { body, contentType, headers: { accept } });
		expect([answer.status, server.store.revision]).toEqual([406, revision]);
	});

	test("an error to a client that wants a table is a Status", async () => {
		const { status, json } = await get(`${SERVICES}/gone`, `${TABLE},application/json`);
		expect([status, json.kind]).toEqual([404, "Status"]);
	});

	test("YAML is answered to those who prefer it, for one object and for a list", async () => {
		const one = await get(ONE, "application/yaml");
		expect(one.headers["content-type"]).toBe("application/yaml");
		expect(one.text).toContain("apiVersion: v1\nkind: Service\n");
		const list = await get(SERVICES, "application/yaml,application/json;q=0.9");
		expect(list.text).toMatch(/^kind: ServiceList\napiVersion: v1\n/);
	});
});

describe("pretty JSON", () => {
	test.each([
		["?pretty=true", "kubectl/v1.33", true],
		["?pretty", "kubectl/v1.33", true],
		["?pretty=false", "curl/8.5", false],
		["?pretty=0", "Mozilla/5.0", false],
		["", "curl/8.5", true],
		["", "Wget/1.2", true],
		["", "Mozilla/5.0 (X11)", true],
		["", "kubectl/v1.33", false],
		["", "my-curl/1", false],
	])("of %j by %s: %s", async (query, agent, isPretty) => {
		for (const path of [ONE, SERVICES]) {
			const { text } = await server.request("GET", `${path}${query}`, { headers: { "user-agent": agent } });
			expect(text.includes("\n  ")).toBe(isPretty);
			expect(text.endsWith("}\n")).toBe(true);
		}
		const { text } = await server.request("GET", `${SERVICES}/gone${query}`, { headers: { "user-agent": agent } });
		expect(text.includes("\n  ")).toBe(isPretty);
	});
});

describe("Content-Type of a body", () => {
	const Accepted =
		"the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";
	const JsonBody = '{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}';
	const YamlBody = "metadata:\n  name: a\nspec:\n  ports:\n  - port: 80\n";

	test.each([
		[undefined, JsonBody, 201],
		["application/json", JsonBody, 201],
		["application/json; charset=utf-8", JsonBody, 201],
		["Application/JSON", JsonBody, 201],
		["application/yaml", YamlBody, 201],
		["application/yaml", JsonBody, 201],
		["text/yaml", YamlBody, 201],
		["text/plain", JsonBody, 415],
		["application/cbor", JsonBody, 415],
		["application/merge-patch+json", JsonBody, 415],
		["application/x-www-form-urlencoded", JsonBody, 415],
		["application/json", YamlBody, 400],
		["application/vnd.kubernetes.protobuf", JsonBody, 400],
	])("%s is answered %i", async (contentType, body, status) => {
		const answer = await server.request("POST", `${SERVICES}?dryRun=All`, {
			body,
			...(contentType === undefined ? {} : { contentType }),
		});
		expect(answer.status).toBe(status);
		if (status === 415) expect([answer.json.reason, answer.json.message]).toEqual(["UnsupportedMediaType", Accepted]);
	});

	test.each([
		["application/json", 415],
		["application/apply-patch+json", 415],
		["", 415],
		["application/merge-patch+json", 200],
		["application/merge-patch+json; charset=utf-8", 200],
		["application/strategic-merge-patch+json", 200],
	])("of a patch %j is answered %i", async (contentType, status) => {
		const answer = await server.request("PATCH", `${ONE}?dryRun=All`, { body: {}, contentType });
		expect(answer.status).toBe(status);
		if (status === 415) {
			expect(answer.json.message).toBe(
				"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml",
			);
		}
	});

	test("a delete with a Content-Type and no body means default options", async () => {
		const { status } = await server.request("DELETE", `${ONE}?dryRun=All`, { contentType: "application/json" });
		expect(status).toBe(200);
	});
});
