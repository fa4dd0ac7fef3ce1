/** Rollouts as sequences of sizes; each arrow is a sync, "avail" means that the new Pods became available. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IntOrString } from "../../api/types/meta.ts";
import { RolloutModel } from "../../testing/rollout-model.ts";
import { deployment, template } from "../../testing/workloads.ts";
import { generationsOf } from "./deployment-replica-sets.ts";
import { rollingNumbers } from "./rolling-numbers.ts";

function completed(replicas: number, maxSurge: IntOrString, maxUnavailable: IntOrString): RolloutModel {
	const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } as const;
	const model = new RolloutModel(deployment({ replicas, strategy }));
	model.complete();
	return model;
}

const SEQUENCES: readonly (readonly [string, number, IntOrString, IntOrString, string])[] = [
	["205, 25% and 25%", 205, "25%", "25%", "new 52 + old 154 → new 103 → avail → old 51 → new 205 → avail → old 0"],
	["4, 25% and 25%", 4, "25%", "25%", "new 1 + old 3 → new 2 → avail → old 1 → new 4 → avail → old 0"],
	["10, surge 3, unavailable 2", 10, 3, 2, "new 3 + old 8 → new 5 → avail → old 3 → new 10 → avail → old 0"],
	["1, 25% and 25%", 1, "25%", "25%", "new 1 → avail → old 0"],
	["3, surge 0, unavailable 1", 3, 0, 1, "old 2 → new 1 → avail → old 1 → new 2 → avail → old 0 → new 3"],
];

describe("a rollout", () => {
	test.each(SEQUENCES)("%s", (_, replicas, surge, unavailable, expected) => {
		const model = completed(replicas, surge, unavailable);
		model.change({ template: template("app:2") });
		expect(model.sequence()).toBe(expected);
	});

	test("with Recreate ends the old Pods before it makes the first new one", () => {
		const model = new RolloutModel(deployment({ replicas: 3, strategy: { type: "Recreate" } }));
		model.complete();
		model.change({ template: template("app:2") });
		expect(model.sequence()).toBe("old 0 → new 3");
	});

	test("that is turned round goes back the way it came", () => {
		const model = completed(4, "25%", "25%");
		model.change({ template: template("app:2") });
		model.sync();
		model.change({ template: template("app:1") });
		expect(model.sequence()).toBe("new 4 → old 0");
	});

	test("never leaves the bounds of surge and unavailability, and always ends", () => {
		const sizes = fc.record({
			replicas: fc.integer({ min: 0, max: 20 }),
			surge: fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constantFrom("0%", "25%", "100%")),
			unavailable: fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constantFrom("0%", "25%", "100%")),
			images: fc.array(fc.constantFrom("app:1", "app:2", "app:3"), { minLength: 1, maxLength: 6 }),
		});
		const property = fc.property(sizes, ({ replicas, surge, unavailable, images }) => {
			const model = completed(replicas, surge, unavailable);
			const { maxSurge, maxUnavailable } = rollingNumbers(model.deployment);
			for (const image of images) {
				model.change({ template: template(image) });
				for (let i = 0; i < 2; i++) {
					model.sync();
					const { new: newSize, old } = model.sizes();
					const available = model.sets.reduce((total, { status }) => total + (status?.availableReplicas ?? 0), 0);
					expect(newSize + old).toBeLessThanOrEqual(replicas + maxSurge);
					expect(available).toBeGreaterThanOrEqual(replicas - maxUnavailable);
				}
			}
			model.complete();
			expect(model.sizes()).toEqual({ new: replicas, old: 0 });
		});
		fc.assert(property);
	});
});

describe("scaling during a rollout", () => {
	/** Sizes of the new and the old ReplicaSet after one sync at the new scale. */
	function scaled(from: number, to: number): { readonly new: number; readonly old: number } {
		const model = completed(from, "25%", "25%");
		model.change({ template: template("app:2") });
		model.sync();
		model.sync();
		model.change({ replicas: to });
		model.sync();
		return model.sizes();
	}

	test("shares what is added in proportion to the sizes", () => {
		// new 5 + old 8 of 13 for 10; 25 for 20: 5·25/13 and 8·25/13, rounded.
		expect(scaled(10, 20)).toEqual({ new: 10, old: 15 });
	});

	test("shares what is taken, too", () => {
		// 7 for 5, of which the larger gives first.
		expect(scaled(10, 5)).toEqual({ new: 3, old: 4 });
	});

	test("takes everything at once when nothing is wanted any more", () => {
		expect(scaled(10, 0)).toEqual({ new: 0, old: 0 });
	});

	test("is noted on every ReplicaSet, also on one that keeps its size, so that the rollout goes on", () => {
		const model = completed(10, "25%", "25%");
		model.change({ template: template("app:2") });
		model.sync();
		model.change({ replicas: 11 });
		model.complete();
		expect(model.sizes()).toEqual({ new: 11, old: 0 });
	});

	test("sets the only ReplicaSet that has Pods to the new size, whether it is new or old", () => {
		const model = completed(3, 0, 1);
		model.change({ template: template("app:2") });
		model.sync();
		expect(model.sizes()).toEqual({ new: 0, old: 2 });
		model.change({ replicas: 5 });
		model.sync();
		expect(model.sizes()).toEqual({ new: 0, old: 5 });
	});

	test("gives up the old Pods when the new ReplicaSet has all that it wants", () => {
		const model = completed(4, "25%", "25%");
		model.change({ template: template("app:2") });
		while (model.sizes().new < 4) {
			model.sync();
			model.makeAvailable();
		}
		expect(model.sizes()).toEqual({ new: 4, old: 1 });
		// As if the old one had been sized for another number.
		const { oldSets } = generationsOf(model.deployment, model.sets);
		const annotations = { "deployment.kubernetes.io/desired-replicas": "9" };
		model.sets = model.sets.map((set) =>
			oldSets.includes(set) ? { ...set, metadata: { ...set.metadata, annotations } } : set,
		);
		model.sync();
		expect(model.sizes()).toEqual({ new: 4, old: 0 });
	});
});
