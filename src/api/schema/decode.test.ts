import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../kernel/json.ts";
import { decodeObject } from "./decode.ts";

const SERVICE = { apiVersion: "v1", kind: "Service" };

function decodeService(value: unknown): unknown {
	const decoded = decodeObject("core.Service", value, SERVICE);
	return decoded.kind === "ok" ? decoded.object : decoded.message;
}

function decodePart(schema: string, part: unknown): unknown {
	const decoded = decodeObject(schema, part, { apiVersion: "v1", kind: "X" });
	if (decoded.kind === "wrong") return decoded.message;
	const { apiVersion: _apiVersion, kind: _kind, ...rest } = decoded.object;
	return rest;
}

describe("decodeObject()", () => {
	test("fills in a missing kind and apiVersion", () => {
		expect(decodeService({ metadata: { name: "a" } })).toEqual({ ...SERVICE, metadata: { name: "a" } });
	});

	const cannot = (why: string): string => `Service in version "v1" cannot be handled as a Service: ${why}`;
	test.each<[rule: string, body: unknown, message: string]>([
		[
			"another kind",
			{ kind: "Pod" },
			'Pod in version "v1" cannot be handled as a Service: converting (v1.Pod) to (v1.Service): unknown conversion',
		],
		[
			"another version",
			{ apiVersion: "apps/v1", kind: "Service" },
			"the API version in the data (apps/v1) does not match the expected API version (v1)",
		],
		[
			"no object",
			[],
			"the object provided is unrecognized (must be of type Service): " +
				"couldn't get version/kind; json parse error: json: cannot unmarshal array",
		],
		[
			"a string for a number",
			{ spec: { ports: [{ port: 80 }, { port: "x" }] } },
			cannot("json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32"),
		],
		[
			"a fraction for a number",
			{ spec: { ports: [{ port: 80.5 }] } },
			cannot("json: cannot unmarshal number 80.5 into Go struct field ServicePort.spec.ports.port of type int32"),
		],
		[
			"a number beyond int32",
			{ spec: { ports: [{ port: 2 ** 31 }] } },
			cannot("json: cannot unmarshal number 2147483648 into Go struct field ServicePort.spec.ports.port of type int32"),
		],
		[
			"an object for a list",
			{ spec: { ports: {} } },
			cannot("json: cannot unmarshal object into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort"),
		],
		[
			"a number in a map",
			{ metadata: { labels: { a: 1 } } },
			cannot("json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"),
		],
		[
			"no time",
			{ metadata: { creationTimestamp: "yesterday" } },
			cannot('parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'),
		],
		[
			"a boolean as target port",
			{ spec: { ports: [{ targetPort: true }] } },
			cannot("json: cannot unmarshal bool into Go value of type int32"),
		],
	])("refuses %s", (_rule, body, message) => {
		expect(decodeService(body)).toBe(message);
	});

	test("drops unknown fields and says where they were", () => {
		const body = JSON.parse(
			'{"spec":{"foo":1,"ports":[{"port":80,"Port":81}],"__proto__":{"a":1}},"constructor":2,"metadata":{"name":"a"}}',
		);
		const decoded = decodeObject("core.Service", body, SERVICE);
		expect(decoded).toEqual({
			kind: "ok",
			object: { ...SERVICE, spec: { ports: [{ port: 80 }] }, metadata: { name: "a" } },
			unknown: [
				'unknown field "spec.foo"',
				'unknown field "spec.ports[0].Port"',
				'unknown field "spec.__proto__"',
				'unknown field "constructor"',
			],
		});
	});

	test("keeps __proto__ as a key of a map", () => {
		const body = JSON.parse('{"metadata":{"labels":{"__proto__":"x","constructor":"y"}}}');
		expect(JSON.stringify(decodePart("core.Pod", body))).toBe(JSON.stringify(body));
	});

	test.each<[rule: string, schema: string, given: unknown, stored: unknown]>([
		["null is absent", "core.Service", { spec: null, metadata: { labels: null } }, { metadata: {} }],
		[
			"a null in a map is the zero value",
			"core.Pod",
			{ metadata: { labels: { a: null } } },
			{ metadata: { labels: { a: "" } } },
		],
		["empty maps and lists drop out", "core.Pod", { metadata: { labels: {}, finalizers: [] } }, { metadata: {} }],
		[
			"empty structs stay",
			"core.Pod",
			{ spec: { securityContext: {} }, status: {} },
			{ spec: { securityContext: {} }, status: {} },
		],
		[
			"zero scalars drop out",
			"core.Service",
			{ spec: { clusterIP: "", publishNotReadyAddresses: false } },
			{ spec: {} },
		],
		[
			"zeros whose presence matters stay",
			"apps.Deployment",
			{ spec: { replicas: 0, paused: false } },
			{ spec: { replicas: 0 } },
		],
		[
			"required scalars are there, with their zero when they are not given",
			"core.Endpoints",
			{ subsets: [{ addresses: [{}], ports: [{}] }] },
			{ subsets: [{ addresses: [{ ip: "" }], ports: [{ port: 0 }] }] },
		],
		[
			"slices show empty lists as null",
			"discovery.EndpointSlice",
			{ endpoints: [], addressType: "IPv4" },
			{ endpoints: null, addressType: "IPv4", ports: null },
		],
		[
			"times are whole seconds of UTC",
			"core.Pod",
			{ metadata: { creationTimestamp: "2024-03-01T01:30:00.9+02:00" } },
			{ metadata: { creationTimestamp: "2024-02-29T23:30:00Z" } },
		],
		[
			"the zero time is absent",
			"core.Pod",
			{ metadata: { creationTimestamp: "0001-01-01T00:00:00Z" } },
			{ metadata: {} },
		],
		[
			"micro times have six decimals",
			"coordination.Lease",
			{ spec: { renewTime: "2024-01-01T00:00:00.5Z" } },
			{ spec: { renewTime: "2024-01-01T00:00:00.500000Z" } },
		],
		[
			"quantities may be numbers",
			"core.Node",
			{ status: { capacity: { cpu: 4, memory: "1Gi" } } },
			{ status: { capacity: { cpu: "4", memory: "1Gi" } } },
		],
		[
			"int-or-string keeps its type",
			"core.Service",
			{
				spec: {
					ports: [
						{ port: 1, targetPort: "http" },
						{ port: 2, targetPort: 8080 },
					],
				},
			},
			{
				spec: {
					ports: [
						{ port: 1, targetPort: "http" },
						{ port: 2, targetPort: 8080 },
					],
				},
			},
		],
		[
			"inline members stand in the parent",
			"core.Pod",
			{ spec: { volumes: [{ name: "v", configMap: { name: "c" } }] } },
			{ spec: { volumes: [{ name: "v", configMap: { name: "c" } }] } },
		],
		[
			"nested kinds keep kind and apiVersion",
			"policy.Eviction",
			{ deleteOptions: { kind: "DeleteOptions", apiVersion: "v1" } },
			{ deleteOptions: { kind: "DeleteOptions", apiVersion: "v1" } },
		],
		[
			"extra values are lists of strings",
			"authentication.TokenReview",
			{ status: { user: { extra: { a: ["b"] } } } },
			{ status: { user: { extra: { a: ["b"] } } } },
		],
		[
			"free-form data stays as it is",
			"apps.ControllerRevision",
			{ data: { a: null, b: [] }, revision: 1 },
			{ data: { a: null, b: [] }, revision: 1 },
		],
	])("%s", (_rule, schema, given, stored) => {
		expect(decodePart(schema, given)).toEqual(stored);
	});

	test.each([["2024-02-30T00:00:00Z"], ["2024-13-01T00:00:00Z"], ["2024-01-01T24:00:00Z"], ["2024-01-01"]])(
		"does not take %s for a time",
		(text) => {
			expect(decodePart("core.Pod", { metadata: { creationTimestamp: text } })).toMatch(/^X in version .*parsing time/);
		},
	);

	test.each([
		["YWJj", true],
		["YWI=", true],
		["YW I=", false],
		["YWJ", false],
		["YW-_", false],
	])("checks that bytes are base64: %s", (text, isRight) => {
		const decoded = decodeObject("core.Secret", { data: { k: text } }, { apiVersion: "v1", kind: "Secret" });
		expect(decoded.kind).toBe(isRight ? "ok" : "wrong");
	});

	test("refuses free-form data that nests without end", () => {
		let deep: unknown = 1;
		for (let level = 0; level < 100_000; level++) deep = [deep];
		expect(decodePart("apps.ControllerRevision", { data: deep })).toMatch(/exceeded max depth$/);
	});

	test("is total, leaves its input alone, and gives the same again for its own result", () => {
		const anyService = fc.record(
			{
				metadata: fc.record(
					{ name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) },
					{ requiredKeys: [] },
				),
				spec: fc.record(
					{ ports: fc.array(fc.dictionary(fc.constantFrom("port", "name", "nodePort", "x"), fc.jsonValue())) },
					{ requiredKeys: [] },
				),
				status: fc.jsonValue(),
			},
			{ requiredKeys: [] },
		);
		fc.assert(
			fc.property(anyService, (body) => {
				const first = decodeObject("core.Service", deepFreeze(body), SERVICE);
				if (first.kind === "wrong") return;
				expect(decodeObject("core.Service", deepFreeze(first.object), SERVICE)).toEqual({ ...first, unknown: [] });
			}),
		);
	});
});
