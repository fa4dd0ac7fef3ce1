import { describe, expect, test } from "vitest";
import type { Lease } from "../../api/types/coordination.ts";
import type { Node, Pod, Taint, Toleration } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import { BORN, meta, node, pod } from "../../testing/builders.ts";
import { disruptedStatus, evictionOf } from "./eviction.ts";
import { nextProbe, silentConditions, unreadyStatus } from "./node-health.ts";
import { wantedTaints } from "./node-taints.ts";
import { planPodGarbage } from "./pod-garbage.ts";

const BORN_MS = Date.parse(BORN);
const NOW_MS = BORN_MS + 60_000;
const NOW = "2026-01-01T00:01:00Z";

function nodeWith(conditions: readonly Condition[], spec: NonNullable<Node["spec"]> = {}): Node {
	return { ...node("n1"), spec, status: { conditions } };
}

const ready = (status: Condition["status"]): Condition => ({ type: "Ready", status });

describe("signs of life", () => {
	const lease = (renewTime: string): Lease => ({
		apiVersion: "coordination.k8s.io/v1",
		kind: "Lease",
		metadata: meta("n1"),
		spec: { renewTime },
	});
	const beat = (lastHeartbeatTime: string): Node => nodeWith([{ ...ready("True"), lastHeartbeatTime }]);
	const first = nextProbe(undefined, beat(BORN), lease("a"), 1_000);

	test.each([
		["the same again is none", beat(BORN), lease("a"), 1_000],
		["a renewed Lease is one", beat(BORN), lease("b"), 2_000],
		["a newer heartbeat is one", beat(NOW), lease("a"), 2_000],
		["an older heartbeat is none", beat("2025-01-01T00:00:00Z"), lease("a"), 1_000],
	])("%s", (_, now, held, seenMs) => {
		expect(nextProbe(first, now, held, 2_000).seenMs).toBe(seenMs);
	});
});

describe("a node that fell silent", () => {
	test("is unknown in each condition, since now", () => {
		const conditions = silentConditions(nodeWith([{ ...ready("True"), reason: "KubeletReady" }]), NOW_MS);
		expect(conditions?.[0]).toEqual({
			type: "Ready",
			status: "Unknown",
			reason: "NodeStatusUnknown",
			message: "Kubelet stopped posting node status.",
			lastTransitionTime: NOW,
		});
		expect(conditions?.slice(1).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
			"MemoryPressure NodeStatusNeverUpdated",
			"DiskPressure NodeStatusNeverUpdated",
			"PIDPressure NodeStatusNeverUpdated",
		]);
	});

	test("is told once, and conditions of others are not touched", () => {
		const own: Condition = { type: "example.com/ok", status: "True" };
		const told = silentConditions(nodeWith([ready("False"), own]), NOW_MS) ?? [];
		expect(told).toContain(own);
		expect(silentConditions(nodeWith(told), NOW_MS + 1_000)).toBeUndefined();
	});

	test("makes its Pods not ready, once", () => {
		const status = unreadyStatus(pod("web"), NOW_MS);
		expect(status?.conditions).toEqual([{ type: "Ready", status: "False", lastTransitionTime: NOW }]);
		expect(unreadyStatus(pod("web", { isReady: false }), NOW_MS)).toBeUndefined();
	});
});

describe("taints", () => {
	const texts = (taints: readonly Taint[] | undefined): string =>
		(taints ?? []).map(({ key, effect }) => `${key}:${effect}`).join(" ");
	const Ns = "node.kubernetes.io";
	test.each<{ rule: string; node: Node; taints: string }>([
		{ rule: "none on a node that is ready", node: nodeWith([ready("True")]), taints: "" },
		{
			rule: "not ready",
			node: nodeWith([ready("False")]),
			taints: `${Ns}/not-ready:NoSchedule ${Ns}/not-ready:NoExecute`,
		},
		{
			rule: "unreachable",
			node: nodeWith([ready("Unknown")]),
			taints: `${Ns}/unreachable:NoSchedule ${Ns}/unreachable:NoExecute`,
		},
		{
			rule: "pressure keeps new Pods away",
			node: nodeWith([ready("True"), { type: "DiskPressure", status: "True" }]),
			taints: `${Ns}/disk-pressure:NoSchedule`,
		},
		{
			rule: "so does a cordon",
			node: nodeWith([ready("True")], { unschedulable: true }),
			taints: `${Ns}/unschedulable:NoSchedule`,
		},
		{
			rule: "others' stay",
			node: nodeWith([ready("True")], {
				taints: [
					{ key: "a", effect: "NoExecute" },
					{ key: `${Ns}/not-ready`, effect: "NoExecute" },
				],
			}),
			taints: "a:NoExecute",
		},
	])("$rule", ({ node: of, taints }) => {
		expect(texts(wantedTaints(of, { evicts: true, nowMs: NOW_MS }))).toBe(taints);
	});

	test("keep the time of their first day", () => {
		const taints = wantedTaints(nodeWith([ready("Unknown")]), { evicts: true, nowMs: NOW_MS }) ?? [];
		expect(taints.map(({ timeAdded }) => timeAdded)).toEqual([NOW, NOW]);
		const later = { evicts: true, nowMs: NOW_MS + 1_000 };
		expect(wantedTaints(nodeWith([ready("Unknown")], { taints }), later)).toBeUndefined();
	});

	test("drive nobody away while no node is ready", () => {
		expect(texts(wantedTaints(nodeWith([ready("Unknown")]), { evicts: false, nowMs: NOW_MS }))).toBe(
			`${Ns}/unreachable:NoSchedule`,
		);
	});
});

describe("eviction", () => {
	const taint = (key: string, timeAdded = NOW): Taint => ({ key, effect: "NoExecute", timeAdded });
	const tolerating = (...tolerations: readonly Toleration[]): Pod => pod("web", { spec: { tolerations } });
	const seconds = (key: string, tolerationSeconds?: number): Toleration => ({
		key,
		operator: "Exists",
		effect: "NoExecute",
		...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
	});
	test.each<{ rule: string; pod: Pod; taints: readonly Taint[]; eviction: object }>([
		{ rule: "no taint, no eviction", pod: tolerating(), taints: [], eviction: { kind: "none" } },
		{ rule: "at once without a toleration", pod: tolerating(), taints: [taint("a")], eviction: { kind: "now" } },
		{
			rule: "never with one without an end",
			pod: tolerating(seconds("a")),
			taints: [taint("a")],
			eviction: { kind: "none" },
		},
		{
			rule: "after the seconds, counted from the taint",
			pod: tolerating(seconds("a", 300)),
			taints: [taint("a")],
			eviction: { kind: "later", atMs: NOW_MS + 300_000 },
		},
		{
			rule: "after the shortest of several",
			pod: tolerating(seconds("a", 300), seconds("b", 20)),
			taints: [taint("a"), taint("b")],
			eviction: { kind: "later", atMs: NOW_MS + 20_000 },
		},
		{
			rule: "one taint that is not tolerated is enough",
			pod: tolerating(seconds("a")),
			taints: [taint("a"), taint("b")],
			eviction: { kind: "now" },
		},
		{
			rule: "the time is over",
			pod: tolerating(seconds("a", 10)),
			taints: [taint("a", BORN)],
			eviction: { kind: "now" },
		},
		{
			rule: "a Pod that goes already is left alone",
			pod: pod("web", { isTerminating: true }),
			taints: [taint("a")],
			eviction: { kind: "none" },
		},
	])("$rule", ({ pod: of, taints, eviction }) => {
		expect(evictionOf(of, nodeWith([], { taints }), NOW_MS)).toEqual(eviction);
	});

	test("is told in a condition", () => {
		const why = { reason: "DeletionByTaintManager", message: "m" };
		expect(disruptedStatus(pod("web"), why, NOW_MS).conditions?.at(-1)).toMatchObject({
			type: "DisruptionTarget",
			status: "True",
			...why,
			lastTransitionTime: NOW,
		});
	});
});

describe("garbage among Pods", () => {
	const garbage = (pods: readonly Pod[], endedMax = 100) => {
		const names = (list: readonly Pod[]): readonly string[] => list.map(({ metadata }) => metadata.name);
		const outOfService = nodeWith([ready("Unknown")], {
			taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }],
		});
		const nodes: Readonly<Record<string, Node>> = { n1: node("n1"), broken: outOfService };
		const planned = planPodGarbage({
			pods,
			node: (name) => nodes[name],
			isGone: (name) => name === "gone",
			endedMax,
		});
		return { orphaned: names(planned.orphaned), removed: names(planned.removed) };
	};
	const ended = (name: string, creationTimestamp: string): Pod =>
		pod(name, { status: { phase: "Succeeded" }, metadata: { creationTimestamp } });

	test("are those of nodes that are gone", () => {
		expect(garbage([pod("a"), pod("b", { node: "gone" }), pod("c", { node: "absent" })])).toEqual({
			orphaned: ["b"],
			removed: [],
		});
	});

	test("are those being deleted that no kubelet finishes", () => {
		const going = (name: string, on: string): Pod => pod(name, { node: on, isTerminating: true });
		expect(garbage([going("a", ""), going("b", "n1"), going("c", "broken"), pod("d", { node: "broken" })])).toEqual({
			orphaned: [],
			removed: ["a", "c"],
		});
	});

	test("are the oldest of too many that have ended", () => {
		const pods = [
			ended("new", "2026-01-03T00:00:00Z"),
			ended("old", "2026-01-01T00:00:00Z"),
			ended("mid", "2026-01-02T00:00:00Z"),
		];
		expect(garbage([...pods, pod("runs")], 1).removed).toEqual(["old", "mid"]);
		expect(garbage(pods, 3).removed).toEqual([]);
	});
});
