/** What a Pod is in, and why it is not ready, in words. */
import type { Container, ContainerStatus, Pod } from "../api/types/core.ts";
import { isObject } from "../kernel/json.ts";
import type { Evidence } from "./finding.ts";
import type { Scene } from "./snapshot.ts";

/** `web-a is Failed (Evicted)` */
export function stateText(pod: Pod): string {
	const { phase = "Pending", reason } = pod.status ?? {};
	return `${pod.metadata.name} is ${phase}${reason === undefined ? "" : ` (${reason})`}`;
}

/** Why it has no address yet: what the scheduler says, what its containers wait for, or its last Event. */
export function whyPending(scene: Scene, pod: Pod): string {
	const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
	if (scheduled?.status === "False") return `${scheduled.reason ?? ""} ${scheduled.message ?? ""}`.trim();
	const event = lastEventText(scene, pod);
	const waiting = containerReasons(pod).slice(0, 1);
	return [placeText(scene, pod), ...waiting, event].filter((text) => text !== undefined).join(", ");
}

/** The scheduler that nobody has to name. */
const DEFAULT_SCHEDULER = "default-scheduler";

function placeText(scene: Scene, { spec }: Pod): string {
	const { nodeName, schedulerName = DEFAULT_SCHEDULER } = spec;
	if (nodeName === undefined || nodeName === "") {
		const who = schedulerName === DEFAULT_SCHEDULER ? "" : ` by scheduler ${schedulerName}: does it run?`;
		return `no node has been chosen${who}`;
	}
	return scene.lacksNode(nodeName) ? `on ${nodeName}, which is no Node, so nobody starts it` : `on ${nodeName}`;
}

/** Which container is not ready, by which probe or state, which gate is closed, and the Pod's last Event. */
export function whyUnready(scene: Scene, pod: Pod): string {
	const { conditions = [] } = pod.status ?? {};
	const reasons = containerReasons(pod);
	const closed = (pod.spec.readinessGates ?? []).filter(
		({ conditionType }) => conditions.find(({ type }) => type === conditionType)?.status !== "True",
	);
	const gates =
		closed.length === 0 ? [] : [`readiness gate ${closed.map(({ conditionType }) => conditionType).join(", ")}`];
	const ready = conditions.find(({ type }) => type === "Ready");
	// With no container and no gate to blame, the node's controller has said so.
	const told =
		reasons.length + gates.length > 0 || ready?.reason === undefined
			? []
			: [`${ready.reason} ${ready.message ?? ""}`.trimEnd()];
	const event = lastEventText(scene, pod);
	return [pod.metadata.name, ...reasons, ...gates, ...told, ...(event === undefined ? [] : [event])].join(", ");
}

/** What a container waits for while another one is in its way. */
const INITIALIZING = "PodInitializing";

/** Init containers run one after the other, and before all others: those that wait for one say nothing of their own. */
function containerReasons({ spec, status }: Pod): readonly string[] {
	const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
	const unready = [
		...initContainerStatuses
			.filter((each) => !each.ready && !hasSucceeded(each))
			.map((each) => ({ each, word: "init " })),
		...containerStatuses.filter(({ ready }) => !ready).map((each) => ({ each, word: "" })),
	];
	const telling = unready.filter(({ each }) => each.state?.waiting?.reason !== INITIALIZING);
	const containers = [...spec.containers, ...(spec.initContainers ?? [])];
	return (telling.length > 0 ? telling : unready).map(({ each, word }) =>
		containerText(
			containers.find(({ name }) => name === each.name),
			each,
			word,
		),
	);
}

function hasSucceeded({ state }: ContainerStatus): boolean {
	return state?.terminated?.exitCode === 0;
}

/** @param word `init ` of those that run first. */
function containerText(container: Container | undefined, status: ContainerStatus, word: string): string {
	const { name, state, started, restartCount } = status;
	const again = (restartCount ?? 0) > 0 ? `, ${restartCount} restarts` : "";
	const how = endedText(status);
	if (state?.waiting !== undefined) {
		const { reason = "waiting", message } = state.waiting;
		return `${word}container ${name} waits: ${reason}${message === undefined ? "" : `: ${message}`}${how}${again}`;
	}
	if (state?.terminated !== undefined) return `${word}container ${name}${how}${again}`.replace(", ended", " ended");
	if (started === false && container?.startupProbe !== undefined) {
		return `the startupProbe of ${word}container ${name} (${probeText(container.startupProbe)}) has not succeeded${again}`;
	}
	if (word !== "" && state?.running !== undefined) return `${word}container ${name} runs${again}`;
	if (container?.readinessProbe === undefined) return `${word}container ${name} is not ready${again}`;
	return `see the readinessProbe of ${word}container ${name} (${probeText(container.readinessProbe)})${again}`;
}

function endedText({ state, lastState }: ContainerStatus): string {
	const ended = state?.terminated ?? lastState?.terminated;
	if (ended === undefined) return "";
	return `, ended with ${ended.exitCode}${ended.reason === undefined ? "" : ` (${ended.reason})`}`;
}

/** `httpGet /healthz:8080` */
function probeText(probe: Readonly<Record<string, unknown>>): string {
	const { httpGet, tcpSocket, grpc, exec } = probe;
	if (isObject(httpGet)) return `httpGet :${httpGet["port"]}${httpGet["path"] ?? "/"}`;
	if (isObject(tcpSocket)) return `tcpSocket :${tcpSocket["port"]}`;
	if (isObject(grpc)) return `grpc :${grpc["port"]}`;
	return isObject(exec) && Array.isArray(exec["command"]) ? `exec ${exec["command"].join(" ")}` : "of no known kind";
}

function lastEventText(scene: Scene, pod: Pod): string | undefined {
	const event = scene.lastEvent(pod);
	if (event === undefined) return undefined;
	return `last Event ${event.reason ?? ""}: ${event.message ?? ""}`;
}

export function eventEvidence(scene: Scene, pod: Pod): readonly Evidence[] {
	const event = scene.lastEvent(pod);
	if (event === undefined) return [];
	return [
		{
			object: `Event/${event.metadata.name}`,
			field: "message",
			value: `${event.reason ?? ""}: ${event.message ?? ""}`,
		},
	];
}
