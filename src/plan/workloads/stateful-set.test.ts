import { describe, expect, test } from "vitest";
import type { ControllerRevision, StatefulSet } from "../../api/types/apps.ts";
import type { Pod } from "../../api/types/core.ts";
import type { Draft } from "../../api/types/meta.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { BORN, meta, type PodTraits, pod } from "../../testing/builders.ts";
import { planStatefulSet, type StatefulSetPlan } from "./stateful-set.ts";

type Spec = StatefulSet["spec"];

const NOW_MS = Date.parse(BORN) + 60_000;

function statefulSet(spec: Partial<Spec> = {}, parts: Partial<StatefulSet> = {}): StatefulSet {
	return deepFreeze({
		apiVersion: "apps/v1",
		kind: "StatefulSet",
		metadata: meta("web", { generation: 1 }),
		spec: {
			replicas: 3,
			selector: { matchLabels: { app: "web" } },
			template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "c:1" }] } },
			serviceName: "svc",
			podManagementPolicy: "OrderedReady",
			updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
			...spec,
		},
		...parts,
	});
}

/** A revision as the API would have stored it. */
function storedRevision(draft: Draft<ControllerRevision>): ControllerRevision {
	const { name = "" } = draft.metadata;
	return {
		...draft,
		apiVersion: "apps/v1",
		kind: "ControllerRevision",
		metadata: { ...meta(name), ...draft.metadata, name },
	};
}

function firstRevision(set: StatefulSet): ControllerRevision {
	const { revision } = planStatefulSet({ set, pods: [], revisions: [], nowMs: NOW_MS });
	if (revision.kind !== "create") throw new Error("no revision is made");
	return storedRevision(revision.draft);
}

const image = (tag: string): Pick<Spec, "template"> => ({
	template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: `c:${tag}` }] } },
});

const OLD = firstRevision(statefulSet());
const NEW = { ...firstRevision(statefulSet(image("2"))), revision: 2 };

/** `0`: healthy; `0-`: not ready; `0x`: terminating; `0!`: failed; a trailing `*`: of the new revision. */
function member(text: string): Pod {
	const [, digits = "", flags = ""] = /^(\d+)(.*)$/.exec(text) ?? [];
	const revision = flags.includes("*") ? NEW : OLD;
	const name = `web-${digits}`;
	const traits: PodTraits = {
		isReady: !/[-!]/.test(flags),
		isTerminating: flags.includes("x"),
		labels: {
			app: "web",
			"controller-revision-hash": revision.metadata.name,
			"statefulset.kubernetes.io/pod-name": name,
			"apps.kubernetes.io/pod-index": digits,
		},
		metadata: {
			ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "uid-web", controller: true }],
		},
		...(flags.includes("!") ? { status: { phase: "Failed" } } : {}),
	};
	return pod(name, traits);
}

const members = (text: string): readonly Pod[] =>
	text
		.split(" ")
		.filter((word) => word !== "")
		.map(member);

/** `create web-1@old; delete web-2`. */
function text({ creates, deletes }: StatefulSetPlan): string {
	const revisionOf = (name: string | undefined): string => (name === NEW.metadata.name ? "new" : "old");
	return [
		...creates.map(
			({ metadata }) => `create ${metadata.name}@${revisionOf(metadata.labels?.["controller-revision-hash"])}`,
		),
		...deletes.map(({ metadata }) => `delete ${metadata.name}`),
	].join("; ");
}

const CURRENT = { status: { currentRevision: OLD.metadata.name } };

interface Row {
	readonly rule: string;
	readonly spec?: Partial<Spec>;
	readonly pods: string;
	readonly plan: string;
}

describe("in order", () => {
	test.each<Row>([
		{ rule: "the first pod first", pods: "", plan: "create web-0@old" },
		{ rule: "the next waits until it is ready", pods: "0-", plan: "" },
		{ rule: "then comes the next", pods: "0", plan: "create web-1@old" },
		{ rule: "a gap is filled first", pods: "0 2", plan: "create web-1@old" },
		{ rule: "a failed pod is deleted, and nothing else", pods: "0 1! 3", plan: "delete web-1" },
		{ rule: "an old pod of the name must be gone first", pods: "0 1x", plan: "" },
		{ rule: "nothing to do", pods: "0 1 2", plan: "" },
		{ rule: "the highest goes first", pods: "0 1 2 3 4", plan: "delete web-4" },
		{ rule: "the next waits until it is gone", pods: "0 1 2 3 4x", plan: "" },
		{ rule: "nobody goes while a pod is not ready", pods: "0 1- 2 3", plan: "" },
		{ rule: "one that is not ready goes if it is the only one", pods: "0 1 2 3-", plan: "delete web-3" },
		{ rule: "the lower of two that are not ready holds the higher", pods: "0 1 2 3- 4-", plan: "" },
		{ rule: "scaled to nothing, from the top", spec: { replicas: 0 }, pods: "0 1", plan: "delete web-1" },
		{
			rule: "numbers may start elsewhere",
			spec: { ordinals: { start: 5 }, replicas: 2 },
			pods: "5",
			plan: "create web-6@old",
		},
		{
			rule: "numbers before the start are not wanted",
			spec: { ordinals: { start: 1 }, replicas: 1 },
			pods: "0 1",
			plan: "delete web-0",
		},
		{
			rule: "a pod that was not ready for long enough is waited for",
			spec: { minReadySeconds: 120 },
			pods: "0",
			plan: "",
		},
	])("$rule", ({ spec, pods, plan }) => {
		const world = { set: statefulSet(spec, CURRENT), pods: members(pods), revisions: [OLD], nowMs: NOW_MS };
		expect(text(planStatefulSet(world))).toBe(plan);
	});
});

describe("a new template", () => {
	const partition = (n: number): Partial<Spec> => ({
		updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: n } },
	});
	test.each<Row>([
		{ rule: "replaces the last pod", pods: "0 1 2", plan: "delete web-2" },
		{ rule: "waits until the old one is gone", pods: "0 1 2x", plan: "" },
		{ rule: "makes it again, of the new template", pods: "0 1", plan: "create web-2@new" },
		{ rule: "waits until it is ready", pods: "0 1 2*-", plan: "" },
		{ rule: "goes on with the one before it", pods: "0 1 2*", plan: "delete web-1" },
		{ rule: "is done", pods: "0* 1* 2*", plan: "" },
		{ rule: "stops at the partition", spec: partition(2), pods: "0 1 2*", plan: "" },
		{
			rule: "makes what is below the partition of the old one",
			spec: partition(2),
			pods: "1 2*",
			plan: "create web-0@old",
		},
		{ rule: "waits for hands with OnDelete", spec: { updateStrategy: { type: "OnDelete" } }, pods: "0 1 2", plan: "" },
		{ rule: "comes with hands", spec: { updateStrategy: { type: "OnDelete" } }, pods: "0 2", plan: "create web-1@new" },
		{ rule: "comes after scaling", pods: "0 1 2 3", plan: "delete web-3" },
		{
			rule: "counts the partition from the first number",
			spec: { ...partition(1), ordinals: { start: 4 }, replicas: 2 },
			pods: "5*",
			plan: "create web-4@old",
		},
	])("$rule", ({ spec, pods, plan }) => {
		const set = statefulSet({ ...image("2"), ...spec }, CURRENT);
		expect(text(planStatefulSet({ set, pods: members(pods), revisions: [OLD, NEW], nowMs: NOW_MS }))).toBe(plan);
	});
});

describe("in parallel", () => {
	test.each<Row>([
		{ rule: "all at once", pods: "1-", plan: "create web-0@old; create web-2@old" },
		{ rule: "all that is too much at once", pods: "0 1 2 3 4", plan: "delete web-4; delete web-3" },
		{ rule: "failed ones too", pods: "0! 1 2", plan: "delete web-0" },
		{ rule: "never a second pod of a name", pods: "0x 1 2", plan: "" },
	])("$rule", ({ pods, plan }) => {
		const set = statefulSet({ podManagementPolicy: "Parallel" }, CURRENT);
		expect(text(planStatefulSet({ set, pods: members(pods), revisions: [OLD], nowMs: NOW_MS }))).toBe(plan);
	});

	test("but replaced one by one", () => {
		const set = statefulSet({ podManagementPolicy: "Parallel", ...image("2") }, CURRENT);
		const plan = (pods: string): string =>
			text(planStatefulSet({ set, pods: members(pods), revisions: [OLD, NEW], nowMs: NOW_MS }));
		expect([plan("0 1 2"), plan("0 1 2x"), plan("0 1 2*-"), plan("0 1 2*")]).toEqual([
			"delete web-2",
			"",
			"",
			"delete web-1",
		]);
	});
});

describe("revisions", () => {
	test("the name is the set's and a hash, and the template can be read back", () => {
		expect(OLD.metadata.name).toMatch(/^web-[456789bcdf]{6,10}$/);
		expect(OLD.metadata.labels).toMatchObject({
			app: "web",
			"controller.kubernetes.io/hash": OLD.metadata.name.slice(4),
		});
		expect(OLD).toMatchObject({ revision: 1, data: { spec: { template: { $patch: "replace" } } } });
	});

	test("an old template that is wanted again gets the next number", () => {
		const plan = planStatefulSet({ set: statefulSet({}, CURRENT), pods: [], revisions: [OLD, NEW], nowMs: NOW_MS });
		expect(plan.revision).toMatchObject({ kind: "renumber", next: { metadata: OLD.metadata, revision: 3 } });
	});

	test("a collision makes another name", () => {
		const other = firstRevision(statefulSet({}, { status: { collisionCount: 1 } }));
		expect(other.metadata.name).not.toBe(OLD.metadata.name);
	});

	test("beyond the limit the oldest that nothing uses go", () => {
		const spare = [1, 2, 3].map((n) => ({ ...OLD, data: { n }, revision: n, metadata: meta(`web-${n}`) }));
		const set = statefulSet({ revisionHistoryLimit: 1 }, CURRENT);
		const plan = planStatefulSet({ set, pods: [], revisions: [...spare, { ...OLD, revision: 9 }], nowMs: NOW_MS });
		expect(plan.outdated.map(({ metadata }) => metadata.name)).toEqual(["web-1", "web-2"]);
	});
});

describe("status", () => {
	const statusOf = (pods: string, parts: Partial<StatefulSet> = CURRENT) =>
		planStatefulSet({ set: statefulSet(image("2"), parts), pods: members(pods), revisions: [OLD, NEW], nowMs: NOW_MS })
			.status;

	test("counts old and new, ready and available", () => {
		expect(statusOf("0 1- 2*")).toEqual({
			observedGeneration: 1,
			replicas: 3,
			readyReplicas: 2,
			currentReplicas: 2,
			updatedReplicas: 1,
			currentRevision: OLD.metadata.name,
			updateRevision: NEW.metadata.name,
			collisionCount: 0,
			availableReplicas: 2,
		});
	});

	test("when everything is new and ready, the update is the current state", () => {
		expect(statusOf("0* 1* 2*")).toMatchObject({ currentReplicas: 3, currentRevision: NEW.metadata.name });
	});

	test("is not written when it is right", () => {
		const status = statusOf("0 1 2");
		expect(status).toBeDefined();
		expect(statusOf("0 1 2", { status: status ?? {} })).toBeUndefined();
	});

	test("becomes right by time alone", () => {
		const set = statefulSet({ minReadySeconds: 90 }, CURRENT);
		expect(planStatefulSet({ set, pods: members("0"), revisions: [OLD], nowMs: NOW_MS }).recheckAfterMs).toBe(30_000);
	});
});

test("a set that is being deleted does nothing but report", () => {
	const set = statefulSet({}, { ...CURRENT, metadata: meta("web", { deletionTimestamp: BORN }) });
	const plan = planStatefulSet({ set, pods: members("0"), revisions: [OLD], nowMs: NOW_MS });
	expect(text(plan)).toBe("");
	expect(plan.status).toMatchObject({ replicas: 1 });
});

test("a pod gets its name as host name, the Service as domain, and claims of its own", () => {
	const set = statefulSet({ volumeClaimTemplates: [{ metadata: { name: "data" } }] });
	const [made] = planStatefulSet({ set, pods: [], revisions: [OLD], nowMs: NOW_MS }).creates;
	expect(made).toMatchObject({
		metadata: {
			name: "web-0",
			labels: { "statefulset.kubernetes.io/pod-name": "web-0", "apps.kubernetes.io/pod-index": "0" },
			ownerReferences: [{ kind: "StatefulSet", uid: "uid-web", controller: true, blockOwnerDeletion: true }],
		},
		spec: {
			hostname: "web-0",
			subdomain: "svc",
			volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-web-0" } }],
		},
	});
});

test("a pod that was taken over gets the label of its name, once it is ready", () => {
	const stray = (isReady: boolean): Pod => pod("web-0", { labels: { app: "web" }, isReady });
	const relabels = (isReady: boolean) =>
		planStatefulSet({ set: statefulSet({}, CURRENT), pods: [stray(isReady)], revisions: [OLD], nowMs: NOW_MS })
			.relabels;
	expect(relabels(true).map(({ labels }) => labels)).toEqual([{ "statefulset.kubernetes.io/pod-name": "web-0" }]);
	expect(relabels(false)).toEqual([]);
});

test("names that only look like the set's are none of it", () => {
	const strange = ["web-x", "web-01", "db-0", "web-99999999999"].map((name) => pod(name));
	const plan = planStatefulSet({ set: statefulSet({}, CURRENT), pods: strange, revisions: [OLD], nowMs: NOW_MS });
	expect(plan.deletes).toEqual([]);
	expect(plan.status).toMatchObject({ replicas: 0 });
});
