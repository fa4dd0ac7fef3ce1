import { describe, expect, test } from "vitest";
import type { Pod, PodStatus } from "../../api/types/core.ts";
import { pod } from "../../testing/builders.ts";
import type { ContainerRun } from "./container-run.ts";
import { podStatusAt } from "./pod-status.ts";
import type { Stage } from "./stage.ts";

const SEEN_MS = Date.parse("2026-01-01T00:00:00.400Z");
const STARTED_MS = SEEN_MS + 700;
const PLACE = { hostIPs: ["192.168.0.1", "fd00::1"], podIPs: ["10.244.0.2", "fd00:244::2"] };

const STARTING: Stage = { kind: "starting" };
const RUNNING: Stage = { kind: "running", startedMs: STARTED_MS, isReady: false };
const READY: Stage = { ...RUNNING, isReady: true };
const SUCCEEDED: Stage = { kind: "ended", startedMs: STARTED_MS, endedMs: STARTED_MS + 5_000, exitCode: 0 };
const FAILED: Stage = { ...SUCCEEDED, exitCode: 137 };
const NEVER_RAN: Stage = { ...FAILED, startedMs: undefined };

/** A Pod as the binding leaves it. */
function bound(spec: Partial<Pod["spec"]> = {}, status: PodStatus = {}): Pod {
	const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] as const;
	return pod("p", {
		spec,
		metadata: { generation: 1 },
		status: { phase: "Pending", qosClass: "BestEffort", conditions, ...status },
	});
}

function statusAt(stage: Stage, given: Pod = bound(), nowMs = STARTED_MS): PodStatus {
	return podStatusAt(given, PLACE, stage, SEEN_MS, nowMs);
}

/** `Ready False ContainersNotReady`, in the order of the list. */
function conditions({ conditions: list = [] }: PodStatus): readonly string[] {
	return list.map(({ type, status, reason }) => [type, status, reason].filter((word) => word !== undefined).join(" "));
}

describe("podStatusAt", () => {
	test("a Pod whose containers are being created", () => {
		const status = statusAt(STARTING, bound(), SEEN_MS);
		expect(status).toMatchObject({
			phase: "Pending",
			qosClass: "BestEffort",
			startTime: "2026-01-01T00:00:00Z",
			hostIP: "192.168.0.1",
			hostIPs: [{ ip: "192.168.0.1" }, { ip: "fd00::1" }],
			observedGeneration: 1,
		});
		expect([status.podIP, status.podIPs]).toEqual([undefined, undefined]);
		expect(conditions(status)).toEqual([
			"PodReadyToStartContainers False",
			"Initialized True",
			"Ready False ContainersNotReady",
			"ContainersReady False ContainersNotReady",
			"PodScheduled True",
		]);
		expect(status.containerStatuses).toEqual([
			{
				name: "c",
				image: "",
				imageID: "",
				ready: false,
				started: false,
				restartCount: 0,
				state: { waiting: { reason: "ContainerCreating" } },
			},
		]);
	});

	test("a Pod that runs has its addresses, the node's family first, and is not ready yet", () => {
		const status = statusAt(RUNNING);
		expect(status).toMatchObject({
			phase: "Running",
			podIP: "10.244.0.2",
			podIPs: [{ ip: "10.244.0.2" }, { ip: "fd00:244::2" }],
		});
		expect(conditions(status).slice(0, 4)).toEqual([
			"PodReadyToStartContainers True",
			"Initialized True",
			"Ready False ContainersNotReady",
			"ContainersReady False ContainersNotReady",
		]);
		expect(status.containerStatuses?.[0]).toMatchObject({
			ready: false,
			started: true,
			state: { running: { startedAt: "2026-01-01T00:00:01Z" } },
		});
	});

	test("a ready Pod is ready in both conditions and in its containers", () => {
		const status = statusAt(READY);
		expect(conditions(status)).toEqual([
			"PodReadyToStartContainers True",
			"Initialized True",
			"Ready True",
			"ContainersReady True",
			"PodScheduled True",
		]);
		expect(status.containerStatuses?.[0]?.ready).toBe(true);
	});

	test("a Pod that has ended well keeps its address", () => {
		const status = statusAt(SUCCEEDED, { ...bound(), status: statusAt(READY) });
		expect(status).toMatchObject({ phase: "Succeeded", podIP: "10.244.0.2" });
		expect(conditions(status)).toEqual([
			"PodReadyToStartContainers False",
			"Initialized True PodCompleted",
			"Ready False PodCompleted",
			"ContainersReady False PodCompleted",
			"PodScheduled True",
		]);
		expect(status.containerStatuses?.[0]?.state?.terminated).toEqual({
			exitCode: 0,
			reason: "Completed",
			startedAt: "2026-01-01T00:00:01Z",
			finishedAt: "2026-01-01T00:00:06Z",
			containerID: "sliceplane://uid-p/c",
		});
	});

	test("a Pod that was killed has failed", () => {
		const status = statusAt(FAILED);
		expect(status.phase).toBe("Failed");
		expect(conditions(status).slice(1, 4)).toEqual([
			"Initialized True",
			"Ready False PodFailed",
			"ContainersReady False PodFailed",
		]);
		expect(status.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 137, reason: "Error" });
	});

	test("a Pod that was stopped before it ran has failed, and never had an address", () => {
		const status = statusAt(NEVER_RAN);
		expect([status.phase, status.podIP]).toEqual(["Failed", undefined]);
		expect(status.containerStatuses?.[0]?.state?.terminated).toEqual({
			exitCode: 137,
			reason: "ContainerStatusUnknown",
			message: "The container could not be located when the pod was terminated",
		});
	});

	test("names the containers that are not ready as Go prints a list", () => {
		const spec = { containers: [{ name: "a" }, { name: "b" }] };
		const ready = statusAt(RUNNING, bound(spec)).conditions?.find(({ type }) => type === "Ready");
		expect(ready?.message).toBe("containers with unready status: [a b]");
	});

	test("moves the time of a condition only when its status changes, in whole seconds", () => {
		const first = statusAt(STARTING, bound(), SEEN_MS);
		const later = statusAt(READY, { ...bound(), status: first }, SEEN_MS + 65_000);
		const times = later.conditions?.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime?.slice(14)}`);
		expect(times).toEqual([
			"PodReadyToStartContainers 01:05Z",
			"Initialized 00:00Z",
			"Ready 01:05Z",
			"ContainersReady 01:05Z",
			"PodScheduled 00:00Z",
		]);
		expect(later.conditions?.[0]).toMatchObject({ lastProbeTime: null, observedGeneration: 1 });
	});

	test("is the same when nothing has changed, so that nothing is written", () => {
		const first = statusAt(READY);
		expect(statusAt(READY, { ...bound(), status: first }, STARTED_MS + 90_000)).toEqual(first);
	});

	test("keeps the conditions of others, before its own", () => {
		const foreign = { type: "example.com/lb", status: "True" } as const;
		const status = statusAt(READY, bound({}, { conditions: [{ type: "PodScheduled", status: "True" }, foreign] }));
		expect(status.conditions?.[0]).toBe(foreign);
		expect(conditions(status)).toHaveLength(6);
	});

	test("lets readiness gates hold Ready, but not ContainersReady", () => {
		const spec = { readinessGates: [{ conditionType: "a/b" }, { conditionType: "c/d" }] };
		const closed = statusAt(READY, bound(spec, { conditions: [{ type: "c/d", status: "False" }] }));
		expect(conditions(closed).slice(3, 5)).toEqual(["Ready False ReadinessGatesNotReady", "ContainersReady True"]);
		expect(closed.conditions?.find(({ type }) => type === "Ready")?.message).toBe(
			'corresponding condition of pod readiness gate "a/b" does not exist., ' +
				'the status of pod readiness gate "c/d" is not "True", but False',
		);
		const open = [
			{ type: "a/b", status: "True" },
			{ type: "c/d", status: "True" },
		] as const;
		expect(conditions(statusAt(READY, bound(spec, { conditions: open })))).toContain("Ready True");
	});
});

describe("init containers", () => {
	const spec = { initContainers: [{ name: "init" }, { name: "side", restartPolicy: "Always" }] };

	test("hold Initialized until they are done, and sidecars hold ContainersReady", () => {
		const status = statusAt(STARTING, bound(spec));
		const byType = new Map(status.conditions?.map((condition) => [condition.type, condition]));
		expect(byType.get("Initialized")).toMatchObject({
			status: "False",
			reason: "ContainersNotInitialized",
			message: "containers with incomplete status: [init side]",
		});
		expect(byType.get("Ready")?.message).toBe("containers with unready status: [side c]");
		expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: "PodInitializing" } });
	});

	test("have ended when the others run, but sidecars go on", () => {
		const status = statusAt(RUNNING, bound(spec));
		expect(conditions(status)).toContain("Initialized True");
		expect(status.initContainerStatuses).toEqual([
			expect.objectContaining({
				name: "init",
				ready: true,
				state: { terminated: expect.objectContaining({ exitCode: 0 }) },
			}),
			expect.objectContaining({ name: "side", ready: true, state: { running: expect.anything() } }),
		]);
	});

	test("keep how they ended when the Pod is killed; sidecars are killed with it", () => {
		const codes = statusAt(FAILED, bound(spec)).initContainerStatuses?.map(({ state }) => state?.terminated?.exitCode);
		expect(codes).toEqual([0, 137]);
	});
});

describe("a container with a life of its own", () => {
	const Last = { exitCode: 3, startedMs: STARTED_MS, endedMs: STARTED_MS + 1_000 };
	const AgainMs = STARTED_MS + 11_000;
	const Runs: Readonly<Record<string, ContainerRun>> = {
		restarted: {
			phase: { kind: "running", startedMs: AgainMs },
			restartCount: 2,
			isStarted: true,
			isReady: true,
			last: Last,
		},
		waiting: {
			phase: { kind: "backing-off", delayMs: 80_000 },
			restartCount: 1,
			isStarted: true,
			isReady: true,
			last: Last,
		},
		ended: { phase: { kind: "ended", termination: Last }, restartCount: 0, isStarted: true, isReady: true },
		unready: { phase: { kind: "running", startedMs: STARTED_MS }, restartCount: 0, isStarted: false, isReady: false },
	};
	const given = bound({ containers: Object.keys(Runs).map((name) => ({ name, image: "x" })) });
	const status = podStatusAt(given, PLACE, READY, SEEN_MS, AgainMs, new Map(Object.entries(Runs)));
	const uid = given.metadata.uid;
	const terminated = {
		exitCode: 3,
		reason: "Error",
		startedAt: "2026-01-01T00:00:01Z",
		finishedAt: "2026-01-01T00:00:02Z",
	};

	test("has its own state, count and last state", () => {
		const [restarted, waiting, ended, unready] = status.containerStatuses ?? [];
		expect(restarted).toMatchObject({
			ready: true,
			restartCount: 2,
			containerID: `sliceplane://${uid}/restarted/2`,
			state: { running: { startedAt: "2026-01-01T00:00:12Z" } },
			lastState: { terminated: { ...terminated, containerID: `sliceplane://${uid}/restarted/1` } },
		});
		const message = `back-off 1m20s restarting failed container=waiting pod=p_default(${uid})`;
		expect(waiting).toMatchObject({
			ready: false,
			started: false,
			restartCount: 1,
			state: { waiting: { reason: "CrashLoopBackOff", message } },
			lastState: { terminated },
		});
		expect(ended).toMatchObject({ ready: false, state: { terminated } });
		expect(unready).toMatchObject({ ready: false, started: false, state: { running: {} } });
	});

	test("keeps its Pod from being ready, by name", () => {
		const ready = status.conditions?.find(({ type }) => type === "Ready");
		const message = "containers with unready status: [waiting ended unready]";
		expect([status.phase, ready]).toEqual(["Running", expect.objectContaining({ status: "False", message })]);
	});
});
