import { describe, expect, test } from "vitest";
import { compare } from "./compare.ts";
import { shapeOfMessage } from "./message-shape.ts";
import { UNTYPED } from "./shape.ts";

const SERVICE = shapeOfMessage("core.Service");
const DEPLOYMENT = shapeOfMessage("apps.Deployment");

function differences(shape: typeof SERVICE, old: unknown, next: unknown): unknown {
	return JSON.parse(JSON.stringify(compare(shape, old, next)));
}

const port = (number: number, more = {}) => ({ port: number, protocol: "TCP", ...more });
const ports = (...items: readonly unknown[]) => ({ spec: { ports: items } });

describe("what differs between two states", () => {
	test.each([
		["nothing", { spec: { type: "A" } }, { spec: { type: "A" } }, {}, {}],
		["a value", { spec: { type: "A" } }, { spec: { type: "B" } }, { "f:spec": { "f:type": {} } }, {}],
		["a field that went", { spec: { type: "A" } }, { spec: {} }, {}, { "f:spec": { "f:type": {} } }],
		[
			"a map that came, beside its entries",
			{ metadata: {} },
			{ metadata: { labels: { a: "b" } } },
			{ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } },
			{},
		],
		[
			"an atomic map, as one",
			{ spec: { selector: { a: "1", b: "2" } } },
			{ spec: { selector: { a: "1" } } },
			{ "f:spec": { "f:selector": {} } },
			{},
		],
		["the order of items, which does not count", ports(port(1), port(2)), ports(port(2), port(1)), {}, {}],
		[
			"what is empty either way",
			{ spec: { ports: [], selector: {} } },
			{ spec: { ports: null, selector: null } },
			{},
			{},
		],
		[
			"one item of many",
			ports(port(1), port(2)),
			ports(port(1), port(2, { name: "x" })),
			{ "f:spec": { "f:ports": { 'k:{"port":2,"protocol":"TCP"}': { "f:name": {} } } } },
			{},
		],
		[
			"an item for another",
			ports(port(1)),
			ports(port(2)),
			{ "f:spec": { "f:ports": { 'k:{"port":2,"protocol":"TCP"}': { ".": {}, "f:port": {}, "f:protocol": {} } } } },
			{ "f:spec": { "f:ports": { 'k:{"port":1,"protocol":"TCP"}': { ".": {}, "f:port": {}, "f:protocol": {} } } } },
		],
		[
			"one of two items with the same keys, as one",
			ports(port(1), port(1, { name: "x" })),
			ports(port(1), port(1, { name: "y" })),
			{ "f:spec": { "f:ports": { 'k:{"port":1,"protocol":"TCP"}': {} } } },
			{},
		],
	])("is %s", (_, old, next, written, removed) => {
		expect(differences(SERVICE, old, next)).toEqual({ written, removed });
	});

	test("leaves out structs that every object has, and names those that come with a new item", () => {
		const container = { name: "c", image: "i" };
		const template = { spec: { containers: [container] } };
		expect(differences(DEPLOYMENT, {}, { spec: { template } })).toEqual({
			written: {
				"f:spec": {
					"f:template": {
						"f:spec": {
							"f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {}, "f:name": {}, "f:resources": {} } },
						},
					},
				},
			},
			removed: {},
		});
	});

	test("goes into what nobody knows by the values alone", () => {
		expect(differences(UNTYPED, { a: { b: 1 }, c: [1], d: {} }, { a: { b: 2 }, c: [2], d: 1 })).toEqual({
			written: { "f:a": { "f:b": {} }, "f:c": {}, "f:d": {} },
			removed: { "f:d": {} },
		});
	});
});
