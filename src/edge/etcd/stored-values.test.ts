import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/types/meta.ts";
import { pod, service } from "../../testing/builders.ts";
import { objectOfValue, storedValue } from "./stored-values.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

describe("storedValue()", () => {
	test("is what a real server writes: kind first, no resourceVersion, a line end", () => {
		const { kind, apiVersion, metadata } = pod("a");
		const object: KubeObject = { metadata, apiVersion, kind };
		expect(text(storedValue(object))).toBe(
			'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"uid-a",' +
				'"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"}}}\n',
		);
	});

	test("a key that is a word of JavaScript is data", () => {
		const object = JSON.parse('{"kind":"K","apiVersion":"x/v1","metadata":{"name":"a"},"__proto__":{"a":1}}');
		const read = objectOfValue("/registry/x.y/ks/", storedValue(object));
		expect(Object.keys(read)).toContain("__proto__");
		expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
	});
});

describe("objectOfValue()", () => {
	test.each([
		["/registry/pods/", pod("a")],
		["/registry/services/specs/", service("a")],
	])("reads back what was written at %s", (space, object) => {
		const once = objectOfValue(space, storedValue(object));
		expect(objectOfValue(space, storedValue(once))).toEqual(once);
		expect(once.metadata.name).toBe("a");
	});

	test("gives what was stored before a field had a default that default, as a real server does", () => {
		const old = '{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}';
		const read = objectOfValue("/registry/services/specs/", bytes(old));
		expect(read).toMatchObject({ spec: { type: "ClusterIP", ports: [{ protocol: "TCP", targetPort: 80 }] } });
	});

	test.each([
		["/registry/pods/", ""],
		["/registry/pods/", "k8s:enc:aescbc:v1:key1:abc"],
		["/registry/pods/", "k8s\0\u0001"],
		["/registry/pods/", "[]"],
		["/registry/pods/", '{"kind":"Pod","apiVersion":"v1"}'],
		["/registry/pods/", '{"kind":"Pod","apiVersion":"v1","metadata":{"name":1}}'],
		["/registry/pods/", '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":[]}}'],
		["/registry/pods/", '{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"}}'],
		[
			"/registry/endpointslices/",
			'{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1alpha1","metadata":{"name":"a"}}',
		],
		["/registry/x.y/ks/", '{"kind":"K","metadata":{"name":"a"}}'],
		["/registry/x.y/ks/", '{"kind":"K","apiVersion":"x.y/v1","metadata":{"name":"a","finalizers":"x"}}'],
		["/registry/x.y/ks/", '{"kind":"K","apiVersion":"x.y/v1","metadata":[]}'],
	])("refuses at %s what is no object of it: %s", (space, value) => {
		expect(() => objectOfValue(space, bytes(value))).toThrow();
	});

	test("what is encrypted is said to be, with what to do about it", () => {
		const sealed = bytes("k8s:enc:aescbc:v1:key1:\u0000\u0001secret");
		const told = /^it is encrypted, with k8s:enc:aescbc:v1: put the provider identity first/;
		expect(() => objectOfValue("/registry/secrets/", sealed)).toThrow(told);
	});

	test.each([
		["text that is no JSON", "hunter2"],
		["JSON that breaks off", '{"kind":"Secret","data":{"a":"hunter2'],
		["a wrong type", '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":["hunter2"]}}'],
		["a wrong number", '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","generation":7777777.5}}'],
		["a wrong time", '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":"hunter2\\"x"}}'],
		["protobuf that is none", "k8s\0hunter2"],
	])("says nothing of what a value holds: %s", (_, value) => {
		const why = (): string => {
			try {
				objectOfValue("/registry/secrets/", bytes(value));
				return "read";
			} catch (error) {
				return String(error);
			}
		};
		expect(why()).toMatch(/^Error: ./);
		expect(why()).not.toMatch(/hunter|unter2|7777/);
	});

	test("bytes that are no text are refused, not made into some", () => {
		const broken = bytes('{"kind":"K","apiVersion":"x.y/v1","metadata":{"name":"a?"}}');
		broken[broken.indexOf(0x3f)] = 0xff;
		expect(() => objectOfValue("/registry/x.y/ks/", broken)).toThrow();
	});
});
