import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { applyManifests } from "./apply-manifests.ts";

const MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '1'}\n";
const LIST = JSON.stringify({
	apiVersion: "v1",
	kind: "List",
	items: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } }],
});

const definition = (schema: string): string => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ${schema}}}]
`;
const TAB = "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: t}\nspec: {a: 1}\n";
const SCHEMA = "{type: object, properties: {spec: {type: object, properties: {a: {type: integer}}}}}";

describe("applyManifests()", () => {
	let plane: TestPlane;
	beforeAll(async () => {
		plane = await startTestPlane({ nodes: 1 });
	});
	afterAll(() => plane.stop());
	const apply = async (text: string): Promise<readonly string[]> => {
		const said: string[] = [];
		await applyManifests(plane.client, "f.yaml", text, (line) => said.push(line));
		return said;
	};

	test("says created, unchanged and configured as kubectl does", async () => {
		expect(await apply(MAP)).toEqual(["configmap/m created"]);
		expect(await apply(MAP)).toEqual(["configmap/m unchanged"]);
		expect(await apply(MAP.replace("'1'", "'2'"))).toEqual(["configmap/m configured"]);
	});

	test("applies each item of a List", async () => {
		expect(await apply(LIST)).toEqual(["namespace/a created"]);
	});

	test("applies definitions first, waits for them, and is as strict with what they define", async () => {
		const said = [
			"customresourcedefinition.apiextensions.k8s.io/tabs.example.com created",
			"tab.example.com/t created",
		];
		expect(await apply(`${TAB}---\n${definition(SCHEMA)}`)).toEqual(said);
		expect(await apply(TAB)).toEqual(["tab.example.com/t unchanged"]);
		await expect(apply(TAB.replace("a: 1", "b: 1"))).rejects.toThrow(
			'f.yaml: line 1: tab.example.com/t: strict decoding error: unknown field "spec.b"',
		);
		await expect(apply(TAB.replace("Tab", "Other"))).rejects.toThrow(
			'no kind "Other" is served in version example.com/v1: for a custom resource, apply its CustomResourceDefinition first',
		);
	});

	test.each(["", "# nothing\n", "---\n---\n", '{"apiVersion": "v1", "kind": "List", "items": []}'])(
		"says that %j has nothing to apply",
		async (text) => {
			expect(await apply(text)).toEqual(["nothing to apply in f.yaml"]);
		},
	);

	test.each([
		{
			text: "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {foo: 1, ports: [{port: 80, bar: 2}]}\n",
			says: 'service/s: strict decoding error: unknown field "spec.foo", unknown field "spec.ports[0].bar"',
		},
		{
			text: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{"a":"1","a":"2"}}',
			says: 'configmap/d: strict decoding error: duplicate field "data.a"',
		},
	])("refuses unknown and repeated fields, and names file, object and field: $says", async ({ text, says }) => {
		await expect(apply(text)).rejects.toThrow(`f.yaml: line 1: ${says}`);
	});
});
