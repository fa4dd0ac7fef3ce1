import { describe, expect, test } from "vitest";
import type { KubeObject, OwnerReference } from "../api/types/meta.ts";
import { BORN, pod } from "../testing/builders.ts";
import {
	blocks,
	type DependentPlan,
	FOREGROUND_FINALIZER,
	ORPHAN_FINALIZER,
	type OwnerState,
	planDependent,
	waitsInForeground,
	waitsToOrphan,
} from "./garbage.ts";

function owner(uid: string, more: Partial<OwnerReference> = {}): OwnerReference {
	return { apiVersion: "v1", kind: "Service", name: uid, uid, ...more };
}

function planned(
	states: readonly OwnerState[],
	finalizers: readonly string[] = [],
	hasDependents = false,
): DependentPlan {
	const owners = states.map((state, index) => ({ reference: owner(`u${index}`), state }));
	return planDependent({ object: pod("p", { metadata: { finalizers } }), owners, hasDependents });
}

const KEEP: DependentPlan = { kind: "keep" };

describe("planDependent", () => {
	test.each<[string, OwnerState[], DependentPlan]>([
		["a solid owner keeps it", ["solid"], KEEP],
		["several solid owners keep it", ["solid", "solid"], KEEP],
		["an absent owner deletes it", ["absent"], { kind: "delete", propagationPolicy: "Background" }],
		["all owners absent delete it", ["absent", "absent"], { kind: "delete", propagationPolicy: "Background" }],
		[
			"one solid owner keeps it, the absent leave its list",
			["absent", "solid", "absent"],
			{ kind: "disown", uids: ["u0", "u2"] },
		],
		["a waiting owner leaves its list if another is solid", ["waiting", "solid"], { kind: "disown", uids: ["u0"] }],
		["a waiting owner deletes it", ["waiting", "absent"], { kind: "delete", propagationPolicy: "Background" }],
		["an owner that nobody can look up keeps it", ["unknown"], KEEP],
		["nothing is done on a guess", ["unknown", "absent", "solid"], KEEP],
	])("%s", (_, states, expected) => {
		expect(planned(states)).toEqual(expected);
	});

	test.each<[string, OwnerState, string[], boolean, "Background" | "Foreground" | "Orphan"]>([
		["waits for dependents of its own when its owner waits", "waiting", [], true, "Foreground"],
		["does not wait for dependents when its owner is gone", "absent", [], true, "Background"],
		["holds to its own wish to orphan", "absent", [ORPHAN_FINALIZER], true, "Orphan"],
		["holds to its own wish to wait", "absent", [FOREGROUND_FINALIZER], false, "Foreground"],
	])("a dependent %s", (_, state, finalizers, hasDependents, propagationPolicy) => {
		expect(planned([state], finalizers, hasDependents)).toEqual({ kind: "delete", propagationPolicy });
	});
});

describe("an object waits", () => {
	const object = (finalizers: readonly string[], isTerminating: boolean): KubeObject =>
		pod("p", { metadata: { finalizers, ...(isTerminating ? { deletionTimestamp: BORN } : {}) } });

	test.each([
		["for its dependents with the finalizer, once it is deleted", [FOREGROUND_FINALIZER], true, [true, false]],
		["to orphan them with the other", [ORPHAN_FINALIZER], true, [false, true]],
		["for nothing before it is deleted", [FOREGROUND_FINALIZER, ORPHAN_FINALIZER], false, [false, false]],
		["for others with other finalizers", ["example.com/f"], true, [false, false]],
	])("%s", (_, finalizers, isTerminating, expected) => {
		const given = object(finalizers, isTerminating);
		expect([waitsInForeground(given), waitsToOrphan(given)]).toEqual(expected);
	});

	test("only for dependents that ask it to", () => {
		const held = pod("p", { metadata: { ownerReferences: [owner("uid-o", { blockOwnerDeletion: true })] } });
		const free = pod("p", {
			metadata: { ownerReferences: [owner("uid-o"), owner("x", { blockOwnerDeletion: true })] },
		});
		expect([blocks(pod("o"), held), blocks(pod("o"), free)]).toEqual([true, false]);
	});
});
