/** Runs the probes of one container, from its start to its end. */
import type { Clock } from "../kernel/clock.ts";
import type { ProbeSpec } from "../plan/pod-lifecycle/probe-spec.ts";
import { afterOutcome, asksForRestart, initialProbeState, type ProbeState } from "../plan/pod-lifecycle/probe-state.ts";
import type { ProbeOutcome } from "./ports.ts";

export interface ContainerProberPorts {
	readonly clock: Clock;
	/** Resolves when the container can be reached. */
	reachable(signal: AbortSignal): Promise<void>;
	probe(spec: ProbeSpec, signal: AbortSignal): Promise<ProbeOutcome>;
	failed(spec: ProbeSpec, message: string): void;
	/** `isStarted` or `isReady` has changed. */
	changed(): void;
	/** The container must be started again; it is probed no more. */
	restart(spec: ProbeSpec): void;
}

export class ContainerProber {
	readonly #ports: ContainerProberPorts;
	readonly #startedMs: number;
	readonly #hasStarted: Promise<void>;
	#start: () => void = () => undefined;
	#isStarted: boolean;
	#isReady: boolean;
	#isStopping = false;

	/** @param startedMs When the container was started, in wall milliseconds. */
	constructor(ports: ContainerProberPorts, specs: readonly ProbeSpec[], startedMs: number) {
		this.#ports = ports;
		this.#startedMs = startedMs;
		this.#isStarted = !specs.some(({ kind }) => kind === "startup");
		this.#isReady = !specs.some(({ kind }) => kind === "readiness");
		this.#hasStarted = this.#isStarted
			? Promise.resolve()
			: new Promise((resolve) => {
					this.#start = resolve;
				});
	}

	get isStarted(): boolean {
		return this.#isStarted;
	}

	get isReady(): boolean {
		return this.#isStarted && this.#isReady;
	}

	/** Probes until `signal` aborts. Never rejects for that. */
	async run(specs: readonly ProbeSpec[], signal: AbortSignal): Promise<void> {
		try {
			await this.#ports.reachable(signal);
			await Promise.all(specs.map((spec) => this.#repeat(spec, signal)));
		} catch (error) {
			if (!signal.aborted) throw error;
		}
	}

	/** The Pod terminates: nothing is restarted any more, only readiness still matters. */
	stopRestarting(): void {
		this.#isStopping = true;
		this.#markStarted();
	}

	async #repeat(spec: ProbeSpec, signal: AbortSignal): Promise<void> {
		const { clock } = this.#ports;
		await clock.sleep(Math.max(0, this.#startedMs + firstDelayMs(spec) - clock.wallMs()), signal);
		if (spec.kind !== "startup") await this.#hasStarted;
		let state = initialProbeState(spec.kind);
		let dueMs = clock.monotonicMs();
		while (!signal.aborted && (spec.kind === "readiness" || !this.#isStopping)) {
			const outcome = await this.#probeWithin(spec, signal);
			if (signal.aborted || (this.#isStopping && spec.kind !== "readiness")) return;
			state = afterOutcome(state, spec, outcome.isSuccess);
			if (!outcome.isSuccess) this.#ports.failed(spec, outcome.message);
			if (this.#isDone(spec, state)) return;
			// A slow answer does not shift the ticks; those that have passed meanwhile are left out.
			const nowMs = clock.monotonicMs();
			dueMs += spec.periodMs * Math.max(1, Math.ceil((nowMs - dueMs) / spec.periodMs));
			await clock.sleep(dueMs - nowMs, signal);
		}
	}

	/** Takes the result in; whether it was the last one of this probe. */
	#isDone(spec: ProbeSpec, state: ProbeState): boolean {
		if (asksForRestart(spec.kind, state)) {
			this.#ports.restart(spec);
			return true;
		}
		if (spec.kind === "readiness" && this.#isReady !== state.isPassing) {
			this.#isReady = state.isPassing === true;
			this.#ports.changed();
		}
		if (spec.kind !== "startup" || state.isPassing !== true) return false;
		this.#markStarted();
		return true;
	}

	#markStarted(): void {
		if (this.#isStarted) return;
		this.#isStarted = true;
		this.#start();
		this.#ports.changed();
	}

	async #probeWithin(spec: ProbeSpec, signal: AbortSignal): Promise<ProbeOutcome> {
		const over = new AbortController();
		const done = new AbortController();
		const end = (): void => over.abort(signal.reason);
		signal.addEventListener("abort", end, { once: true });
		void this.#ports.clock.sleep(spec.timeoutMs, done.signal).then(
			() => over.abort(new Error("timeout")),
			() => undefined,
		);
		const outcome = await this.#ports.probe(spec, over.signal);
		signal.removeEventListener("abort", end);
		done.abort();
		return outcome;
	}
}

/** As in a kubelet, startup and readiness are asked for at once, and liveness at its first tick. */
function firstDelayMs({ kind, initialDelayMs, periodMs }: ProbeSpec): number {
	return kind === "liveness" ? Math.max(initialDelayMs, periodMs) : initialDelayMs;
}
