/** The status that a kubelet would write for a Pod at a stage of its life. */
import type { Container, ContainerState, ContainerStatus, Pod, PodPhase, PodStatus } from "../../api/types/core.ts";
import type { Condition } from "../../api/types/meta.ts";
import { timestamp } from "../timestamp.ts";
import type { ContainerRun, ContainerRuns, Termination } from "./container-run.ts";
import type { Stage } from "./stage.ts";

export interface PodPlace {
	/** Addresses of its node, the primary family first. */
	readonly hostIPs: readonly string[];
	/** Addresses of the Pod itself, the primary family first. */
	readonly podIPs: readonly string[];
}

/**
 * @param seenMs When its node saw the Pod first.
 * @param runs Of containers that have a life of their own; `stage` is that of the others, and of the Pod.
 */
export function podStatusAt(
	pod: Pod,
	place: PodPlace,
	stage: Stage,
	seenMs: number,
	nowMs: number,
	runs: ContainerRuns = NO_RUNS,
): PodStatus {
	const { reason: _reason, message: _message, ...kept } = pod.status ?? {};
	const [hostIP = ""] = place.hostIPs;
	return {
		...kept,
		observedGeneration: pod.metadata.generation ?? 1,
		phase: phaseOf(stage),
		conditions: conditionsOf(pod, stage, runs, nowMs),
		hostIP,
		hostIPs: place.hostIPs.map((ip) => ({ ip })),
		...(hasRun(stage) ? addressesOf(place) : {}),
		startTime: pod.status?.startTime ?? timestamp(seenMs),
		containerStatuses: pod.spec.containers.map((container) => {
			const run = runs.get(container.name);
			return run === undefined || !hasRun(stage)
				? containerStatusOf(pod, container, stage)
				: ownStatusOf(pod, container, stage, run);
		}),
		...initStatuses(pod, stage),
	};
}

const NO_RUNS: ContainerRuns = new Map();

function addressesOf({ podIPs }: PodPlace): Pick<PodStatus, "podIP" | "podIPs"> {
	const [podIP = ""] = podIPs;
	return { podIP, podIPs: podIPs.map((ip) => ({ ip })) };
}

function hasRun(stage: Stage): boolean {
	return stage.kind === "running" || (stage.kind === "ended" && stage.startedMs !== undefined);
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
function conditionsOf(pod: Pod, stage: Stage, runs: ContainerRuns, nowMs: number): readonly Condition[] {
	const wanted = wantedConditions(pod, stage, runs);
	const own = new Set(wanted.map(({ type }) => type));
	const before = pod.status?.conditions ?? [];
	const foreign = before.filter(({ type }) => !own.has(type));
	return [...foreign, ...wanted.map((condition) => conditionOf(pod, condition, before, nowMs))];
}

function wantedConditions(pod: Pod, stage: Stage, runs: ContainerRuns): readonly Wanted[] {
	const unreadyNames = pod.spec.containers.filter((container) => !isContainerReady(container, stage, runs));
	const isReady = unreadyNames.length === 0;
	const unready = isReady ? {} : unreadyReason(pod, stage, unreadyNames);
	return [
		{ type: "PodReadyToStartContainers", isTrue: stage.kind === "running" },
		initialized(pod, stage),
		readyCondition(pod, isReady, unready),
		{ type: "ContainersReady", isTrue: isReady, ...unready },
		{ type: "PodScheduled", isTrue: true },
	];
}

function isContainerReady({ name }: Container, stage: Stage, runs: ContainerRuns): boolean {
	const run = runs.get(name);
	return stage.kind === "running" && stage.isReady && (run === undefined || isRunReady(run));
}

function isRunReady({ phase, isReady }: ContainerRun): boolean {
	return phase.kind === "running" && isReady;
}

function initialized({ spec: { initContainers = [] } }: Pod, stage: Stage): Wanted {
	const type = "Initialized";
	if (phaseOf(stage) === "Succeeded") return { type, isTrue: true, reason: COMPLETED };
	if (hasRun(stage) || initContainers.length === 0) return { type, isTrue: true };
	const message = `containers with incomplete status: [${namesOf(initContainers)}]`;
	return { type, isTrue: false, reason: "ContainersNotInitialized", message };
}

const COMPLETED = "PodCompleted";

/** Ready asks for every readiness gate as well, which foreign controllers set. */
function readyCondition(pod: Pod, isReady: boolean, unready: Partial<Wanted>): Wanted {
	const conditions = pod.status?.conditions ?? [];
	const missing = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
		const gate = conditions.find(({ type }) => type === conditionType);
		if (gate?.status === "True") return [];
		return gate === undefined
			? [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
			: [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
	});
	if (!isReady || missing.length === 0) return { type: "Ready", isTrue: isReady, ...unready };
	return { type: "Ready", isTrue: false, reason: "ReadinessGatesNotReady", message: missing.join(", ") };
}

function unreadyReason({ spec }: Pod, stage: Stage, unready: readonly Container[]): Partial<Wanted> {
	if (stage.kind === "ended") return { reason: stage.exitCode === 0 ? COMPLETED : "PodFailed" };
	// Sidecars have no probe here: they are ready when they run.
	const sidecars = stage.kind === "starting" ? (spec.initContainers ?? []).filter(isSidecar) : [];
	const names = namesOf([...sidecars, ...unready]);
	return { reason: "ContainersNotReady", message: `containers with unready status: [${names}]` };
}

/** As Go prints a list. */
function namesOf(containers: readonly Container[]): string {
	return containers.map(({ name }) => name).join(" ");
}

function isSidecar({ restartPolicy }: Container): boolean {
	return restartPolicy === "Always";
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
		...(wanted.reason === undefined ? {} : { reason: wanted.reason }),
		...(wanted.message === undefined ? {} : { message: wanted.message }),
	};
}

function containerStatusOf(pod: Pod, { name, image = "" }: Container, stage: Stage): ContainerStatus {
	const containerID = hasRun(stage) ? `sliceplane://${pod.metadata.uid}/${name}` : undefined;
	return {
		name,
		image,
		imageID: containerID === undefined ? "" : `sliceplane.dev/simulated@${image}`,
		...(containerID === undefined ? {} : { containerID }),
		ready: stage.kind === "running" && stage.isReady,
		started: stage.kind === "running",
		restartCount: 0,
		state: stateOf(pod, stage, containerID),
	};
}

function stateOf(pod: Pod, stage: Stage, containerID: string | undefined): ContainerState {
	if (stage.kind === "starting") {
		const hasInit = (pod.spec.initContainers ?? []).length > 0;
		return { waiting: { reason: hasInit ? "PodInitializing" : "ContainerCreating" } };
	}
	if (stage.kind === "running") return { running: { startedAt: timestamp(stage.startedMs) } };
	const { startedMs, endedMs, exitCode } = stage;
	if (startedMs === undefined || containerID === undefined) return { terminated: { exitCode, ...NEVER_RAN } };
	return terminatedState({ startedMs, endedMs, exitCode }, containerID);
}

function terminatedState(termination: Termination, containerID: string): ContainerState {
	const { exitCode, reason = exitCode === 0 ? "Completed" : "Error", message, startedMs, endedMs } = termination;
	return {
		terminated: {
			exitCode,
			reason,
			...(message === undefined ? {} : { message }),
			startedAt: timestamp(startedMs),
			finishedAt: timestamp(endedMs),
			containerID,
		},
	};
}

/** Of a container with a life of its own. Each start has an id of its own, too. */
function ownStatusOf(pod: Pod, container: Container, stage: Stage, run: ContainerRun): ContainerStatus {
	const { phase, restartCount, isStarted, last } = run;
	const idOf = (start: number): string =>
		`sliceplane://${pod.metadata.uid}/${container.name}${start === 0 ? "" : `/${start}`}`;
	return {
		...containerStatusOf(pod, container, stage),
		containerID: idOf(restartCount),
		ready: stage.kind === "running" && stage.isReady && isRunReady(run),
		started: stage.kind === "running" && phase.kind === "running" && isStarted,
		restartCount,
		state: ownStateOf(pod, container, stage, run, idOf(restartCount)),
		...(last === undefined
			? {}
			: { lastState: terminatedState(last, idOf(phase.kind === "running" ? restartCount - 1 : restartCount)) }),
	};
}

function ownStateOf(
	pod: Pod,
	{ name }: Container,
	stage: Stage,
	{ phase, last }: ContainerRun,
	id: string,
): ContainerState {
	switch (phase.kind) {
		case "running":
			return stage.kind === "ended"
				? terminatedState({ ...stage, startedMs: phase.startedMs }, id)
				: { running: { startedAt: timestamp(phase.startedMs) } };
		case "backing-off":
			if (stage.kind === "ended" && last !== undefined) return terminatedState(last, id);
			return { waiting: { reason: "CrashLoopBackOff", message: backOffMessage(pod, name, phase.delayMs) } };
		case "ended":
			return terminatedState(phase.termination, id);
	}
}

function backOffMessage({ metadata }: Pod, container: string, delayMs: number): string {
	const { name, namespace = "", uid } = metadata;
	return `back-off ${goDuration(delayMs)} restarting failed container=${container} pod=${name}_${namespace}(${uid})`;
}

/** `10s`, `1m20s`, as Go prints it. */
function goDuration(ms: number): string {
	const seconds = ms / 1_000;
	return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** A kubelet's words for a container that it never saw. */
const NEVER_RAN = {
	reason: "ContainerStatusUnknown",
	message: "The container could not be located when the pod was terminated",
} as const;

/** Init containers have run, in no time, when the others start; sidecars go on with them. */
function initStatuses(pod: Pod, stage: Stage): Pick<PodStatus, "initContainerStatuses"> {
	const { initContainers = [] } = pod.spec;
	if (initContainers.length === 0) return {};
	const initContainerStatuses = initContainers.map((container): ContainerStatus => {
		if (!hasRun(stage)) return containerStatusOf(pod, container, stage);
		if (isSidecar(container)) {
			return containerStatusOf(pod, container, stage.kind === "running" ? { ...stage, isReady: true } : stage);
		}
		const startedMs = (stage.kind === "starting" ? undefined : stage.startedMs) ?? 0;
		const done: Stage = { kind: "ended", startedMs, endedMs: startedMs, exitCode: 0 };
		return { ...containerStatusOf(pod, container, done), ready: true };
	});
	return { initContainerStatuses };
}
