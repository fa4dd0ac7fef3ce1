/** The row of a Pod. Its Status column is a summary that no field of the object holds. */
import { compareStrings } from "../../kernel/order.ts";
import { age } from "../age.ts";
import type { Cell, Table } from "../resource.ts";
import type { Container, ContainerStatus, Pod } from "../types/core.ts";
import { AGE_COLUMN, column, NAME_COLUMN, orNone, wideColumn } from "./cells.ts";

export const POD_TABLE: Table<Pod> = {
	columns: [
		NAME_COLUMN,
		column("Ready", "How many containers are ready, of how many."),
		column("Status", "The summary of the states of the pod's containers."),
		column("Restarts", "How often containers restarted, and when the last time."),
		AGE_COLUMN,
		wideColumn("IP", "The first address of the pod."),
		wideColumn("Node", "The node that runs the pod."),
		wideColumn("Nominated Node", "The node on which others make room for the pod."),
		wideColumn("Readiness Gates", "How many readiness gates are true, of how many."),
	],
	cells: podCells,
	rowConditions({ status }) {
		const phase = status?.phase;
		if (phase !== "Succeeded" && phase !== "Failed") return [];
		const message = phase === "Failed" ? "The pod failed." : "The pod has completed successfully.";
		return [{ type: "Completed", status: "True", reason: phase, message }];
	},
};

function podCells(pod: Pod, nowMs: number): readonly Cell[] {
	const { spec, status } = pod;
	const { text, ready, restarts, lastRestart } = summaryOf(pod);
	const sidecars = (spec.initContainers ?? []).filter(isSidecar);
	return [
		pod.metadata.name,
		`${ready}/${spec.containers.length + sidecars.length}`,
		text,
		restarts > 0 && lastRestart !== "" ? `${restarts} (${age(nowMs, lastRestart)} ago)` : String(restarts),
		age(nowMs, pod.metadata.creationTimestamp),
		orNone(status?.podIPs?.[0]?.ip),
		orNone(spec.nodeName),
		orNone(status?.nominatedNodeName),
		gatesCell(pod),
	];
}

function isSidecar(container: Container | undefined): boolean {
	return container?.restartPolicy === "Always";
}

interface Summary {
	readonly text: string;
	readonly ready: number;
	readonly restarts: number;
	/** When the last container that restarted had ended; "" when unknown. */
	readonly lastRestart: string;
}

function summaryOf(pod: Pod): Summary {
	const init = initSummaryOf(pod);
	const isWaiting = init.isInitializing && !hasCondition(pod, "Initialized");
	const summary = isWaiting ? { ...init, text: init.text ?? phaseText(pod) } : mainSummaryOf(pod, init);
	return { ...summary, text: deletionText(pod) ?? summary.text };
}

function deletionText({ metadata, status }: Pod): string | undefined {
	if (metadata.deletionTimestamp === undefined) return undefined;
	if (status?.reason === "NodeLost") return "Unknown";
	return status?.phase === "Succeeded" || status?.phase === "Failed" ? undefined : "Terminating";
}

function phaseText({ status }: Pod): string {
	const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
	if (scheduled?.reason === "SchedulingGated") return "SchedulingGated";
	return status?.reason || (status?.phase ?? "");
}

function hasCondition(pod: Pod, type: string): boolean {
	return pod.status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

interface InitSummary {
	readonly text: string | undefined;
	readonly isInitializing: boolean;
	readonly ready: number;
	readonly restarts: number;
	readonly lastRestart: string;
	readonly sidecars: readonly ContainerStatus[];
}

/** Init containers run one after the other: the first that has not ended well says where it stands. */
function initSummaryOf({ spec, status }: Pod): InitSummary {
	const containers = spec.initContainers ?? [];
	let ready = 0;
	let text: string | undefined;
	const walked: ContainerStatus[] = [];
	for (const [index, state] of (status?.initContainerStatuses ?? []).entries()) {
		walked.push(state);
		if (state.state?.terminated?.exitCode === 0) continue;
		if (isSidecar(containers.find(({ name }) => name === state.name)) && state.started === true) {
			if (state.ready) ready++;
			continue;
		}
		text = initText(state, `Init:${index}/${containers.length}`);
		break;
	}
	const sidecars = walked.filter(({ name }) => isSidecar(containers.find((container) => container.name === name)));
	return {
		text,
		isInitializing: text !== undefined,
		ready,
		restarts: restartsOf(walked),
		lastRestart: lastEndOf(walked),
		sidecars,
	};
}

function initText({ state }: ContainerStatus, progress: string): string {
	const { terminated, waiting } = state ?? {};
	if (terminated !== undefined) return `Init:${terminatedText(terminated)}`;
	const reason = waiting?.reason ?? "";
	return reason === "" || reason === "PodInitializing" ? progress : `Init:${reason}`;
}

type Terminated = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

function terminatedText({ reason = "", signal = 0, exitCode }: Terminated): string {
	return reason || (signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`);
}

function restartsOf(statuses: readonly ContainerStatus[]): number {
	return statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** RFC 3339 in UTC sorts as text. */
function lastEndOf(statuses: readonly ContainerStatus[]): string {
	const ends = statuses.map(({ lastState }) => lastState?.terminated?.finishedAt ?? "");
	return ends.sort(compareStrings).at(-1) ?? "";
}

function mainSummaryOf(pod: Pod, init: InitSummary): Summary {
	const statuses = pod.status?.containerStatuses ?? [];
	const texts = statuses.map(stateText);
	const running = statuses.filter(isRunning);
	const counted = [...init.sidecars, ...statuses];
	return {
		text: completedText(pod, texts.find((text) => text !== undefined) ?? init.text ?? phaseText(pod)),
		ready: init.ready + running.length,
		restarts: restartsOf(counted),
		lastRestart: lastEndOf(counted),
	};
}

function isRunning(status: ContainerStatus): boolean {
	return status.ready && status.state?.running !== undefined && stateText(status) === undefined;
}

/** undefined for a container that has nothing to complain about. */
function stateText({ state }: ContainerStatus): string | undefined {
	const reason = state?.waiting?.reason ?? "";
	if (reason !== "") return reason;
	return state?.terminated === undefined ? undefined : terminatedText(state.terminated);
}

/** A container that ended well says nothing about a pod in which others still run, or failed. */
function completedText(pod: Pod, text: string): string {
	if (text !== "Completed") return text;
	const statuses = pod.status?.containerStatuses ?? [];
	const hasRunning = statuses.some(isRunning);
	if (hasRunning && hasCondition(pod, "Ready")) return "Running";
	const failed = statuses.find(
		({ state }) => (state?.terminated?.exitCode ?? 0) !== 0 && (state?.waiting?.reason ?? "") === "",
	);
	if (failed?.state?.terminated !== undefined) return terminatedText(failed.state.terminated);
	return hasRunning ? "NotReady" : text;
}

function gatesCell({ spec, status }: Pod): string {
	const gates = spec.readinessGates ?? [];
	if (gates.length === 0) return "<none>";
	const met = gates.filter(({ conditionType }) =>
		status?.conditions?.some(({ type, status: value }) => type === conditionType && value === "True"),
	);
	return `${met.length}/${gates.length}`;
}
