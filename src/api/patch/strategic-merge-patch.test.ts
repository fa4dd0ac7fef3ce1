import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../kernel/json.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

function patched(schema: string, target: object, patch: unknown): unknown {
	const result = applyStrategicMergePatch(schema, deepFreeze(target as Record<string, unknown>), deepFreeze(patch));
	return result.kind === "ok" ? result.value : `${result.code} ${result.message}`;
}

/** Ports as `80=http 443`, to be read at a glance. */
function portsAfter(before: string, patch: object): unknown {
	const result = patched("core.Service", { spec: { ports: parsePorts(before) } }, { spec: patch });
	if (typeof result === "string") return result;
	const { ports } = (result as { spec: { ports?: readonly { port: number; name?: string }[] } }).spec;
	return ports?.map(({ port, name }) => (name === undefined ? `${port}` : `${port}=${name}`)).join(" ");
}

function parsePorts(text: string): { port: number; name?: string }[] {
	return text.split(" ").map((word) => {
		const [port, name] = word.split("=");
		return { port: Number(port), ...(name === undefined ? {} : { name }) };
	});
}

const order = (...ports: number[]): object => ({ "$setElementOrder/ports": ports.map((port) => ({ port })) });
const drop = (port: number): object => ({ $patch: "delete", port });

describe("applyStrategicMergePatch() on a list with a merge key", () => {
	// Results as `kubectl patch --local` gives them.
	test.each<[rule: string, before: string, patch: object, after: string]>([
		[
			"merges into the element with the same key",
			"80=http 443",
			{ ports: [{ port: 443, name: "tls" }] },
			"80=http 443=tls",
		],
		["merges into the first of several with the key", "80=a 80=b", { ports: [{ port: 80, name: "c" }] }, "80=c 80=b"],
		["puts new elements before those of the server", "80 443", { ports: [{ port: 81 }] }, "81 80 443"],
		["deletes by key", "80 443", { ports: [drop(80)] }, "443"],
		["deletes what is not there", "80", { ports: [drop(9)] }, "80"],
		["replaces the list", "80 443", { ports: [{ $patch: "replace" }, { port: 1 }] }, "1"],
		["adds back what it deletes", "80=http 443", { ports: [drop(80), { port: 80, name: "new" }] }, "80=new 443"],
		["reorders by the directive alone", "80=http 443", order(443, 80), "443 80=http"],
		["keeps server-only elements between their neighbours", "1 2 3 4", order(4, 2), "1 3 4 2"],
		[
			"orders what it changes",
			"80 443",
			{ ...order(443, 81), ports: [{ port: 443, name: "x" }, { port: 81 }] },
			"80 443=x 81",
		],
		["orders a new element after a deleted one's place", "80", { ...order(81), ports: [{ port: 81 }, drop(80)] }, "81"],
		[
			"takes a new element for old when others go",
			"80 83 82 84",
			{ ...order(85), ports: [drop(80), { port: 85 }] },
			"83 82 84 85",
		],
		["an empty list changes nothing", "80", { ports: [] }, "80"],
		["keys compare with their type", "80", { ports: [{ port: "80", name: "x" }] }, "80=x 80"],
	])("%s", (_rule, before, patch, after) => {
		expect(portsAfter(before, patch)).toBe(after);
	});

	test.each<[rule: string, patch: object, message: string]>([
		["no key", { ports: [{ name: "x" }] }, "500 map: map[name:x] does not contain declared merge key: port"],
		[
			"a deletion without key",
			{ ports: [{ $patch: "delete" }] },
			"500 map: map[$patch:delete] does not contain declared merge key: port",
		],
		[
			"an unknown directive",
			{ ports: [{ $patch: "x", port: 1 }] },
			"400 unknown patch type: x in map: map[$patch:x port:1]",
		],
		[
			"directive merge",
			{ ports: [{ $patch: "merge", port: 1 }] },
			"400 merging lists cannot yet be specified in the patch",
		],
		["elements of another type", { ports: [1] }, "400 list element types are not identical: [[map[port:80]] [1]]"],
		[
			"elements out of order",
			{ ...order(1, 2), ports: [{ port: 2 }, { port: 1 }] },
			"400 The order in patch list:\n[map[port:2] map[port:1]]\n doesn't match $setElementOrder list:\n[map[port:1] map[port:2]]\n",
		],
		[
			"elements that the order lacks",
			{ ...order(1), ports: [{ port: 2 }] },
			"400 The order in patch list:\n[map[port:2]]\n doesn't match $setElementOrder list:\n[map[port:1]]\n",
		],
		[
			"an order that is no list",
			{ "$setElementOrder/ports": {} },
			"400 expected a []interface {}, but received a map[string]interface {}",
		],
		[
			"an order without keys",
			{ "$setElementOrder/ports": [{ x: 1 }] },
			"500 map: map[x:1] does not contain declared merge key: port",
		],
		[
			"an order of an unknown list",
			{ "$setElementOrder/foo": [1] },
			'400 unable to find api field in struct ServiceSpec for the json field "foo"',
		],
	])("refuses %s", (_rule, patch, message) => {
		expect(portsAfter("80", patch)).toBe(message);
	});
});

describe("applyStrategicMergePatch()", () => {
	const meta = { metadata: { name: "web", finalizers: ["a/b", "c/d"], labels: { a: "x" } } };

	test.each<[rule: string, patch: object, metadata: object]>([
		["null deletes", { labels: null }, { name: "web", finalizers: ["a/b", "c/d"] }],
		["maps merge", { labels: { a: null, b: "y" } }, { ...meta.metadata, labels: { b: "y" } }],
		["a map can be replaced", { labels: { $patch: "replace", b: "y" } }, { ...meta.metadata, labels: { b: "y" } }],
		["a map can be emptied", { labels: { $patch: "delete" } }, { ...meta.metadata, labels: {} }],
		["a directive finds no map", { annotations: { $patch: "replace", b: "y" } }, meta.metadata],
		["new maps lose their nulls", { annotations: { a: null, b: "y" } }, { ...meta.metadata, annotations: { b: "y" } }],
		["keys are retained", { labels: { $retainKeys: ["b"], b: "y" } }, { ...meta.metadata, labels: { b: "y" } }],
		["scalars are a union", { finalizers: ["e/f", "a/b"] }, { ...meta.metadata, finalizers: ["e/f", "a/b", "c/d"] }],
		[
			"scalars are ordered",
			{ "$setElementOrder/finalizers": ["c/d", "a/b"] },
			{ ...meta.metadata, finalizers: ["c/d", "a/b"] },
		],
		[
			"scalars are deleted",
			{ "$deleteFromPrimitiveList/finalizers": ["a/b"] },
			{ ...meta.metadata, finalizers: ["c/d"] },
		],
		["deleted scalars need not exist", { "$deleteFromPrimitiveList/finalizers": ["x"] }, meta.metadata],
		[
			"a list without key is replaced",
			{ managedFields: [{ manager: "b" }] },
			{ ...meta.metadata, managedFields: [{ manager: "b" }] },
		],
		[
			"deletions find no list",
			{ ownerReferences: [{ $patch: "delete", uid: "1" }] },
			{ ...meta.metadata, ownerReferences: [] },
		],
	])("%s", (_rule, patch, metadata) => {
		expect(patched("core.Service", meta, { metadata: patch })).toEqual({ metadata });
	});

	test.each<[patch: unknown, message: string]>([
		[[], "400 a strategic merge patch must be a JSON object"],
		[{ $patch: "foo" }, "400 unknown patch type: foo in map: map[$patch:foo]"],
		[{ metadata: { $retainKeys: ["x"], name: "y" } }, "400 invalid patch format of retainKeys"],
		[{ metadata: { $retainKeys: "x" } }, "400 invalid patch format of retainKeys"],
		[{ metadata: { finalizers: [["x"]] } }, "400 list element types are not identical: [[a/b c/d] [[x]]]"],
	])("refuses %j", (patch, message) => {
		expect(patched("core.Service", meta, patch)).toBe(message);
	});

	test("refuses lists of lists", () => {
		const target = { metadata: { finalizers: [] } };
		expect(patched("core.Service", target, { metadata: { finalizers: [["x"]] } })).toBe(
			"422 lists of lists are not supported",
		);
	});

	test("a new image leaves the rest of the container", () => {
		const container = { name: "c", image: "a:1", ports: [{ containerPort: 80 }] };
		const target = { spec: { template: { spec: { containers: [container] } } } };
		const patch = {
			spec: {
				template: {
					spec: { "$setElementOrder/containers": [{ name: "c" }], containers: [{ image: "a:2", name: "c" }] },
				},
			},
		};
		expect(patched("apps.Deployment", target, patch)).toEqual({
			spec: { template: { spec: { containers: [{ ...container, image: "a:2" }] } } },
		});
	});

	test("another strategy drops the parameters of the old one", () => {
		const target = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } };
		const patch = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
		expect(patched("apps.Deployment", target, patch)).toEqual({ spec: { strategy: { type: "Recreate" } } });
	});

	test("treats __proto__ as a key like any other", () => {
		const patch = JSON.parse('{"metadata":{"labels":{"__proto__":"x"},"annotations":{"__proto__":"y"}}}');
		expect(JSON.stringify(patched("core.Service", { metadata: { labels: {} } }, patch))).toBe(JSON.stringify(patch));
	});

	const port = fc.record({ port: fc.integer({ min: 1, max: 5 }), name: fc.string() }, { requiredKeys: ["port"] });
	const service = fc.record({
		metadata: fc.record({ labels: fc.dictionary(fc.string(), fc.string()), finalizers: fc.uniqueArray(fc.string()) }),
		spec: fc.record({ ports: fc.uniqueArray(port, { selector: (item) => item.port }) }),
	});

	test("nothing as patch is the identity", () => {
		fc.assert(
			fc.property(service, (target) => {
				expect(patched("core.Service", target, {})).toEqual(target);
			}),
		);
	});

	test("an object as patch of itself is the identity", () => {
		fc.assert(
			fc.property(service, (target) => {
				expect(patched("core.Service", target, target)).toEqual(target);
			}),
		);
	});

	test("never changes its input, and brings in every element of the patch", () => {
		fc.assert(
			fc.property(service, service, (target, patch) => {
				const after = patched("core.Service", target, patch) as typeof target;
				const keys = (ports: typeof target.spec.ports): Set<number> => new Set(ports.map((item) => item.port));
				expect(keys(after.spec.ports)).toEqual(new Set([...keys(target.spec.ports), ...keys(patch.spec.ports)]));
			}),
		);
	});
});
