import { beforeEach, describe, expect, test } from "vitest";
import { type AnswerJson, type TestResponse, TestServer } from "../../testing/test-server.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const CANNOT = 'Service in version "v1" cannot be handled as a Service: ';

let server: TestServer;
beforeEach(async () => {
	server = await TestServer.start();
});

const post = (body: unknown, query = ""): Promise<TestResponse> =>
	server.request("POST", `${SERVICES}${query}`, { body, contentType: "application/json" });

describe("a body with much that is odd or wrong", () => {
	const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 1]));
	const twice = Array.from({ length: 60 }, (_, index) => `"t${index}":1,"t${index}":1`);

	test("is told of a hundred odd fields, as by a real server", async () => {
		const text = `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]},${JSON.stringify(many).slice(1, -1)},${twice.join()}}`;
		const { json } = await post(text, "?fieldValidation=Strict");
		expect(json.message?.match(/duplicate field/g)).toHaveLength(60);
		expect(json.message?.match(/unknown field/g)).toHaveLength(40);
	});

	test("is told of 500 errors, and that there are more", async () => {
		const ports = Array.from({ length: 2_000 }, (_, index) => ({ port: index + 1 }));
		const { json } = await post({ metadata: { name: "a" }, spec: { ports } });
		expect(json.details?.causes).toHaveLength(500);
		expect(json.message).toMatch(/spec\.ports\[499\]\.name: Required value, and more\]$/);
	});
});

describe("a body that cannot be read", () => {
	test.each([
		["no body", "", "the body of the request is empty: send a Service"],
		[
			"broken JSON",
			'{"metadata":',
			/^the object provided is unrecognized \(must be of type Service\): .*\(\{"metadata":\)$/,
		],
		["JSON with more behind it", '{} {"a":1}', /^the object provided is unrecognized/],
		["what is no JSON", "name=web&a=b", /\(6e616d653d77656226613d62\)$/],
		["a list", "[1]", /^the object provided is unrecognized \(must be of type Service\): .*array/],
		["null", "null", /^the object provided is unrecognized/],
		["a number", "5", /^the object provided is unrecognized/],
		["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), "the body of the request is not UTF-8"],
		["a string as metadata", { metadata: "x" }, /^Service in version "v1" cannot be handled as a Service: json: /],
		["a number as kind", { kind: 5 }, /kind and apiVersion must be strings/],
		["another kind", { kind: "Pod", apiVersion: "v1" }, /^Pod in version "v1" cannot be handled as a Service: /],
		[
			"another version",
			{ kind: "Service", apiVersion: "apps/v1" },
			"the API version in the data (apps/v1) does not match the expected API version (v1)",
		],
		[
			"a wrong type in a list",
			{ metadata: { name: "a" }, spec: { ports: [{ port: "80" }] } },
			`${CANNOT}json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32`,
		],
		["a number that is not whole", { metadata: { name: "a" }, spec: { ports: [{ port: 1.5 }] } }, /number 1\.5/],
	])("%s is BadRequest, and changes nothing", async (_, body, message) => {
		const revision = server.store.revision;
		const { status, json } = await post(body);
		expect([status, json.reason, server.store.revision]).toEqual([400, "BadRequest", revision]);
		expect(json.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
	});

	test.each([
		["broken YAML", "metadata: [", /^error converting YAML to JSON: yaml: line 1/],
		["a key that comes twice", "metadata:\n  name: a\n  name: b\n", /line 3/],
		["two documents", "metadata: {}\n---\nmetadata: {}\n", /single document/],
		[
			"a bomb of aliases",
			`a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
				.split("")
				.map((key, i) => `${key}: &${key} [${`*${"abcdefg"[i]},`.repeat(9)}]\n`)
				.join("")}`,
			/alias/i,
		],
		["deep nesting", `metadata: ${"[".repeat(5_000)}`, /max depth/],
	])("YAML: %s is BadRequest", async (_, body, message) => {
		const { status, json } = await server.request("POST", SERVICES, { body, contentType: "application/yaml" });
		expect([status, json.message]).toEqual([400, expect.stringMatching(message)]);
	});

	test.each([
		["the wrong magic", new Uint8Array([1, 2, 3, 4, 5])],
		["magic alone", new Uint8Array([0x6b, 0x38, 0x73, 0])],
		["a length beyond the end", new Uint8Array([0x6b, 0x38, 0x73, 0, 0x12, 0x7f, 1])],
		["an endless varint", new Uint8Array([0x6b, 0x38, 0x73, 0, ...Array.from({ length: 20 }, () => 0xff)])],
	])("protobuf: %s is refused, and changes nothing", async (_, body) => {
		const revision = server.store.revision;
		const contentType = "application/vnd.kubernetes.protobuf";
		const { status } = await server.request("POST", SERVICES, { body, contentType });
		expect(status).toBeGreaterThanOrEqual(400);
		expect(status).toBeLessThan(500);
		expect(server.store.revision).toBe(revision);
	});

	test.each([
		["lists in a body", `{"metadata":{"name":"a"},"spec":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "POST"],
		["an unknown field", `{"metadata":{"name":"a"},"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "POST"],
		["a patch", `{"x":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`, "PATCH"],
	])("deep nesting of %s does no harm", async (_, body, method) => {
		await post({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const patch = { body, contentType: "application/merge-patch+json" };
		const answer = method === "PATCH" ? await server.request(method, `${SERVICES}/web`, patch) : await post(body);
		expect(answer.status).toBeGreaterThanOrEqual(400);
		expect(answer.status).toBeLessThan(500);
	});
});

describe("keys that are words of JavaScript", () => {
	const Names = ["__proto__", "constructor", "toString", "hasOwnProperty"];

	test("are labels like any other, if their form is right", async () => {
		const labels = '{"constructor":"a","toString":"b","hasOwnProperty":"c"}';
		const { json } = await post(`{"metadata":{"name":"a","labels":${labels}},"spec":{"ports":[{"port":80}]}}`);
		expect(JSON.stringify(json.metadata.labels)).toBe(labels);
		const bad = await post(`{"metadata":{"name":"b","labels":{"__proto__":"x"}},"spec":{"ports":[{"port":80}]}}`);
		expect([bad.status, bad.json.details?.causes?.[0]?.field]).toEqual([422, "metadata.labels"]);
	});

	test("are not found by selectors on objects that do not have them", async () => {
		await post({ metadata: { name: "plain" }, spec: { ports: [{ port: 80 }] } });
		await post('{"metadata":{"name":"has","labels":{"constructor":"a"}},"spec":{"ports":[{"port":80}]}}');
		const names = async (labelSelector: string): Promise<readonly string[]> => {
			const { json } = await server.request("GET", `${SERVICES}?labelSelector=${encodeURIComponent(labelSelector)}`);
			return (json.items ?? []).map(({ metadata }) => metadata.name);
		};
		expect(await names("constructor")).toEqual(["has"]);
		expect(await names("!constructor")).toEqual(["plain"]);
		expect(await names("toString")).toEqual([]);
		expect(await names("constructor=a")).toEqual(["has"]);
	});

	test.each(Names)("%s as an unknown field is told and dropped", async (name) => {
		const body = `{"metadata":{"name":"a"},"${name}":{"polluted":true},"spec":{"${name}":{"polluted":true},"ports":[{"port":80}]}}`;
		const { status, json, headers } = await post(body);
		expect([status, json.kind]).toEqual([201, "Service"]);
		expect(headers["warning"]).toEqual([
			`299 - "unknown field \\"${name}\\""`,
			`299 - "unknown field \\"spec.${name}\\""`,
		]);
		expect(Object.hasOwn(json.spec ?? {}, name)).toBe(false);
		expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
		const strict = await post(body, "?fieldValidation=Strict");
		expect(strict.json.message).toContain(`unknown field "${name}"`);
	});

	test.each(["merge", "strategic-merge"])("reach nothing but the object through a %s patch", async (type) => {
		await post({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const body =
			'{"metadata":{"labels":{"constructor":"x"},"__proto__":{"polluted":"y"}},"__proto__":{"polluted":"z"}}';
		const contentType = `application/${type}-patch+json`;
		const { status, json } = await server.request("PATCH", `${SERVICES}/web`, { body, contentType });
		expect([status, JSON.stringify(json.metadata.labels)]).toEqual([200, '{"constructor":"x"}']);
		expect(({} as { polluted?: string }).polluted).toBeUndefined();
	});
});

describe("fieldValidation", () => {
	const Odd =
		'{"metadata":{"name":"a"},"spec":{"foo":1,"ports":[{"port":80,"bar":2}],"type":"ClusterIP","type":"ClusterIP"}}';
	const Found = ['duplicate field "spec.type"', 'unknown field "spec.foo"', 'unknown field "spec.ports[0].bar"'];
	const warned = Found.map((text) => `299 - "${text.replaceAll('"', '\\"')}"`);

	test.each([
		["", 201, warned],
		["?fieldValidation=", 201, warned],
		["?fieldValidation=Warn", 201, warned],
		["?fieldValidation=Ignore", 201, undefined],
		["?fieldValidation=Strict", 400, undefined],
	])("%j is answered %i", async (query, status, warning) => {
		const answer = await post(Odd, query);
		expect([answer.status, answer.headers["warning"]]).toEqual([status, warning]);
		if (status === 400) expect(answer.json.message).toBe(`${CANNOT}strict decoding error: ${Found.join(", ")}`);
		else expect(answer.json.spec).not.toHaveProperty("foo");
	});

	test.each(["strict", "None", "constructor"])("%j is Invalid, for every write", async (value) => {
		await post({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const body = { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };
		for (const [method, path, kind] of [
			["POST", SERVICES, "CreateOptions"],
			["PUT", `${SERVICES}/web`, "UpdateOptions"],
			["PATCH", `${SERVICES}/web`, "PatchOptions"],
		] as const) {
			const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
			const { json } = await server.request(method, `${path}?fieldValidation=${value}`, { body, contentType });
			expect(json.message).toBe(
				`${kind}.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "${value}": ` +
					'supported values: "", "Ignore", "Strict", "Warn"',
			);
		}
	});

	test.each([
		["force=true", "force: Forbidden: may not be specified for non-apply patch"],
		[`fieldManager=${"m".repeat(129)}`, "fieldManager: Too long: may not be more than 128 bytes"],
		["fieldManager=a%0Ab", 'fieldManager: Invalid value: "a\\nb": should only contain printable characters'],
	])("PATCH ?%s is Invalid", async (query, message) => {
		await post({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const request = { body: "{}", contentType: "application/merge-patch+json" };
		const { status, json } = await server.request("PATCH", `${SERVICES}/web?${query}`, request);
		expect([status, json.message]).toEqual([422, `PatchOptions.meta.k8s.io "" is invalid: ${message}`]);
	});

	test("a status of a Service that is no LoadBalancer takes no ingress", async () => {
		await post({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const body = '{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}';
		const request = { body, contentType: "application/merge-patch+json" };
		const { status, json } = await server.request("PATCH", `${SERVICES}/web/status`, request);
		expect([status, json.message]).toEqual([
			422,
			"Service \"web\" is invalid: status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
		]);
	});

	test.each([
		["merge-patch", '{"spec":{"foo":1}}', 'unknown field "spec.foo"'],
		["merge-patch", '{"metadata":{"labels":{"a":"1","a":"2"}}}', 'duplicate field "metadata.labels.a"'],
		["strategic-merge-patch", '{"spec":{"foo":1}}', 'unknown field "spec.foo"'],
		["json-patch", '[{"op":"add","path":"/spec/foo","value":1}]', 'unknown field "spec.foo"'],
		["json-patch", '[{"op":"test","path":"/kind","value":"Service","why":1}]', 'json patch unknown field "[0].why"'],
	])("Strict, of a %s %s, is 422 on the patch", async (type, body, found) => {
		await post({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
		const path = `${SERVICES}/web?fieldValidation=`;
		const request = { body, contentType: `application/${type}+json` };
		const strict: AnswerJson = (await server.request("PATCH", `${path}Strict`, request)).json;
		expect(strict).toMatchObject({
			reason: "Invalid",
			code: 422,
			details: {
				causes: [
					{
						reason: "FieldValueInvalid",
						field: "patch",
						message: expect.stringContaining(`strict decoding error: ${found}`),
					},
				],
			},
		});
		const warn = await server.request("PATCH", `${path}Warn`, request);
		expect([warn.status, warn.headers["warning"]]).toEqual([200, [`299 - "${found.replaceAll('"', '\\"')}"`]]);
		const ignore = await server.request("PATCH", `${path}Ignore`, request);
		expect([ignore.status, ignore.headers["warning"]]).toEqual([200, undefined]);
	});
});
