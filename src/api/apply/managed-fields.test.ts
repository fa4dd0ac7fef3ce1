import { describe, expect, test } from "vitest";
import { withFewUpdaters } from "./ancient-changes.ts";
import { pathSet } from "./field-set.ts";
import { entriesOf, type Owners, type Ownership, ownership, ownersOf, sameOwners } from "./managed-fields.ts";

const fields = pathSet(["f:a"]);
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;

function updater(manager: string, second: number, apiVersion = "v1") {
	return ownership({ manager, operation: "Update", apiVersion }, at(second), pathSet([`f:${manager}`]));
}

describe("entries", () => {
	test("say what a real server says, in its order of members", () => {
		const [entry] =
			entriesOf([
				ownership({ manager: "m", operation: "Update", apiVersion: "v1", subresource: "status" }, at(0), fields),
			]) ?? [];
		expect(JSON.stringify(entry)).toBe(
			'{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"subresource":"status"}',
		);
	});

	test("stand by operation, time, manager, version and subresource", () => {
		const owners: Owners = [
			updater("b", 1),
			updater("a", 1, "v2"),
			updater("a", 1),
			updater("z", 0),
			ownership({ manager: "y", operation: "Apply", apiVersion: "v1" }, at(9), fields),
			ownership({ manager: "x", operation: "Apply", apiVersion: "v1" }, undefined, fields),
		];
		expect(entriesOf(owners)?.map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)).toEqual([
			"x v1",
			"y v1",
			"z v1",
			"a v1",
			"a v2",
			"b v1",
		]);
	});

	test("of one applier in two versions are one, those of an updater two", () => {
		const entry = (operation: "Apply" | "Update", apiVersion: string) => ({
			manager: "m",
			operation,
			apiVersion,
			fieldsType: "FieldsV1",
			fieldsV1: { "f:a": {} },
		});
		const entries = [entry("Apply", "v1"), entry("Apply", "v2"), entry("Update", "v1"), entry("Update", "v2")];
		expect(ownersOf(entries)?.map(({ operation, apiVersion }) => operation + apiVersion)).toEqual([
			"Applyv2",
			"Updatev1",
			"Updatev2",
		]);
	});

	test.each([
		[{ operation: "Create" }],
		[{ apiVersion: "" }],
		[{ fieldsType: "FieldsV2" }],
		[{ fieldsType: "" }],
		[{ fieldsV1: { a: {} } }],
	])("with %j cannot be read", (wrong) => {
		const entry = {
			manager: "m",
			operation: "Update",
			apiVersion: "v1",
			fieldsType: "FieldsV1",
			fieldsV1: {},
			...wrong,
		};
		expect(ownersOf([entry as never])).toBeUndefined();
	});

	test("that differ in their times alone say the same", () => {
		expect(sameOwners([updater("a", 1), updater("b", 2)], [updater("b", 3), updater("a", 3)])).toBe(true);
		expect(sameOwners([updater("a", 1)], [updater("b", 1)])).toBe(false);
	});
});

describe("more than ten updaters", () => {
	test("become ten: the oldest of a version are one, called ancient-changes", () => {
		const owners = Array.from({ length: 12 }, (_, index) => updater(`m${index}`, index));
		const kept = withFewUpdaters(owners);
		expect(kept.map(({ manager }) => manager).sort()).toEqual([
			"ancient-changes",
			...["m10", "m11", "m3", "m4", "m5", "m6", "m7", "m8", "m9"],
		]);
		const ancient = kept.find(({ manager }) => manager === "ancient-changes");
		expect([Object.keys(ancient?.fieldsV1 ?? {}), ancient?.time]).toEqual([["f:m0", "f:m1", "f:m2"], at(2)]);
	});

	test("are each looked at a few times only, however many there are", () => {
		let looks = 0;
		const owners = Array.from({ length: 2_000 }, (_, index) => {
			const { operation, ...rest } = updater(`m${index}`, index);
			return Object.defineProperty({ ...rest }, "operation", {
				get: () => {
					looks++;
					return operation;
				},
			}) as Ownership;
		});
		expect(withFewUpdaters(owners)).toHaveLength(10);
		expect(looks / owners.length).toBeLessThan(10);
	});

	test("lose nothing when the entry of what is ancient is younger than they are", () => {
		const owners = [
			...Array.from({ length: 11 }, (_, index) => updater(`m${index}`, index)),
			updater("ancient-changes", 5),
		];
		const kept = withFewUpdaters(owners);
		const owned = kept.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1));
		expect(owned.sort()).toEqual(owners.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1)).sort());
	});

	test("stay when no two are of one version, and appliers do not count", () => {
		const apart = Array.from({ length: 11 }, (_, index) => updater("m", index, `v${index}`));
		expect(withFewUpdaters(apart)).toHaveLength(11);
		const appliers = apart.map((each) =>
			ownership({ ...each, operation: "Apply", manager: each.apiVersion }, at(0), fields),
		);
		expect(withFewUpdaters([...appliers, updater("a", 1), updater("b", 1)])).toHaveLength(13);
	});
});
