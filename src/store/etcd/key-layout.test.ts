import { describe, expect, test } from "vitest";
import { RESOURCE_TYPES } from "../../api/resource-table.ts";
import { KeyLayout } from "./key-layout.ts";

const SPACES = RESOURCE_TYPES.map(({ storagePrefix }) => storagePrefix);

describe("KeyLayout", () => {
	const layout = new KeyLayout("/registry", SPACES);

	test.each([
		["/registry/pods/", "default/web-1", "/registry/pods/default/web-1"],
		["/registry/services/specs/", "default/web", "/registry/services/specs/default/web"],
		["/registry/services/endpoints/", "default/web", "/registry/services/endpoints/default/web"],
		["/registry/minions/", "n1", "/registry/minions/n1"],
		["/registry/ipaddresses/", "10.96.0.1", "/registry/ipaddresses/10.96.0.1"],
		["/registry/clusterroles/", "system:node", "/registry/clusterroles/system:node"],
		[
			"/registry/apiextensions.k8s.io/customresourcedefinitions/",
			"crontabs.stable.example.com",
			"/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.stable.example.com",
		],
		["/registry/stable.example.com/crontabs/", "a/b", "/registry/stable.example.com/crontabs/a/b"],
	])("keeps %s%s where a real server does, and finds it there", (space, key, expected) => {
		expect(layout.keyOf({ space, key })).toBe(expected);
		expect(layout.placeOf(expected)).toEqual({ space, key });
	});

	test.each([
		"compact_rev_key",
		"/registry/masterleases/10.0.0.1",
		"/registry/ranges/serviceips",
		"/registry/pods/",
		"/registry/pods",
		"/registry/health",
		"/registryx/pods/default/web",
		"/registry/stable.example.com/crontabs/",
		"/registry/services/other/default/web",
	])("has no place for %s", (key) => {
		expect(layout.placeOf(key)).toBeUndefined();
	});

	test("takes another prefix, with or without slashes at its ends", () => {
		for (const prefix of ["/a/b", "a/b", "/a/b/"]) {
			const other = new KeyLayout(prefix, SPACES);
			expect(other.keyOf({ space: "/registry/pods/", key: "default/web" })).toBe("/a/b/pods/default/web");
			expect(other.placeOf("/a/b/pods/default/web")).toEqual({ space: "/registry/pods/", key: "default/web" });
			expect(other.placeOf("/registry/pods/default/web")).toBeUndefined();
			expect(other.range).toEqual({ key: "/a/b/", rangeEnd: "/a/b0" });
		}
	});
});
