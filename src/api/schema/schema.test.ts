import { describe, expect, test } from "vitest";
import { messageNameOf, messageNames, messageOf } from "./schema.ts";

describe("the schema", () => {
	test("knows every message that its fields name", () => {
		const named = messageNames().flatMap((name) =>
			[...messageOf(name).wireFields.values()].map((field) => field.messageName),
		);
		const known = new Set([...messageNames(), ""]);
		expect(named.filter((name) => !known.has(name))).toEqual([]);
	});

	test("has no number or name twice in a message", () => {
		for (const name of messageNames()) {
			const message = messageOf(name);
			const inline = [...message.wireFields.values()].filter((field) => field.isInline);
			const inlineCount = inline.reduce((sum, field) => sum + messageOf(field.messageName).fields.size - 1, 0);
			const typeMetaCount = message.isKind ? 2 : 0;
			expect([name, message.fields.size]).toEqual([name, message.wireFields.size + inlineCount + typeMetaCount]);
		}
	});

	test("names merge keys and list-map keys that exist in the items", () => {
		for (const name of messageNames()) {
			for (const field of messageOf(name).fields.values()) {
				const keys = [...field.listMapKeys.map((key) => key.name), ...(field.mergeKey ? [field.mergeKey] : [])];
				const item = field.messageName === "" ? undefined : messageOf(field.messageName);
				expect([name, field.name, keys.filter((key) => item?.fields.has(key) !== true)]).toEqual([
					name,
					field.name,
					[],
				]);
			}
		}
	});

	test("puts the members of an inline message into the JSON of its parent", () => {
		const volume = messageOf("core.Volume");
		expect([...volume.wireFields.values()].map((field) => field.name)).toEqual(["name", "volumeSource"]);
		expect(volume.fields.has("configMap")).toBe(true);
		expect(volume.fields.has("volumeSource")).toBe(false);
	});

	test("carries both kinds of list semantics", () => {
		expect(messageOf("core.ServiceSpec").fields.get("ports")).toMatchObject({
			number: 1,
			shape: "list",
			messageName: "core.ServicePort",
			patchStrategy: "merge",
			mergeKey: "port",
			applied: "map",
			listMapKeys: [{ name: "port" }, { name: "protocol", default: "TCP" }],
		});
		expect(messageOf("core.ServiceSpec").fields.get("selector")).toMatchObject({ shape: "map", applied: "atomic" });
		expect(messageOf("core.PodSpec").fields.get("volumes")).toMatchObject({ mergeKey: "name", retainsKeys: true });
		expect(messageOf("meta.ObjectMeta").fields.get("finalizers")).toMatchObject({
			patchStrategy: "merge",
			applied: "set",
		});
		expect(messageOf("meta.ObjectMeta").fields.get("labels")).toMatchObject({ applied: "granular" });
		expect(messageOf("core.Endpoints").fields.get("subsets")).toMatchObject({
			patchStrategy: "replace",
			applied: "atomic",
		});
		expect(messageOf("core.ObjectReference").isAtomic).toBe(true);
	});

	test.each([
		["", "Service", "core.Service"],
		["discovery.k8s.io", "EndpointSlice", "discovery.EndpointSlice"],
		["apps", "DeleteOptions", "meta.DeleteOptions"],
		["", "ServiceSpec", undefined],
		["apps.example.com", "Deployment", undefined],
		["", "__proto__", undefined],
	])("finds the message of kind %s/%s", (group, kind, name) => {
		expect(messageNameOf(group, kind)).toBe(name);
	});
});
