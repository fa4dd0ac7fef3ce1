import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../kernel/json.ts";
import { customTable } from "./custom-table.ts";
import { withManySchemaDefaults, withSchemaDefaults } from "./defaults.ts";
import { fitsFormat } from "./formats.ts";
import { findAll, parseJsonPath } from "./json-path.ts";
import { pruned } from "./prune.ts";
import { readSchema, type SchemaProps } from "./schema-props.ts";
import { listTypeProblems, schemaProblems } from "./validate.ts";
import { byPriority } from "./version-priority.ts";

const INT: SchemaProps = { type: "integer" };
const TEXT: SchemaProps = { type: "string" };

describe("pruned()", () => {
	const schema: SchemaProps = {
		type: "object",
		properties: {
			a: TEXT,
			list: { type: "array", items: { type: "object", properties: { b: TEXT } } },
			map: { type: "object", additionalProperties: { type: "object", properties: { c: TEXT } } },
			free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: { type: "object" } } },
			embedded: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
			any: { type: "object", additionalProperties: true },
		},
	};
	test.each([
		["a field", { a: "1", x: 1 }, { a: "1" }, ["x"]],
		["in a list", { list: [{ b: "1" }, { x: 1 }] }, { list: [{ b: "1" }, {}] }, ["list[1].x"]],
		["in a map", { map: { k: { c: "1", x: 1 } } }, { map: { k: { c: "1" } } }, ["map.k.x"]],
		["nothing that is free", { free: { x: { y: 1 } } }, { free: { x: { y: 1 } } }, []],
		["in a known part of what is free", { free: { known: { x: 1 } } }, { free: { known: {} } }, ["free.known.x"]],
		["nothing of any properties", { any: { x: 1 } }, { any: { x: 1 } }, []],
		[
			"in an embedded resource, but what every resource has",
			{ embedded: { apiVersion: "v1", kind: "K", metadata: { name: "n", x: 1 }, spec: {}, x: 1 } },
			{ embedded: { apiVersion: "v1", kind: "K", metadata: { name: "n" }, spec: {} } },
			["embedded.metadata.x", "embedded.x"],
		],
		["nothing where the type is wrong", { a: { x: 1 }, list: "x", map: [1] }, { a: {}, list: "x", map: [1] }, ["a.x"]],
	])("drops %s that the schema does not name", (_, value, kept, dropped) => {
		const found: string[] = [];
		expect(pruned(deepFreeze(value), schema, { dropped: (path) => found.push(path) })).toEqual(kept);
		expect(found).toEqual(dropped);
	});

	test("keeps the very object when there is nothing to drop", () => {
		const value = deepFreeze({ apiVersion: "v1", a: "1", list: [{ b: "2" }], free: { x: 1 } });
		expect(pruned(value, schema)).toBe(value);
	});

	test("takes keys of prototypes as data", () => {
		const value = JSON.parse('{"free": {"__proto__": {"x": 1}}, "__proto__": {"polluted": 1}, "constructor": 1}');
		const kept = pruned(value, schema) as object;
		expect(JSON.stringify(kept)).toBe('{"free":{"__proto__":{"x":1}}}');
		expect("polluted" in kept).toBe(false);
	});

	test("of any value is stable", () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				const once = pruned(value, schema);
				expect(pruned(once, schema)).toBe(once);
			}),
		);
	});
});

describe("withSchemaDefaults()", () => {
	const schema: SchemaProps = {
		type: "object",
		properties: {
			n: { ...INT, default: 1 },
			null: { ...INT, nullable: true, default: 1 },
			plain: INT,
			inner: { type: "object", default: {}, properties: { m: { ...INT, default: 2 } } },
			list: { type: "array", items: { type: "object", properties: { k: { ...TEXT, default: "x" } } } },
			map: { type: "object", additionalProperties: { type: "object", properties: { v: { ...INT, default: 0 } } } },
		},
	};
	const none = { n: 1, null: 1, inner: { m: 2 } };
	test.each([
		["what is absent", {}, none],
		["a null that is not allowed", { n: null, plain: null }, none],
		["not a null that is", { null: null }, { ...none, null: null }],
		["not what is there", { n: 5, inner: {} }, { ...none, n: 5 }],
		["in lists and maps", { list: [{}], map: { a: {} } }, { ...none, list: [{ k: "x" }], map: { a: { v: 0 } } }],
		["not in what has another type", { inner: 5, list: {} }, { ...none, inner: 5, list: {} }],
	])("fills in %s", (_, value, filled) => {
		expect(withSchemaDefaults(deepFreeze(value), schema)).toEqual(filled);
	});

	test("keeps the very object when there is nothing to fill in", () => {
		const value = deepFreeze({ ...none, list: [{ k: "y" }] });
		expect(withSchemaDefaults(value, schema)).toBe(value);
	});

	test("fill in no more than an object may have, and leave the rest of what is stored as it is", () => {
		const texts = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, { default: "x" }]));
		const many: SchemaProps = { type: "array", items: { type: "object", properties: texts } };
		const items = Array.from({ length: 50_000 }, () => ({}));
		expect(() => withSchemaDefaults(items, many)).toThrow(
			"Request entity too large: limit is 1572864 characters of defaults that the schema fills in",
		);
		const shown = withManySchemaDefaults(items, many);
		expect(JSON.stringify(shown).length).toBeLessThan(1_572_864 + 150_001);
		expect(shown).toHaveLength(50_000);
	});
});

describe("schemaProblems()", () => {
	const texts = (value: unknown, schema: SchemaProps): readonly string[] =>
		schemaProblems({ f: value }, { type: "object", properties: { f: schema } }).map(
			({ error }) => `${error.field}: ${error.body}`,
		);
	test.each<[unknown, SchemaProps, string | undefined]>([
		[1, INT, undefined],
		[1.0, { type: "number" }, undefined],
		[1.5, INT, 'f: Invalid value: "number": f in body must be of type integer: "number"'],
		[null, INT, 'f: Invalid value: "null": f in body must be of type integer: "null"'],
		[null, { ...INT, nullable: true }, undefined],
		[[], { type: "object" }, 'f: Invalid value: "array": f in body must be of type object: "array"'],
		[
			3_000_000_000,
			{ ...INT, format: "int32" },
			'<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f',
		],
		[5, { ...INT, maximum: 5, exclusiveMaximum: true }, "f: Invalid value: 5: f in body should be less than 5"],
		[5, { ...INT, minimum: 5, exclusiveMinimum: true }, "f: Invalid value: 5: f in body should be greater than 5"],
		[0.3, { type: "number", multipleOf: 0.1 }, undefined],
		[3, { ...INT, enum: [1, 2] }, 'f: Unsupported value: 3: supported values: "1", "2"'],
		["\u{1F600}\u{1F600}", { ...TEXT, maxLength: 2 }, undefined],
		[{}, { type: "object", minProperties: 1 }, "f: Invalid value: 0: f in body should have at least 1 properties"],
		[
			"x",
			{ ...TEXT, anyOf: [{ pattern: "^a" }, { pattern: "^b" }] },
			'<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
		],
		["x", { ...TEXT, not: { enum: ["x"] } }, '<nil>: Invalid value: "": "f" must not validate the schema (not)'],
		[
			"x",
			{ ...TEXT, allOf: [{ minLength: 2 }] },
			'<nil>: Invalid value: "": "f" must validate all the schemas (allOf). None validated',
		],
		[5, { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }, undefined],
		[
			{ spec: {} },
			{ type: "object", "x-kubernetes-embedded-resource": true },
			"f.apiVersion: Required value: must not be empty",
		],
		["a".repeat(100_000), { ...TEXT, pattern: "^(a+)+b$" }, "f: Invalid value: "],
	])("of %j under %j", (value, schema, text) => {
		const [first] = texts(value, schema);
		if (text === undefined) expect(first).toBeUndefined();
		else expect(first).toEqual(expect.stringContaining(text));
	});

	test("are few, and found in time, whatever the object", () => {
		const schema: SchemaProps = {
			type: "array",
			items: { ...INT, enum: Array.from({ length: 10_000 }, (_, each) => each) },
		};
		const startedMs = performance.now();
		expect(
			texts(
				Array.from({ length: 2_000 }, () => -1),
				schema,
			).length,
		).toBeLessThanOrEqual(200);
		expect(performance.now() - startedMs).toBeLessThan(5_000);
	});

	test("tell of what comes twice in sets and maps", () => {
		const schema: SchemaProps = {
			type: "array",
			"x-kubernetes-list-type": "map",
			"x-kubernetes-list-map-keys": ["a", "b"],
			items: { type: "object" },
		};
		const list = [{ a: 1 }, { a: 1, b: 2 }, { b: 2, a: 1, c: 3 }];
		expect(
			listTypeProblems({ l: list }, { properties: { l: schema } }).map(({ error }) => `${error.field}: ${error.body}`),
		).toEqual(['l[2]: Duplicate value: {"a":1,"b":2}']);
	});
});

describe("parseJsonPath()", () => {
	const object = {
		metadata: { labels: { "app.kubernetes.io/name": "web" } },
		spec: {
			hosts: ["a", "b"],
			ports: [
				{ name: "http", port: 80 },
				{ name: "x", port: 81 },
			],
		},
		status: {
			conditions: [
				{ type: "Ready", status: "True" },
				{ type: "Other", status: "False" },
			],
		},
	};
	test.each([
		[".spec.hosts[0]", ["a"]],
		[".spec.hosts[-1]", ["b"]],
		[".spec.hosts[*]", ["a", "b"]],
		[".spec.hosts[0:1]", ["a"]],
		[".spec.ports[*].port", [80, 81]],
		["['spec']['hosts'][1]", ["b"]],
		[".metadata.labels.app\\.kubernetes\\.io/name", ["web"]],
		[".metadata.labels['app\\.kubernetes\\.io/name']", ["web"]],
		['.status.conditions[?(@.type=="Ready")].status', ["True"]],
		[".status.conditions[?(@.type == 'Other')].status", ["False"]],
		[".spec.ports[?(@.port>80)].name", ["x"]],
		[".spec.ports[?(@.nothing)].name", []],
		[".constructor.name", []],
		[".spec.hosts.length", []],
	])("%s finds %j", (text, found) => {
		const parsed = parseJsonPath(text);
		expect(parsed.kind === "path" ? findAll(parsed.path, object) : parsed.why).toEqual(found);
	});

	test.each([".a[", ".a[?(@.b", "a b", ".a..b[x]", `.${"a".repeat(2_000)}`])("%s is refused", (text) => {
		expect(parseJsonPath(text).kind).toBe("wrong");
	});
});

describe("a table", () => {
	test("has cells of the types that its columns promise", () => {
		const types = ["integer", "number", "boolean", "string", "date"];
		const table = customTable(types.map((type) => ({ name: type, type, jsonPath: ".v" })));
		const cells = (v: unknown): readonly unknown[] => {
			const object = {
				apiVersion: "",
				kind: "",
				metadata: { name: "n", uid: "", resourceVersion: "", creationTimestamp: "" },
				v,
			};
			return table.cells(object, Date.parse("2026-01-01T00:01:00Z")).slice(1);
		};
		expect(cells(1.5)).toEqual([1, 1.5, null, "1.5", null]);
		expect(cells(true)).toEqual([null, null, true, "true", null]);
		expect(cells("2026-01-01T00:00:00Z")).toEqual([null, null, null, "2026-01-01T00:00:00Z", "60s"]);
		expect(cells(["a"])).toEqual([null, null, null, '["a"]', null]);
		expect(cells("soon")).toEqual([null, null, null, "soon", "<invalid>"]);
		expect(cells(undefined)).toEqual([null, null, null, null, null]);
	});
});

test.each([
	["date-time", "2020-01-01T00:00:00Z", "2020-02-30T00:00:00Z"],
	["date", "2020-02-29", "2020-13-01"],
	["duration", "1h30m", "1 fortnight"],
	["ipv4", "10.0.0.1", "::1"],
	["ipv6", "::1", "10.0.0.1"],
	["cidr", "10.0.0.0/8", "10.0.0.0/40"],
	["uuid", "00000000-0000-4000-8000-000000000000", "0"],
	["hostname", "a.example.com", "a b"],
	["email", "a@b.c", "a"],
	["uri", "https://a/b", "a b"],
	["byte", "YQ==", "YQ="],
	["mac", "00:11:22:33:44:55", "00:11"],
])("the format %s takes %j, not %j", (format, right, wrong) => {
	expect([fitsFormat(format, right), fitsFormat(format, wrong), fitsFormat("unheard-of", wrong)]).toEqual([
		true,
		false,
		true,
	]);
});

test("versions go by stage and number, other names come last", () => {
	const names = [
		"foo10",
		"v1alpha1",
		"v2beta1",
		"v11alpha2",
		"v1",
		"v10",
		"foo1",
		"v3beta1",
		"v2",
		"v12alpha1",
		"v11beta2",
	];
	expect([...names].sort(byPriority)).toEqual([
		...["v10", "v2", "v1", "v11beta2", "v3beta1", "v2beta1", "v12alpha1", "v11alpha2", "v1alpha1", "foo1", "foo10"],
	]);
});

describe("readSchema()", () => {
	test("refuses wrong types, reports and drops what it does not know", () => {
		expect(readSchema({ type: "object", foo: 1, nullable: null, required: [] }, "s")).toEqual({
			schema: { type: "object" },
			unknown: ['unknown field "s.foo"'],
			wrong: undefined,
		});
		expect(readSchema({ maxLength: "3" }, "s").wrong).toContain("s.maxLength of type int64");
	});

	test("has limits of depth and size", () => {
		let deep: object = { type: "string" };
		for (let level = 0; level < 5_000; level++) deep = { type: "array", items: deep };
		expect(readSchema(deep, "s").wrong).toBe("schema is nested deeper than 64 levels");
		const wide = { properties: Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`p${index}`, {}])) };
		expect(readSchema(wide, "s").wrong).toBe("schema has more than 50000 parts");
	});
});
