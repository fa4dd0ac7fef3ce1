/** A container without a process: it runs until it is stopped, and every command in it succeeds. */
import type { Clock } from "../kernel/clock.ts";
import type { Behaviour } from "../plan/pod-lifecycle/behaviour.ts";
import { KILLED_EXIT_CODE } from "../plan/pod-lifecycle/stage.ts";
import type { ContainerExit, ProbeOutcome, RunningContainer } from "./ports.ts";

export class SimulatedContainer implements RunningContainer {
	readonly ended: Promise<ContainerExit>;
	readonly #clock: Clock;
	readonly #behaviour: Pick<Behaviour, "stopMs" | "exitCode">;
	readonly #signal: AbortSignal;
	#end: (exit: ContainerExit) => void = () => undefined;

	constructor(clock: Clock, behaviour: Pick<Behaviour, "stopMs" | "exitCode">, signal: AbortSignal) {
		this.#clock = clock;
		this.#behaviour = behaviour;
		this.#signal = signal;
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
	}

	stop(how: "SIGTERM" | "SIGKILL"): void {
		const { stopMs, exitCode } = this.#behaviour;
		if (how === "SIGKILL") this.#end({ exitCode: KILLED_EXIT_CODE });
		else if (stopMs !== undefined) {
			this.#clock.sleep(stopMs, this.#signal).then(
				() => this.#end({ exitCode }),
				() => undefined,
			);
		}
	}

	exec(): Promise<ProbeOutcome> {
		return Promise.resolve({ isSuccess: true, message: "" });
	}
}
