import { describe, expect, test } from "vitest";
import type { ReplicaSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import { BORN, type PodTraits, pod } from "../../testing/builders.ts";
import { deployment, storedSet, template } from "../../testing/workloads.ts";
import { claimsOf } from "./claims.ts";
import { newReplicaSet } from "./deployment-replica-sets.ts";
import { planReplicaSet, podFromTemplate, recheckOfAvailabilityMs, replicaSetStatus } from "./replica-set.ts";
import { rollingNumbers } from "./rolling-numbers.ts";

const NOW_MS = Date.parse(BORN) + 60_000;

function set(spec: Partial<ReplicaSet["spec"]> = {}, more: Partial<ReplicaSet> = {}): ReplicaSet {
	const stored = storedSet(newReplicaSet(deployment(), rollingNumbers(deployment()), { size: 3, revision: 1 }));
	return { ...stored, ...more, spec: { ...stored.spec, selector: { matchLabels: { app: "web" } }, ...spec } };
}

function pods(count: number, traits: PodTraits = {}): readonly Pod[] {
	return Array.from({ length: count }, (_, index) => pod(`p${index}`, traits));
}

function planned(replicaSet: ReplicaSet, given: readonly Pod[]): { creates: number; deletes: number } {
	const { creates, deletes } = planReplicaSet({ replicaSet, pods: given, podsOnNode: () => new Map(), nowMs: NOW_MS });
	return { creates, deletes: deletes.length };
}

const TERMINATING: PodTraits = { isTerminating: true };
const ENDED: PodTraits = { status: { phase: "Succeeded" } };

describe("planReplicaSet", () => {
	test.each([
		["makes what is missing", 3, pods(1), { creates: 2, deletes: 0 }],
		["gives up what is too many", 1, pods(4), { creates: 0, deletes: 3 }],
		["does nothing when it has what it wants", 2, pods(2), { creates: 0, deletes: 0 }],
		["does not count Pods that are being deleted", 2, [...pods(1), pod("t", TERMINATING)], { creates: 1, deletes: 0 }],
		[
			"does not count Pods that have ended, nor delete them",
			1,
			[...pods(1), pod("e", ENDED)],
			{ creates: 0, deletes: 0 },
		],
		["makes 500 at once, and no more", 1200, pods(0), { creates: 500, deletes: 0 }],
		["gives up 500 at once, and no more", 0, pods(600), { creates: 0, deletes: 500 }],
	] as const)("%s", (_, replicas, given, expected) => {
		expect(planned(set({ replicas }), given)).toEqual(expected);
	});

	test("makes and deletes nothing while it is being deleted itself", () => {
		const deleted = set({ replicas: 3 });
		const replicaSet = { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: BORN } };
		expect(planned(replicaSet, pods(1))).toEqual({ creates: 0, deletes: 0 });
		expect(planned(replicaSet, pods(9))).toEqual({ creates: 0, deletes: 0 });
	});

	test("does not count the Pods of nodes when every Pod must go", () => {
		const podsOnNode = (): never => {
			throw new Error("counted");
		};
		const plan = planReplicaSet({ replicaSet: set({ replicas: 0 }), pods: pods(5), podsOnNode, nowMs: NOW_MS });
		expect(plan.deletes).toHaveLength(5);
	});
});

describe("claimsOf", () => {
	const owned = (name: string, uid: string, traits: PodTraits = {}): Pod =>
		pod(name, {
			...traits,
			metadata: {
				...traits.metadata,
				ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "x", uid, controller: true }],
			},
		});
	const owner = set();
	const mine = owner.metadata.uid;
	const other: PodTraits = { labels: { app: "other" } };

	function claimed(given: Pod, by = owner): string {
		const { kept, adopted, released } = claimsOf(by, by.spec.selector, [given]);
		return kept.length > 0 ? "kept" : adopted.length > 0 ? "adopted" : released.length > 0 ? "released" : "none";
	}

	test.each([
		["its own that matches is kept", owned("p", mine), "kept"],
		["its own that matches no longer is released", owned("p", mine, other), "released"],
		["nobody's that matches is adopted", pod("p"), "adopted"],
		["nobody's that does not match is left alone", pod("p", other), "none"],
		["another's is left alone, though it matches", owned("p", "else"), "none"],
		["nobody's that is being deleted is left alone", pod("p", TERMINATING), "none"],
		["its own that is being deleted is kept", owned("p", mine, TERMINATING), "kept"],
		["its own that is being deleted is not released", owned("p", mine, { ...other, ...TERMINATING }), "none"],
	])("%s", (_, given, expected) => {
		expect(claimed(given)).toBe(expected);
	});

	test("an owner that is being deleted neither adopts nor releases", () => {
		const leaving = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: BORN } };
		expect(claimed(pod("p"), leaving)).toBe("none");
		expect(claimed(owned("p", mine, other), leaving)).toBe("none");
		expect(claimed(owned("p", mine), leaving)).toBe("kept");
	});
});

describe("replicaSetStatus", () => {
	const labels = { app: "web", "pod-template-hash": set().metadata.labels?.["pod-template-hash"] ?? "" };

	test("counts active, labelled, ready, available and terminating Pods", () => {
		const given = [
			pod("a", { labels }),
			pod("b", { labels, isReady: false }),
			pod("c", { labels: { app: "web" } }),
			pod("d", { labels, ...TERMINATING }),
			pod("e", { labels, isTerminating: true, status: { phase: "Failed" } }),
		];
		expect(replicaSetStatus({ replicaSet: set(), pods: given, nowMs: NOW_MS }, undefined)).toEqual({
			replicas: 3,
			fullyLabeledReplicas: 2,
			readyReplicas: 2,
			availableReplicas: 2,
			terminatingReplicas: 1,
			observedGeneration: 1,
		});
	});

	test("leaves out counts of 0, but for replicas and terminatingReplicas", () => {
		const status = replicaSetStatus({ replicaSet: set(), pods: [], nowMs: NOW_MS }, undefined);
		expect(status).toEqual({ replicas: 0, terminatingReplicas: 0, observedGeneration: 1 });
	});

	test("counts a Pod as available once it was ready for minReadySeconds, to the second", () => {
		const replicaSet = set({ minReadySeconds: 60 });
		const world = { replicaSet, pods: pods(1), nowMs: NOW_MS };
		expect(replicaSetStatus(world, undefined).availableReplicas).toBe(1);
		const before = { ...world, nowMs: NOW_MS - 1 };
		expect(replicaSetStatus(before, undefined).availableReplicas).toBeUndefined();
		expect(recheckOfAvailabilityMs(before)).toBe(1);
		expect(recheckOfAvailabilityMs(world)).toBeUndefined();
	});

	test("says what failed, keeps saying it, and stops when it works again", () => {
		const replicaSet = set();
		const failed = replicaSetStatus({ replicaSet, pods: pods(1), nowMs: NOW_MS }, "no quota");
		expect(failed.conditions).toEqual([
			{
				type: "ReplicaFailure",
				status: "True",
				reason: "FailedCreate",
				message: "no quota",
				lastTransitionTime: "2026-01-01T00:01:00Z",
			},
		]);
		const stored = { ...replicaSet, status: failed };
		const again = replicaSetStatus({ replicaSet: stored, pods: pods(1), nowMs: NOW_MS + 9000 }, "still none");
		expect(again.conditions).toEqual(failed.conditions);
		expect(
			replicaSetStatus({ replicaSet: stored, pods: pods(3), nowMs: NOW_MS }, undefined).conditions,
		).toBeUndefined();
		const surplus = replicaSetStatus({ replicaSet, pods: pods(5), nowMs: NOW_MS }, "no");
		expect(surplus.conditions?.[0]?.reason).toBe("FailedDelete");
	});
});

describe("podFromTemplate", () => {
	test("has the template's labels, annotations and finalizers, and the ReplicaSet as its owner", () => {
		const metadata = { labels: { app: "web" }, annotations: { a: "1" }, finalizers: ["example.com/f"] };
		const made = podFromTemplate(set({ template: { ...template(), metadata } }));
		expect(made.metadata).toMatchObject({ generateName: `${set().metadata.name}-`, ...metadata });
		expect(made.metadata.ownerReferences).toEqual([
			expect.objectContaining({
				kind: "ReplicaSet",
				uid: set().metadata.uid,
				controller: true,
				blockOwnerDeletion: true,
			}),
		]);
		expect(made.spec).toEqual(template().spec);
	});
});
