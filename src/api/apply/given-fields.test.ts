import { describe, expect, test } from "vitest";
import { checkedFields, givenFields } from "./given-fields.ts";
import { shapeOfMessage } from "./message-shape.ts";

const SERVICE = shapeOfMessage("core.Service");
const POD = shapeOfMessage("core.Pod");

describe("the fields that a configuration gives", () => {
	test.each([
		["a scalar", { spec: { type: "NodePort" } }, { "f:spec": { "f:type": {} } }],
		["an atomic map as one", { spec: { selector: { a: "b" } } }, { "f:spec": { "f:selector": {} } }],
		["entries of a map", { metadata: { labels: { a: "b" } } }, { "f:metadata": { "f:labels": { "f:a": {} } } }],
		["an empty map", { metadata: { labels: {} } }, { "f:metadata": { "f:labels": {} } }],
		["null", { spec: { type: null, ports: null } }, { "f:spec": { "f:ports": {}, "f:type": {} } }],
		[
			"items by their keys, defaults filled in, with the item itself",
			{ spec: { ports: [{ port: 80, name: "x" }] } },
			{ "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} } } } },
		],
		["items of a set", { metadata: { finalizers: ["a/b"] } }, { "f:metadata": { "f:finalizers": { 'v:"a/b"': {} } } }],
		[
			"owners as one each",
			{ metadata: { ownerReferences: [{ uid: "u", name: "n" }] } },
			{ "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u"}': {} } } },
		],
		["no items of an empty list", { spec: { ports: [] } }, {}],
	])("are %s", (_, config, fields) => {
		expect(JSON.parse(JSON.stringify(givenFields(SERVICE, config)))).toEqual(fields);
	});

	test("go through messages that other messages share", () => {
		const env = [{ name: "A", valueFrom: { fieldRef: { fieldPath: "x" } } }];
		const fields = givenFields(POD, { spec: { containers: [{ name: "c", env }] } });
		const inEnv = { 'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:valueFrom": { "f:fieldRef": {} } } };
		expect(JSON.parse(JSON.stringify(fields))).toEqual({
			"f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {}, "f:env": inEnv } } },
		});
	});
});

describe("a configuration that does not fit", () => {
	test.each([
		[{ spec: { foo: 1 } }, ".spec.foo: field not declared in schema"],
		[
			{ spec: { ports: [{ port: 80, foo: 1 }] } },
			'.spec.ports[port=80,protocol="TCP"].foo: field not declared in schema',
		],
		[{ metadata: { toString: "x" } }, ".metadata.toString: field not declared in schema"],
		[
			{ spec: { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] } },
			'.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
		],
		[{ metadata: { finalizers: ["a/b", "a/b"] } }, '.metadata.finalizers: duplicate entries for key [="a/b"]'],
		[
			{ spec: { ports: [{ name: "x" }] } },
			'.spec.ports: element 0: associative list with keys has an element that omits key field "port" (and doesn\'t have default value)',
		],
		[{ spec: { ports: [null] } }, ".spec.ports: element 0: associative list with keys may not have a null element"],
		[{ spec: { ports: 80 } }, ".spec.ports: expected list, got &{80}"],
		[{ spec: [] }, ".spec: expected map, got &{[]}"],
		[{ spec: { selector: "a=b" } }, ".spec.selector: expected map, got &{a=b}"],
		[{ spec: { type: 5 } }, ".spec.type: expected string, got int64"],
		[
			{ spec: { ports: [{ port: "80" }] } },
			'.spec.ports[port="80",protocol="TCP"].port: expected numeric (int or float), got string',
		],
		[
			{ spec: { a: 1, b: 2 } },
			"errors:\n  .spec.a: field not declared in schema\n  .spec.b: field not declared in schema",
		],
	])("%j is refused", (config, message) => {
		expect(checkedFields(SERVICE, config)).toEqual({ kind: "wrong", message });
	});
});
