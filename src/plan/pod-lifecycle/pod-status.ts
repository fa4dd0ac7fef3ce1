/** The status that a kubelet would write for a Pod at a stage of its life. */
import type { Container, ContainerState, ContainerStatus, Pod, PodPhase, PodStatus } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import type { Stage } from "./stage.ts";

export interface PodPlace {
	/** Addresses of its node, the primary family first. */
	readonly hostIPs: readonly string[];
	/** Addresses of the Pod itself, the primary family first. */
	readonly podIPs: readonly string[];
}

export function podStatusAt(pod: Pod, place: PodPlace, stage: Stage, boundMs: number, nowMs: number): PodStatus {
	const { reason: _reason, message: _message, ...kept } = pod.status ?? {};
	const [hostIP = ""] = place.hostIPs;
	return {
		...kept,
		observedGeneration: pod.metadata.generation ?? 1,
		phase: phaseOf(stage),
		conditions: conditionsOf(pod, stage, nowMs),
		hostIP,
		hostIPs: place.hostIPs.map((ip) => ({ ip })),
		...(stage.kind === "starting" ? {} : addressesOf(place)),
		startTime: pod.status?.startTime ?? timestamp(boundMs),
		containerStatuses: pod.spec.containers.map((container) => containerStatusOf(pod, container, stage)),
		...initStatuses(pod, stage),
	};
}

/** RFC 3339, whole seconds: Ready's transition feeds the trigger time of EndpointSlices. */
function timestamp(wallMs: number): string {
	return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}

function addressesOf({ podIPs }: PodPlace): Pick<PodStatus, "podIP" | "podIPs"> {
	const [podIP = ""] = podIPs;
	return { podIP, podIPs: podIPs.map((ip) => ({ ip })) };
}

function phaseOf(stage: Stage): PodPhase {
	if (stage.kind === "starting") return "Pending";
	if (stage.kind === "running") return "Running";
	return stage.exitCode === 0 ? "Succeeded" : "Failed";
}

interface Wanted {
	readonly type: string;
	readonly isTrue: boolean;
	readonly reason?: string;
	readonly message?: string;
}

/** Foreign conditions first, then the kubelet's own in its own order. */
function conditionsOf(pod: Pod, stage: Stage, nowMs: number): readonly Condition[] {
	const wanted = wantedConditions(pod, stage);
	const own = new Set(wanted.map(({ type }) => type));
	const before = pod.status?.conditions ?? [];
	const foreign = before.filter(({ type }) => !own.has(type));
	return [...foreign, ...wanted.map((condition) => conditionOf(pod, condition, before, nowMs))];
}

function wantedConditions(pod: Pod, stage: Stage): readonly Wanted[] {
	const hasRun = stage.kind === "running" || (stage.kind === "ended" && stage.startedMs !== undefined);
	const isReady = stage.kind === "running" && stage.isReady;
	const unready = isReady ? {} : unreadyReason(pod, stage);
	return [
		{ type: "PodReadyToStartContainers", isTrue: stage.kind === "running" },
		{ type: "Initialized", isTrue: hasRun || (pod.spec.initContainers ?? []).length === 0, ...initReason(pod, stage) },
		readyCondition(pod, isReady, unready),
		{ type: "ContainersReady", isTrue: isReady, ...unready },
		{ type: "PodScheduled", isTrue: true },
	];
}

/** Ready asks for every readiness gate as well, which foreign controllers set. */
function readyCondition(pod: Pod, isReady: boolean, unready: Partial<Wanted>): Wanted {
	const conditions = pod.status?.conditions ?? [];
	const missing = (pod.spec.readinessGates ?? []).filter(
		({ conditionType }) => !conditions.some(({ type, status }) => type === conditionType && status === "True"),
	);
	if (!isReady || missing.length === 0) return { type: "Ready", isTrue: isReady, ...unready };
	const names = missing.map(({ conditionType }) => `"${conditionType}"`).join(", ");
	return {
		type: "Ready",
		isTrue: false,
		reason: "ReadinessGatesNotReady",
		message: `the status of pod readiness gate ${names} is not "True"`,
	};
}

function unreadyReason(pod: Pod, stage: Stage): Partial<Wanted> {
	if (stage.kind === "ended") return { reason: stage.exitCode === 0 ? "PodCompleted" : "PodFailed" };
	const names = pod.spec.containers.map(({ name }) => name).join(" ");
	return { reason: "ContainersNotReady", message: `containers with unready status: [${names}]` };
}

function initReason(pod: Pod, stage: Stage): Partial<Wanted> {
	const names = (pod.spec.initContainers ?? []).map(({ name }) => name).join(" ");
	if (stage.kind !== "starting" || names === "") return {};
	return { reason: "ContainersNotInitialized", message: `containers with incomplete status: [${names}]` };
}

function conditionOf(pod: Pod, wanted: Wanted, before: readonly Condition[], nowMs: number): Condition {
	const status = wanted.isTrue ? "True" : "False";
	const known = before.find(({ type }) => type === wanted.type);
	const isSame = known?.status === status;
	return {
		type: wanted.type,
		status,
		lastProbeTime: null,
		lastTransitionTime: isSame && known.lastTransitionTime !== undefined ? known.lastTransitionTime : timestamp(nowMs),
		observedGeneration: pod.metadata.generation ?? 1,
		...(wanted.isTrue || wanted.reason === undefined ? {} : { reason: wanted.reason }),
		...(wanted.isTrue || wanted.message === undefined ? {} : { message: wanted.message }),
	};
}

function containerStatusOf(pod: Pod, { name, image = "" }: Container, stage: Stage): ContainerStatus {
	const isRunning = stage.kind === "running";
	const containerID = `sliceplane://${pod.metadata.uid}/${name}`;
	return {
		name,
		image,
		imageID: stage.kind === "starting" ? "" : `sliceplane.dev/simulated@${image}`,
		...(stage.kind === "starting" ? {} : { containerID }),
		ready: isRunning && stage.isReady,
		started: isRunning,
		restartCount: 0,
		state: stateOf(stage, containerID),
	};
}

function stateOf(stage: Stage, containerID: string): ContainerState {
	if (stage.kind === "starting") return { waiting: { reason: "ContainerCreating" } };
	if (stage.kind === "running") return { running: { startedAt: timestamp(stage.startedMs) } };
	const { startedMs = stage.endedMs, endedMs, exitCode } = stage;
	return {
		terminated: {
			exitCode,
			reason: exitCode === 0 ? "Completed" : "Error",
			startedAt: timestamp(startedMs),
			finishedAt: timestamp(endedMs),
			containerID,
		},
	};
}

/** Init containers have run, in no time, when the others start; sidecars go on with them. */
function initStatuses(pod: Pod, stage: Stage): Pick<PodStatus, "initContainerStatuses"> {
	const { initContainers = [] } = pod.spec;
	if (initContainers.length === 0) return {};
	const initContainerStatuses = initContainers.map((container): ContainerStatus => {
		const status = containerStatusOf(pod, container, stage);
		if (stage.kind !== "running" || container.restartPolicy === "Always") return status;
		const done: Stage = { kind: "ended", startedMs: stage.startedMs, endedMs: stage.startedMs, exitCode: 0 };
		return { ...containerStatusOf(pod, container, done), ready: true };
	});
	return { initContainerStatuses };
}
