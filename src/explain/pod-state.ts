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
	const waiting = waitingText(pod);
	const event = lastEventText(scene, pod);
	const node = pod.spec.nodeName === undefined ? "no node has been chosen" : `on ${pod.spec.nodeName}`;
	return [node, waiting, event].filter((text) => text !== undefined).join(", ");
}

/** Which container is not ready, by which probe or state, which gate is closed, and the Pod's last Event. */
export function whyUnready(scene: Scene, pod: Pod): string {
	const { conditions = [], containerStatuses = [] } = pod.status ?? {};
	const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
	const unready = containerStatuses.filter(({ ready }) => !ready);
	const reasons = unready.map((status) =>
		containerText(
			containers.find(({ name }) => name === status.name),
			status,
		),
	);
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

function containerText(container: Container | undefined, status: ContainerStatus): string {
	const { name, state, lastState, started, restartCount } = status;
	const again = (restartCount ?? 0) > 0 ? `, ${restartCount} restarts` : "";
	const ended = state?.terminated ?? lastState?.terminated;
	const how =
		ended === undefined
			? ""
			: `, ended with ${ended.exitCode}${ended.reason === undefined ? "" : ` (${ended.reason})`}`;
	if (state?.waiting !== undefined) {
		const { reason = "waiting", message } = state.waiting;
		return `container ${name} waits: ${reason}${message === undefined ? "" : `: ${message}`}${how}${again}`;
	}
	if (state?.terminated !== undefined) return `container ${name}${how}${again}`.replace(", ended", " ended");
	if (started === false && container?.startupProbe !== undefined) {
		return `the startupProbe of container ${name} (${probeText(container.startupProbe)}) has not succeeded${again}`;
	}
	if (container?.readinessProbe === undefined) return `container ${name} is not ready${again}`;
	return `see the readinessProbe of container ${name} (${probeText(container.readinessProbe)})${again}`;
}

/** `httpGet /healthz:8080` */
function probeText(probe: Readonly<Record<string, unknown>>): string {
	const { httpGet, tcpSocket, grpc, exec } = probe;
	if (isObject(httpGet)) return `httpGet :${httpGet["port"]}${httpGet["path"] ?? "/"}`;
	if (isObject(tcpSocket)) return `tcpSocket :${tcpSocket["port"]}`;
	if (isObject(grpc)) return `grpc :${grpc["port"]}`;
	return isObject(exec) && Array.isArray(exec["command"]) ? `exec ${exec["command"].join(" ")}` : "of no known kind";
}

function waitingText({ status }: Pod): string | undefined {
	const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
	const waiting = statuses.find(({ state }) => state?.waiting !== undefined);
	if (waiting === undefined) return undefined;
	const { reason = "waiting", message } = waiting.state?.waiting ?? {};
	return `container ${waiting.name} waits: ${reason}${message === undefined ? "" : `: ${message}`}`;
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
