/** The containers of one running Pod, where they have a life of their own: probes that really run, or processes. */
import { PODS } from "../api/resource-names.ts";
import type { Container, Pod } from "../api/types/core.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ContainerLogs } from "../machinery/container-logs.ts";
import type { EventSink } from "../machinery/event-recorder.ts";
import type { Behaviour } from "../plan/pod-lifecycle/behaviour.ts";
import {
	type BackOffLimits,
	type ContainerRuns,
	RESTART_BACK_OFF,
	type Termination,
} from "../plan/pod-lifecycle/container-run.ts";
import type { PodPlace } from "../plan/pod-lifecycle/pod-status.ts";
import { probesOf } from "../plan/pod-lifecycle/probe-spec.ts";
import type { Stage } from "../plan/pod-lifecycle/stage.ts";
import { ContainerLife } from "./container-life.ts";
import { startedText } from "./pod-logger.ts";
import type { ContainerRuntime, PortMap, Prober, RunningContainer } from "./ports.ts";
import { SimulatedContainer } from "./simulated-container.ts";

export interface PodContainersPorts {
	readonly clock: Clock;
	readonly log: Logger;
	readonly recorder: EventSink;
	readonly logs: ContainerLogs;
	/** Absent: probes are taken to succeed. */
	readonly prober?: Prober;
	/** Absent: every container is simulated. */
	readonly runtime?: ContainerRuntime;
	/** Between restarts of a container. Default: a kubelet's. */
	readonly restartBackOff?: BackOffLimits;
}

/** Whether a container of the Pod runs as a process. */
export function hasProcess({ spec }: Pod, { runtime }: PodContainersPorts): boolean {
	return runtime !== undefined && spec.containers.some((container) => runtime.runs(container));
}

/** Whether time alone cannot tell how the Pod is doing. */
export function hasOwnLife(pod: Pod, ports: PodContainersPorts): boolean {
	const isProbed = ports.prober !== undefined && pod.spec.containers.some((each) => probesOf(each).length > 0);
	return isProbed || hasProcess(pod, ports);
}

export class PodContainers {
	/** Ports of this machine by those of the Pod; undefined: it has no process. */
	readonly forwards: PortMap | undefined;
	readonly #lives: ReadonlyMap<string, ContainerLife>;
	readonly #startedMs: number;
	readonly #gone = new AbortController();

	private constructor(
		ports: PodContainersPorts,
		pod: Pod,
		place: PodPlace,
		about: { behaviour: Behaviour; startedMs: number; forwards: PortMap | undefined; changed: () => void },
	) {
		const { clock, prober, restartBackOff: backOff = RESTART_BACK_OFF, recorder } = ports;
		this.forwards = about.forwards;
		this.#startedMs = about.startedMs;
		const lifePorts = {
			clock,
			prober,
			backOff,
			changed: about.changed,
			start: (container: Container, isAgain: boolean) => {
				if (isAgain) logStartAgain(ports, pod, place, container);
				return this.#start(ports, pod, place, container, about.behaviour);
			},
			ended: (container: Container, exit: Termination, isAgain: boolean) =>
				logEnd(ports, pod, container, exit, isAgain),
			event: (type: "Normal" | "Warning", reason: string, message: string) =>
				recorder.record({ component: "kubelet", resource: PODS, object: pod, type, reason, message }),
		};
		const [ip = ""] = place.podIPs;
		this.#lives = new Map(
			pod.spec.containers.map((container) => [
				container.name,
				new ContainerLife(lifePorts, pod, ip, container, this.#gone.signal),
			]),
		);
		for (const life of this.#lives.values()) {
			life.live(about.startedMs).catch((error: unknown) => {
				ports.log.error("A container got lost", { pod: pod.metadata.name, error });
			});
		}
	}

	/** Starts them. `changed` is called whenever they have something new to tell. */
	static async start(
		ports: PodContainersPorts,
		pod: Pod,
		place: PodPlace,
		about: { behaviour: Behaviour; startedMs: number; changed: () => void },
	): Promise<PodContainers> {
		const { runtime } = ports;
		const processes = runtime === undefined ? [] : pod.spec.containers.filter((each) => runtime.runs(each));
		const found = await Promise.all(processes.map((container) => runtime?.ports(container) ?? {}));
		const forwards = processes.length === 0 ? undefined : Object.assign({}, ...found);
		return new PodContainers(ports, pod, place, { ...about, forwards });
	}

	get runs(): ContainerRuns {
		return new Map([...this.#lives].map(([name, life]) => [name, life.run]));
	}

	/** `byTime`: where the Pod would be without them. */
	stage(byTime: Stage): Stage {
		if (byTime.kind === "starting") return byTime;
		const terminations = [...this.#lives.values()].map(({ termination }) => termination);
		const ended = terminations.filter((each) => each !== undefined);
		if (ended.length === terminations.length) {
			return {
				kind: "ended",
				startedMs: this.#startedMs,
				endedMs: Math.max(...ended.map(({ endedMs }) => endedMs)),
				exitCode: ended.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0,
			};
		}
		if (byTime.kind === "running" || this.forwards === undefined) return byTime;
		// A process is over when it says so, not when its time is.
		return { kind: "running", startedMs: this.#startedMs, isReady: true };
	}

	/** The Pod is being deleted; a second time with an earlier deadline. */
	stop(deadlineMs: number): void {
		for (const life of this.#lives.values()) life.stop(deadlineMs, this.forwards !== undefined);
	}

	/** Its node stops looking after it: no probes, no restarts. */
	leave(): void {
		this.#gone.abort(GONE);
	}

	/** The Pod is gone: nothing of it goes on. */
	close(): void {
		this.leave();
		for (const life of this.#lives.values()) life.close();
	}

	#start(
		{ clock, runtime, logs }: PodContainersPorts,
		pod: Pod,
		{ podIPs, hostIPs }: PodPlace,
		container: Container,
		behaviour: Behaviour,
	): RunningContainer {
		if (runtime?.runs(container) !== true) return new SimulatedContainer(clock, behaviour, this.#gone.signal);
		const output = (text: string): void => {
			logs.append(pod.metadata.uid, container.name, { atMs: clock.wallMs(), text });
		};
		return runtime.start({ pod, container, podIPs, hostIPs, ports: this.forwards ?? {}, output });
	}
}

/** Of the last end of a Pod without a process its node tells, when its stage has come there. */
function logEnd(
	{ runtime, logs }: PodContainersPorts,
	{ metadata: { uid } }: Pod,
	container: Container,
	{ endedMs, exitCode }: Termination,
	isAgain: boolean,
): void {
	const isProcess = runtime?.runs(container) === true;
	if (!isProcess && !isAgain) return;
	if (!isProcess) logs.append(uid, container.name, { atMs: endedMs, text: `ended with exit code ${exitCode}` });
	logs.end(uid, container.name);
}

function logStartAgain(
	{ clock, runtime, logs }: PodContainersPorts,
	{ metadata: { uid } }: Pod,
	{ podIPs }: PodPlace,
	container: Container,
): void {
	logs.startAgain(uid, container.name);
	if (runtime?.runs(container) === true) return;
	logs.append(uid, container.name, { atMs: clock.wallMs(), text: startedText(podIPs) });
}

const GONE = new Error("the Pod is gone");
