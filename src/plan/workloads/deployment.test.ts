import { describe, expect, test } from "vitest";
import type { ReplicaSet } from "../../api/types/apps.ts";
import type { Condition } from "../../api/types/meta.ts";
import { RolloutModel } from "../../testing/rollout-model.ts";
import { deployment, storedSet, template } from "../../testing/workloads.ts";
import { generationsOf, newReplicaSet, safeEncoded, templateHash } from "./deployment-replica-sets.ts";
import { rollingNumbers } from "./rolling-numbers.ts";

const REVISION = "deployment.kubernetes.io/revision";
const HISTORY = "deployment.kubernetes.io/revision-history";
const DESIRED = "deployment.kubernetes.io/desired-replicas";
const MAX = "deployment.kubernetes.io/max-replicas";

function completed(spec: Parameters<typeof deployment>[0] = {}): RolloutModel {
	const model = new RolloutModel(deployment({ replicas: 4, ...spec }));
	model.complete();
	return model;
}

function rollOut(model: RolloutModel, ...images: readonly string[]): void {
	for (const image of images) {
		model.change({ template: template(image) });
		model.complete();
	}
}

/** Image and revision of every ReplicaSet, oldest first: `app:1=3`. */
function revisions({ sets }: RolloutModel): readonly string[] {
	return sets.map(
		({ spec, metadata }) => `${spec.template?.spec.containers[0]?.image}=${metadata.annotations?.[REVISION]}`,
	);
}

describe("the hash of a template", () => {
	test("is made of the ten characters that stand for digits", () => {
		expect(safeEncoded(2_891_027_163)).toBe("6df546c5b7");
		expect(safeEncoded(1_234_567_890)).toBe("56789bcdf4");
	});

	test("does not depend on the order of keys, nor on a hash that is there already", () => {
		const { metadata, spec } = template();
		const labels = { "pod-template-hash": "x", ...metadata?.labels };
		const other = { spec, metadata: { labels } };
		expect(templateHash(deployment({ template: other }))).toBe(templateHash(deployment()));
	});

	test("is another one for another template, and after a collision", () => {
		const hashes = [
			deployment(),
			deployment({ template: template("app:2") }),
			deployment({}, { status: { collisionCount: 1 } }),
			deployment({}, { status: { collisionCount: 2 } }),
		].map(templateHash);
		expect(new Set(hashes).size).toBe(4);
	});
});

describe("a new ReplicaSet", () => {
	const made = newReplicaSet(
		deployment({ replicas: 4, minReadySeconds: 5 }, { metadata: { annotations: { team: "a", [REVISION]: "7" } } }),
		rollingNumbers(deployment({ replicas: 4 })),
		{ size: 1, revision: 3 },
	);
	const hash = templateHash(deployment());

	test("is called after the Deployment and the hash, which is also its and its Pods' label", () => {
		expect(made.metadata.name).toBe(`web-${hash}`);
		const labels = { app: "web", "pod-template-hash": hash };
		expect(made.metadata.labels).toEqual(labels);
		expect(made.spec.selector.matchLabels).toEqual(labels);
		expect(made.spec.template?.metadata?.labels).toEqual(labels);
		expect(made.spec).toMatchObject({ replicas: 1, minReadySeconds: 5 });
	});

	test("belongs to the Deployment, which waits for it", () => {
		expect(made.metadata.ownerReferences).toEqual([
			{
				apiVersion: "apps/v1",
				kind: "Deployment",
				name: "web",
				uid: "uid-web",
				controller: true,
				blockOwnerDeletion: true,
			},
		]);
	});

	test("takes the Deployment's annotations over, but for those with a meaning of their own", () => {
		expect(made.metadata.annotations).toEqual({ team: "a", [REVISION]: "3", [DESIRED]: "4", [MAX]: "5" });
	});

	test("has a name that fits, however long the Deployment's is", () => {
		const long = deployment({}, { metadata: { name: "w".repeat(253) } });
		const { name = "" } = newReplicaSet(long, rollingNumbers(long), { size: 1, revision: 1 }).metadata;
		expect(name).toHaveLength(253);
		expect(name.endsWith(`-${hash}`)).toBe(true);
	});
});

describe("revisions", () => {
	test("count up with every template, and the Deployment carries the newest", () => {
		const model = completed();
		rollOut(model, "app:2", "app:3");
		expect(revisions(model)).toEqual(["app:1=1", "app:2=2", "app:3=3"]);
		expect(model.deployment.metadata.annotations?.[REVISION]).toBe("3");
	});

	test("of a template that comes back is a new one, and the old one is its history", () => {
		const model = completed();
		rollOut(model, "app:2", "app:1", "app:2", "app:1");
		expect(revisions(model)).toEqual(["app:1=5", "app:2=4"]);
		expect(model.sets.map(({ metadata }) => metadata.annotations?.[HISTORY])).toEqual(["1,3", "2"]);
	});

	test("of long ago leave the history when it gets longer than 2000 characters", () => {
		const model = completed();
		rollOut(model, "app:2");
		const history = Array.from({ length: 400 }, (_, i) => 1000 + i).join(",");
		model.sets = model.sets.map((set) => ({
			...set,
			metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, [HISTORY]: history } },
		}));
		rollOut(model, "app:1");
		const kept = model.sets[0]?.metadata.annotations?.[HISTORY] ?? "";
		expect(kept.length).toBeLessThanOrEqual(2000);
		expect(kept.startsWith("1001,")).toBe(true);
		expect(kept.endsWith(",1399,1")).toBe(true);
	});

	test("beyond the limit lose their ReplicaSets, the lowest first", () => {
		const model = completed({ revisionHistoryLimit: 2 });
		rollOut(model, "app:2", "app:3", "app:4", "app:5");
		expect(revisions(model)).toEqual(["app:3=3", "app:4=4", "app:5=5"]);
	});

	test("beyond the limit stay while the rollout is not complete", () => {
		const model = completed({ revisionHistoryLimit: 0 });
		model.change({ template: template("app:2") });
		for (let i = 0; i < 5; i++) model.sync();
		expect(revisions(model)).toEqual(["app:1=1", "app:2=2"]);
	});

	test("beyond the limit stay as long as their ReplicaSet has not seen that it is to be empty", () => {
		const model = completed({ revisionHistoryLimit: 0 });
		const seen = (observedGeneration: number): void => {
			model.sets = model.sets.map((set, index) =>
				index > 0
					? set
					: { ...set, metadata: { ...set.metadata, generation: 2 }, status: { ...set.status, observedGeneration } },
			);
		};
		seen(1);
		rollOut(model, "app:2");
		expect(revisions(model)).toEqual(["app:1=1", "app:2=2"]);
		seen(2);
		model.complete();
		expect(revisions(model)).toEqual(["app:2=2"]);
	});
});

describe("the new ReplicaSet that is there", () => {
	test("follows the Deployment's annotations and minReadySeconds without being scaled", () => {
		const model = completed();
		model.change({ minReadySeconds: 3 });
		model.deployment = {
			...model.deployment,
			metadata: { ...model.deployment.metadata, annotations: { ...model.deployment.metadata.annotations, team: "b" } },
		};
		const { updates } = model.sync();
		expect(updates.map(({ from, to }) => [from, to])).toEqual([[4, 4]]);
		expect(model.sets[0]).toMatchObject({ metadata: { annotations: { team: "b" } }, spec: { minReadySeconds: 3 } });
	});

	test("is the oldest one of its template, and the first by name of those of one age", () => {
		const draft = newReplicaSet(deployment(), rollingNumbers(deployment()), { size: 1, revision: 1 });
		const named = (name: string, seconds: number): ReplicaSet =>
			storedSet({ ...draft, metadata: { ...draft.metadata, name } }, seconds);
		const sets = [named("a", 9), named("c", 1), named("b", 1), named("d", 2)];
		const { newSet, oldSets } = generationsOf(deployment(), sets);
		expect([newSet, ...oldSets].map((set) => set?.metadata.name)).toEqual(["b", "c", "d", "a"]);
	});
});

describe("a Deployment", () => {
	test("that is paused is scaled, but not rolled out", () => {
		const model = completed({ paused: false });
		model.change({ paused: true, template: template("app:2"), replicas: 6 });
		model.complete();
		expect(model.sizes()).toEqual({ new: 0, old: 6 });
		model.change({ paused: false });
		model.complete();
		expect(model.sizes()).toEqual({ new: 6, old: 0 });
	});

	test("that was never rolled out before it was paused makes nothing", () => {
		const model = new RolloutModel(deployment({ paused: true }));
		model.complete();
		expect(model.sets).toEqual([]);
	});

	test("that is being deleted reports, and does nothing else", () => {
		const model = completed();
		model.change({ template: template("app:2"), replicas: 9 });
		model.deployment = {
			...model.deployment,
			metadata: { ...model.deployment.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
		};
		const plan = model.sync();
		expect([plan.create, plan.updates, plan.deletes]).toEqual([undefined, [], []]);
		expect(model.deployment.status?.observedGeneration).toBe(2);
	});

	test("has nothing to do once it is at rest", () => {
		const model = completed();
		const plan = model.sync();
		expect(plan).toEqual({ create: undefined, updates: [], deletes: [], next: undefined, recheckAfterMs: undefined });
	});
});

/** `Progressing True NewReplicaSetAvailable` and so on, in the order in which they are listed. */
function shown(conditions: readonly Condition[] = []): readonly string[] {
	return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

describe("the status of a Deployment", () => {
	test("counts its ReplicaSets", () => {
		const model = completed();
		model.change({ template: template("app:2") });
		for (let i = 0; i < 3; i++) model.sync();
		expect(model.deployment.status).toMatchObject({
			observedGeneration: 2,
			replicas: 5,
			updatedReplicas: 2,
			readyReplicas: 3,
			availableReplicas: 3,
			unavailableReplicas: 2,
			terminatingReplicas: 0,
		});
	});

	test("leaves out what is 0, and terminatingReplicas as long as a ReplicaSet has not told", () => {
		const model = new RolloutModel(deployment({ replicas: 2 }));
		model.sync();
		expect(model.deployment.status).toMatchObject({ observedGeneration: 1, unavailableReplicas: 2 });
		expect(Object.keys(model.deployment.status ?? {})).toEqual([
			"observedGeneration",
			"unavailableReplicas",
			"conditions",
		]);
	});

	test("tells a rollout from its start to its end", () => {
		const model = new RolloutModel(deployment({ replicas: 4 }));
		model.sync();
		expect(shown(model.deployment.status?.conditions)).toEqual([
			"Progressing True NewReplicaSetCreated",
			"Available False MinimumReplicasUnavailable",
		]);
		model.sets = model.sets.map((set) => ({ ...set, status: { ...set.status, replicas: 4 } }));
		model.sync();
		expect(shown(model.deployment.status?.conditions)[1]).toBe("Progressing True ReplicaSetUpdated");
		model.makeAvailable();
		model.sync();
		expect(shown(model.deployment.status?.conditions)).toEqual([
			"Available True MinimumReplicasAvailable",
			"Progressing True NewReplicaSetAvailable",
		]);
	});

	test("words its conditions as upstream does", () => {
		const model = new RolloutModel(deployment());
		const texts = new Set<string>();
		const note = (): void => {
			for (const { message } of model.deployment.status?.conditions ?? []) texts.add(message ?? "");
		};
		model.sync();
		note();
		const name = model.sets[0]?.metadata.name;
		model.makeAvailable();
		model.sync();
		note();
		expect([...texts]).toEqual([
			`Created new replica set "${name}"`,
			"Deployment does not have minimum availability.",
			"Deployment has minimum availability.",
			`ReplicaSet "${name}" has successfully progressed.`,
		]);
	});

	test("stays complete while a complete Deployment is scaled", () => {
		const model = completed();
		const before = model.deployment.status?.conditions?.find(({ type }) => type === "Progressing");
		model.nowMs += 60_000;
		model.change({ replicas: 8 });
		for (let i = 0; i < 4; i++) {
			model.sync();
			model.makeAvailable();
		}
		expect(model.deployment.status?.conditions?.find(({ type }) => type === "Progressing")).toBe(before);
	});

	test("moves lastTransitionTime only when the status of a condition changes", () => {
		const model = new RolloutModel(deployment());
		model.sync();
		model.nowMs += 5_000;
		model.makeAvailable();
		model.sync();
		const [available, progressing] = model.deployment.status?.conditions ?? [];
		expect(available).toMatchObject({
			lastTransitionTime: "2026-01-01T00:00:05Z",
			lastUpdateTime: "2026-01-01T00:00:05Z",
		});
		expect(progressing).toMatchObject({
			lastTransitionTime: "2026-01-01T00:00:00Z",
			lastUpdateTime: "2026-01-01T00:00:05Z",
		});
	});

	test("counts a Deployment as available when no more than maxUnavailable is missing", () => {
		const model = completed();
		const available = (availableReplicas: number): string => {
			model.sets = model.sets.map((set) => ({ ...set, status: { ...set.status, availableReplicas } }));
			model.sync();
			return shown(model.deployment.status?.conditions).find((text) => text.startsWith("Available")) ?? "";
		};
		expect(available(3)).toBe("Available True MinimumReplicasAvailable");
		expect(available(2)).toBe("Available False MinimumReplicasUnavailable");
	});

	test("takes over why a ReplicaSet cannot make Pods, and drops it when it can", () => {
		const model = completed();
		const lastTransitionTime = "2026-01-01T00:00:09Z";
		const failure = {
			type: "ReplicaFailure",
			status: "True",
			reason: "FailedCreate",
			message: "no",
			lastTransitionTime,
		} as const;
		const [set] = model.sets;
		if (set === undefined) throw new Error("no ReplicaSet");
		model.sets = [{ ...set, status: { ...set.status, conditions: [failure] } }];
		model.sync();
		expect(model.deployment.status?.conditions?.at(-1)).toEqual({ ...failure, lastUpdateTime: lastTransitionTime });
		model.sets = [set];
		model.sync();
		expect(shown(model.deployment.status?.conditions)).not.toContain("ReplicaFailure True FailedCreate");
	});
});

describe("the progress deadline", () => {
	/** A rollout whose new Pods never become available, `seconds` after its last progress. */
	function stuck(seconds: number): RolloutModel {
		const model = completed({ progressDeadlineSeconds: 60 });
		model.change({ template: template("app:2") });
		for (let i = 0; i < 5; i++) model.sync();
		model.nowMs += seconds * 1000;
		return model;
	}

	test("is waited for, and a second more, since times are whole seconds", () => {
		expect(stuck(20).sync().recheckAfterMs).toBe(41_000);
	});

	test("passes", () => {
		const model = stuck(61);
		expect(model.sync().recheckAfterMs).toBeUndefined();
		const { newName, condition } = {
			newName: model.sets[1]?.metadata.name,
			condition: model.deployment.status?.conditions?.at(-1),
		};
		expect(condition).toMatchObject({
			type: "Progressing",
			status: "False",
			reason: "ProgressDeadlineExceeded",
			message: `ReplicaSet "${newName}" has timed out progressing.`,
		});
	});

	test("does not stop the rollout, which may still end well", () => {
		const model = stuck(61);
		model.sync();
		model.complete();
		expect(shown(model.deployment.status?.conditions)).toContain("Progressing True NewReplicaSetAvailable");
		expect(model.sizes()).toEqual({ new: 4, old: 0 });
	});

	test("of the largest number is none, and nothing is said of progress", () => {
		const model = completed({ progressDeadlineSeconds: 2_147_483_647, revisionHistoryLimit: 0 });
		rollOut(model, "app:2");
		expect(shown(model.deployment.status?.conditions)).toEqual(["Available True MinimumReplicasAvailable"]);
		expect(model.sets).toHaveLength(1);
	});

	test("is not counted while the Deployment is paused, and begins anew when it goes on", () => {
		const model = stuck(30);
		model.change({ paused: true });
		model.sync();
		expect(shown(model.deployment.status?.conditions)).toContain("Progressing Unknown DeploymentPaused");
		model.nowMs += 600_000;
		expect(model.sync().recheckAfterMs).toBeUndefined();
		model.change({ paused: false });
		model.sync();
		expect(shown(model.deployment.status?.conditions)).toContain("Progressing Unknown DeploymentResumed");
		model.nowMs += 61_000;
		model.sync();
		expect(shown(model.deployment.status?.conditions)).toContain("Progressing False ProgressDeadlineExceeded");
	});

	test("that has passed is not hidden by a pause", () => {
		const model = stuck(61);
		model.sync();
		model.change({ paused: true });
		model.sync();
		expect(shown(model.deployment.status?.conditions)).toContain("Progressing False ProgressDeadlineExceeded");
	});
});
