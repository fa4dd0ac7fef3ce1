/** The life of one container that is probed, or a process: started, probed, restarted with back-off, stopped. */
import type { Container, Pod } from "../api/types/core.ts";
import type { Clock } from "../kernel/clock.ts";
import { isObject } from "../kernel/json.ts";
import {
	type BackOff,
	type BackOffLimits,
	backOffDelayMs,
	type ContainerPhase,
	type ContainerRun,
	isRestarted,
	nextBackOff,
	type Termination,
} from "../plan/pod-lifecycle/container-run.ts";
import { actionOf, type ProbeAction, type ProbeSpec, probesOf } from "../plan/pod-lifecycle/probe-spec.ts";
import { ContainerProber } from "./container-prober.ts";
import type { ProbeOutcome, Prober, RunningContainer } from "./ports.ts";

export interface ContainerLifePorts {
	readonly clock: Clock;
	/** undefined: its probes are taken to succeed. */
	readonly prober: Prober | undefined;
	readonly backOff: BackOffLimits;
	start(container: Container, isAgain: boolean): RunningContainer;
	/** A run is over; `isAgain`: another one follows. */
	ended(container: Container, exit: Termination, isAgain: boolean): void;
	event(type: "Normal" | "Warning", reason: string, message: string): void;
	/** `run` has changed. */
	changed(): void;
}

const GRACE_SECONDS = 30;
/** `Liveness probe failed`, as Events name them. */
const NAMES = { startup: "Startup", readiness: "Readiness", liveness: "Liveness" } as const;

export class ContainerLife {
	readonly #ports: ContainerLifePorts;
	readonly #pod: Pod;
	readonly #podKey: string;
	readonly #ip: string;
	readonly #container: Container;
	readonly #specs: readonly ProbeSpec[];
	/** Aborts when the Pod is gone. */
	readonly #gone: AbortSignal;
	/** Aborts when it is not started again: its Pod is being deleted, or gone. */
	readonly #stopping = new AbortController();
	#running: RunningContainer | undefined;
	#isKilled = false;
	#prober: ContainerProber | undefined;
	#phase: ContainerPhase;
	#last: Termination | undefined;
	#restarts = 0;
	#backOff: BackOff | undefined;
	#isOver = false;

	constructor(ports: ContainerLifePorts, pod: Pod, ip: string, container: Container, gone: AbortSignal) {
		this.#ports = ports;
		this.#pod = pod;
		this.#podKey = `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
		this.#ip = ip;
		this.#container = container;
		this.#specs = ports.prober === undefined ? [] : probesOf(container);
		this.#gone = gone;
		gone.addEventListener("abort", () => this.#stopping.abort(gone.reason), { once: true });
		this.#phase = { kind: "running", startedMs: ports.clock.wallMs() };
	}

	get run(): ContainerRun {
		return {
			phase: this.#phase,
			restartCount: this.#restarts,
			isStarted: this.#prober?.isStarted ?? true,
			isReady: this.#prober?.isReady ?? true,
			...(this.#last === undefined ? {} : { last: this.#last }),
		};
	}

	/** How it ended, once it will not be started again. */
	get termination(): Termination | undefined {
		return this.#isOver && this.#phase.kind === "ended" ? this.#phase.termination : undefined;
	}

	/** Resolves when it has ended and is not started again. */
	async live(startedMs: number): Promise<void> {
		let exit = await this.#runOnce(startedMs);
		while (this.#startsAgain(exit)) {
			this.#last = exit;
			await this.#waitForRestart(exit);
			if (this.#stopping.signal.aborted) break;
			this.#restarts++;
			exit = await this.#runOnce(this.#ports.clock.wallMs());
		}
		this.#phase = { kind: "ended", termination: exit };
		this.#isOver = true;
		this.#ports.changed();
	}

	#startsAgain(exit: Termination): boolean {
		const isAgain = !this.#stopping.signal.aborted && isRestarted(this.#pod, exit.exitCode);
		this.#ports.ended(this.#container, exit, isAgain);
		return isAgain;
	}

	/** Its Pod is being deleted. `isStopped`: it is told, and killed at the deadline; else time alone ends it. */
	stop(deadlineMs: number, isStopped: boolean): void {
		this.#prober?.stopRestarting();
		const isFirst = !this.#stopping.signal.aborted;
		this.#stopping.abort(STOPPED);
		if (!isStopped || this.#running === undefined) return;
		const graceMs = Math.max(0, deadlineMs - this.#ports.clock.wallMs());
		if (isFirst) void this.#kill(this.#running, `Stopping container ${this.#container.name}`, graceMs);
		else void this.#killAfter(this.#running, graceMs);
	}

	/** The Pod is gone, whatever it was. */
	close(): void {
		this.#running?.stop("SIGKILL");
	}

	async #runOnce(startedMs: number): Promise<Termination> {
		const probing = new AbortController();
		const end = (): void => probing.abort(this.#gone.reason);
		this.#gone.addEventListener("abort", end, { once: true });
		const running = this.#ports.start(this.#container, this.#restarts > 0);
		this.#running = running;
		this.#isKilled = false;
		this.#prober = new ContainerProber(this.#proberPorts(running), this.#specs, startedMs);
		this.#phase = { kind: "running", startedMs };
		this.#ports.changed();
		void this.#prober.run(this.#specs, probing.signal);
		const termination = { ...(await running.ended), startedMs, endedMs: this.#ports.clock.wallMs() };
		this.#running = undefined;
		this.#gone.removeEventListener("abort", end);
		probing.abort(ENDED);
		this.#phase = { kind: "ended", termination };
		this.#ports.changed();
		return termination;
	}

	async #waitForRestart({ endedMs }: Termination): Promise<void> {
		const { clock, backOff: limits } = this.#ports;
		const delayMs = backOffDelayMs(this.#backOff, limits, endedMs);
		if (delayMs > 0) {
			this.#phase = { kind: "backing-off", delayMs };
			const { name, namespace = "", uid } = this.#pod.metadata;
			const which = `${this.#container.name} in pod ${name}_${namespace}(${uid})`;
			this.#ports.event("Warning", "BackOff", `Back-off restarting failed container ${which}`);
			this.#ports.changed();
			await clock.sleep(delayMs, this.#stopping.signal).catch(() => undefined);
		}
		this.#backOff = nextBackOff(this.#backOff, limits, endedMs, clock.wallMs());
	}

	#proberPorts(running: RunningContainer): ConstructorParameters<typeof ContainerProber>[0] {
		const { clock, prober, changed } = this.#ports;
		const { name } = this.#container;
		return {
			clock,
			reachable: (signal) =>
				(this.#specs.length === 0 ? Promise.resolve() : prober?.reachable(this.#podKey, signal)) ?? Promise.resolve(),
			probe: ({ action, timeoutMs }, signal) => this.#act(running, action, timeoutMs, signal),
			failed: ({ kind }, message) =>
				this.#ports.event("Warning", "Unhealthy", `${NAMES[kind]} probe failed: ${message}`),
			changed,
			restart: ({ kind, graceMs }) => {
				const isAgain = this.#pod.spec.restartPolicy === "Never" ? "" : ", will be restarted";
				void this.#kill(running, `Container ${name} failed ${kind} probe${isAgain}`, graceMs ?? this.#podGraceMs);
			},
		};
	}

	get #podGraceMs(): number {
		return (this.#pod.spec.terminationGracePeriodSeconds ?? GRACE_SECONDS) * 1_000;
	}

	#act(running: RunningContainer, action: ProbeAction, timeoutMs: number, signal: AbortSignal): Promise<ProbeOutcome> {
		const { prober } = this.#ports;
		if (action.kind === "exec") return running.exec(action.command, signal);
		if (action.kind === "broken") return Promise.resolve({ isSuccess: false, message: action.message });
		if (prober === undefined) return Promise.resolve({ isSuccess: true, message: "" });
		return prober.probe({ ip: this.#ip, action, timeoutMs }, signal);
	}

	/** Its hook first, whose time is part of the grace; then SIGTERM, and SIGKILL when the grace is over. */
	async #kill(running: RunningContainer, message: string, graceMs: number): Promise<void> {
		if (this.#isKilled) return;
		this.#isKilled = true;
		this.#ports.event("Normal", "Killing", message);
		void this.#killAfter(running, graceMs);
		await this.#preStop(running, graceMs);
		running.stop("SIGTERM");
	}

	async #killAfter(running: RunningContainer, graceMs: number): Promise<void> {
		const { signal } = this.#untilOver(running);
		await this.#ports.clock.sleep(graceMs, signal).then(
			() => running.stop("SIGKILL"),
			() => undefined,
		);
	}

	/** Aborts when it has ended, or its Pod is gone: a container without a process does not end by that. */
	#untilOver(running: RunningContainer): AbortController {
		const over = new AbortController();
		const gone = (): void => over.abort(this.#gone.reason);
		if (this.#gone.aborted) gone();
		this.#gone.addEventListener("abort", gone, { once: true });
		void running.ended.then(() => {
			this.#gone.removeEventListener("abort", gone);
			over.abort(ENDED);
		});
		return over;
	}

	async #preStop(running: RunningContainer, graceMs: number): Promise<void> {
		const hook = this.#container.lifecycle?.["preStop"];
		if (!isObject(hook)) return;
		const { clock } = this.#ports;
		const over = this.#untilOver(running);
		const done = new AbortController();
		over.signal.addEventListener("abort", () => done.abort(ENDED), { once: true });
		void clock.sleep(graceMs, done.signal).then(
			() => over.abort(ENDED),
			() => undefined,
		);
		if (isObject(hook["sleep"])) {
			await clock.sleep(Number(hook["sleep"]["seconds"] ?? 0) * 1_000, over.signal).catch(() => undefined);
		} else {
			const { isSuccess, message } = await this.#act(running, actionOf(hook, this.#container), graceMs, over.signal);
			if (!isSuccess) this.#ports.event("Warning", "FailedPreStopHook", `PreStopHook failed: ${message}`);
		}
		done.abort(ENDED);
	}
}

const STOPPED = new Error("the Pod is being deleted");
const ENDED = new Error("the container has ended");
