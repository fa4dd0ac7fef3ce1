import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeObject } from "../../api/schema/decode.ts";
import { ApiError } from "../../api/status.ts";
import { decodeDeleteOptions, decodeProtobufBody } from "./protobuf.ts";

/** A field by its number: text, a varint, or a nested message as pairs. */
type Wire = readonly (readonly [number: number, value: string | number | boolean | Uint8Array | Wire])[];

function message(fields: Wire, writer = new BinaryWriter()): BinaryWriter {
	for (const [number, value] of fields) {
		if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
		else if (typeof value === "number") writer.tag(number, WireType.Varint).int64(value);
		else if (typeof value === "boolean") writer.tag(number, WireType.Varint).bool(value);
		else if (value instanceof Uint8Array) writer.tag(number, WireType.LengthDelimited).bytes(value);
		else message(value, writer.tag(number, WireType.LengthDelimited).fork()).join();
	}
	return writer;
}

function body(apiVersion: string, kind: string, object: Wire | Uint8Array): Uint8Array {
	const raw = object instanceof Uint8Array ? object : message(object).finish();
	const typeMeta: Wire = [
		[1, apiVersion],
		[2, kind],
	];
	const envelope = message([
		[1, typeMeta],
		[2, raw],
		[3, ""],
		[4, ""],
	]).finish();
	return Buffer.concat([Buffer.from("k8s\0"), envelope]);
}

function refusal(bytes: Uint8Array): string {
	try {
		decodeProtobufBody(bytes);
	} catch (error) {
		if (error instanceof ApiError) return `${error.code} ${error.message}`;
		throw error;
	}
	return "accepted";
}

describe("decodeProtobufBody()", () => {
	test("decodes a Service, without the zeros that Go writes", () => {
		const meta: Wire = [
			[1, "web"],
			[2, ""],
			[3, ""],
			[8, []],
			[
				11,
				[
					[1, "app"],
					[2, "web"],
				],
			],
			[11, [[1, "empty"]]],
		];
		const http: Wire = [
			[1, "http"],
			[2, "TCP"],
			[3, 80],
			[
				4,
				[
					[1, 0],
					[2, 8080],
					[3, ""],
				],
			],
			[5, 0],
		];
		const named: Wire = [
			[1, "x"],
			[2, ""],
			[3, 0],
			[
				4,
				[
					[1, 1],
					[2, 0],
					[3, "web"],
				],
			],
			[5, 0],
		];
		const spec: Wire = [
			[1, http],
			[1, named],
			[
				2,
				[
					[1, "app"],
					[2, "web"],
				],
			],
			[3, ""],
			[4, "ClusterIP"],
			[13, false],
			[20, false],
		];
		const status: Wire = [[1, []]];
		expect(
			decodeProtobufBody(
				body("v1", "Service", [
					[1, meta],
					[2, spec],
					[3, status],
				]),
			),
		).toEqual({
			apiVersion: "v1",
			kind: "Service",
			object: {
				apiVersion: "v1",
				kind: "Service",
				metadata: { name: "web", labels: { app: "web", empty: "" } },
				spec: {
					ports: [
						{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 },
						{ name: "x", port: 0, targetPort: "web" },
					],
					selector: { app: "web" },
					type: "ClusterIP",
					allocateLoadBalancerNodePorts: false,
				},
			},
		});
	});

	test("decodes a ConfigMap with bytes as base64 and __proto__ as a key", () => {
		const data: Wire = [
			[1, "__proto__"],
			[2, "x"],
		];
		const binary: Wire = [
			[1, "k"],
			[2, Uint8Array.of(0, 255)],
		];
		const { object } = decodeProtobufBody(
			body("v1", "ConfigMap", [
				[1, [[1, "c"]]],
				[2, data],
				[3, binary],
			]),
		);
		expect(JSON.stringify(object)).toBe(
			'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"__proto__":"x"},"binaryData":{"k":"AP8="}}',
		);
	});

	test("decodes a Deployment with inline messages, quantities and negative numbers", () => {
		const probe: Wire = [
			[
				1,
				[
					[
						2,
						[
							[1, "/"],
							[
								2,
								[
									[1, 0],
									[2, 80],
								],
							],
						],
					],
				],
			],
			[4, 10],
		];
		const resources: Wire = [
			[
				2,
				[
					[1, "cpu"],
					[2, [[1, "100m"]]],
				],
			],
		];
		const container: Wire = [
			[1, "c"],
			[2, "i:1"],
			[8, resources],
			[11, probe],
		];
		const volume: Wire = [
			[1, "v"],
			[
				2,
				[
					[
						19,
						[
							[1, [[1, "cfg"]]],
							[3, 420],
						],
					],
				],
			],
		];
		const security: Wire = [
			[4, 1],
			[4, -2],
		];
		const template: Wire = [
			[1, []],
			[
				2,
				[
					[1, volume],
					[2, container],
					[14, security],
					[
						7,
						[
							[1, "a"],
							[2, "b"],
						],
					],
				],
			],
		];
		const spec: Wire = [
			[1, 0],
			[
				2,
				[
					[
						1,
						[
							[1, "app"],
							[2, "web"],
						],
					],
				],
			],
			[3, template],
			[4, [[1, ""]]],
			[7, false],
		];
		expect(
			decodeProtobufBody(
				body("apps/v1", "Deployment", [
					[1, [[1, "d"]]],
					[2, spec],
				]),
			).object,
		).toEqual({
			apiVersion: "apps/v1",
			kind: "Deployment",
			metadata: { name: "d" },
			spec: {
				replicas: 0,
				selector: { matchLabels: { app: "web" } },
				template: {
					spec: {
						volumes: [{ name: "v", configMap: { name: "cfg", defaultMode: 420 } }],
						containers: [
							{
								name: "c",
								image: "i:1",
								resources: { requests: { cpu: "100m" } },
								readinessProbe: { httpGet: { path: "/", port: 80 }, periodSeconds: 10 },
							},
						],
						securityContext: { supplementalGroups: [1, -2] },
						nodeSelector: { a: "b" },
					},
				},
			},
		});
	});

	test("decodes times, and a slice's missing lists as null", () => {
		const lease: Wire = [
			[
				2,
				[
					[1, "me"],
					[
						4,
						[
							[1, 1_700_000_000],
							[2, 123_456_789],
						],
					],
				],
			],
		];
		expect(decodeProtobufBody(body("coordination.k8s.io/v1", "Lease", lease)).object).toMatchObject({
			spec: { holderIdentity: "me", renewTime: "2023-11-14T22:13:20.123456Z" },
		});
		const slice = decodeProtobufBody(body("discovery.k8s.io/v1", "EndpointSlice", [[1, [[8, [[1, 1]]]]]]));
		expect(slice.object).toMatchObject({
			metadata: { creationTimestamp: "1970-01-01T00:00:01Z" },
			endpoints: null,
			ports: null,
		});
	});

	test("reads packed numbers, and skips fields that it does not know", () => {
		const packed = Uint8Array.of(1, 2);
		const pod: Wire = [
			[
				2,
				[
					[
						14,
						[
							[4, packed],
							[99, "x"],
							[98, 7],
						],
					],
				],
			],
			[77, [[1, 1]]],
		];
		expect(decodeProtobufBody(body("v1", "Pod", pod)).object).toMatchObject({
			spec: { securityContext: { supplementalGroups: [1, 2] } },
		});
	});

	test("takes kind and apiVersion from the endpoint when the envelope is silent", () => {
		const decoded = decodeProtobufBody(body("", "", [[1, [[1, "a"]]]]), { apiVersion: "v1", kind: "Namespace" });
		expect(decoded).toMatchObject({ kind: "Namespace", object: { kind: "Namespace", metadata: { name: "a" } } });
	});

	test.each<[why: string, bytes: Uint8Array, message: string | RegExp]>([
		["empty", new Uint8Array(), "400 the protobuf body is empty"],
		["JSON", Buffer.from("{}"), /^400 provided data does not appear to be a protobuf message/],
		["of an unknown kind", body("v1", "Foo", []), '400 no kind "Foo" is registered for version "v1"'],
		["cut short", body("v1", "Service", Uint8Array.of(0x0a, 0x7f)), /^400 the protobuf body cannot be decoded: /],
		[
			"of the wrong wire type",
			body("v1", "Service", [[1, 5]]),
			"400 proto: wrong wireType = 0 for field metadata of core.Service",
		],
		[
			"no UTF-8",
			body("v1", "Service", [[1, [[1, Uint8Array.of(0xff)]]]]),
			/^400 the protobuf body cannot be decoded: /,
		],
		[
			"groups without end",
			body("v1", "Service", new Uint8Array(10_000).fill(0x9b)),
			/^400 the protobuf body cannot be decoded: /,
		],
	])("refuses a body that is %s", (_why, bytes, message) => {
		expect(refusal(bytes)).toMatch(message);
	});

	test("answers any bytes with an object or a 400, and its objects pass the JSON decoder", () => {
		const anyBytes = fc.oneof(
			fc.uint8Array({ maxLength: 200 }),
			fc.uint8Array({ maxLength: 40 }).map((noise) => {
				const bytes = body("v1", "Service", [
					[1, [[1, "web"]]],
					[
						2,
						[
							[1, [[3, 80]]],
							[4, "ClusterIP"],
						],
					],
				]);
				noise.forEach((byte, index) => {
					bytes[(byte * 7 + index * 13) % bytes.length] = byte;
				});
				return bytes;
			}),
		);
		fc.assert(
			fc.property(anyBytes, (noise) => {
				const bytes = body("v1", "Service", noise);
				if (refusal(bytes) !== "accepted") return;
				const { object } = decodeProtobufBody(bytes);
				expect(decodeObject("core.Service", object, { apiVersion: "v1", kind: "Service" }).kind).toBe("ok");
			}),
		);
	});
});

describe("decodeDeleteOptions()", () => {
	test("takes the options of any group", () => {
		const options: Wire = [
			[1, 0],
			[2, [[1, "u"]]],
			[4, "Background"],
			[5, "All"],
		];
		expect(decodeDeleteOptions(body("apps/v1", "DeleteOptions", options)).object).toEqual({
			apiVersion: "apps/v1",
			kind: "DeleteOptions",
			gracePeriodSeconds: 0,
			preconditions: { uid: "u" },
			propagationPolicy: "Background",
			dryRun: ["All"],
		});
	});

	test("takes nothing else", () => {
		expect(() => decodeDeleteOptions(body("v1", "Pod", []))).toThrow(/cannot be handled as a DeleteOptions/);
	});
});
