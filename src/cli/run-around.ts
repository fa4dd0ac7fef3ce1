/** A command that runs inside a plane. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import path from "node:path";
import { SystemClock } from "../edge/system-clock.ts";
import { systemCode, systemReason } from "../edge/system-reason.ts";

/** What a shell reports for a command that a signal ended. */
const SIGNAL_STATUS = 128;
/** What a shell reports for a command that is there and cannot be started, and for one that is not there. */
export const NOT_EXECUTABLE_STATUS = 126;
export const NOT_FOUND_STATUS = 127;
/** A command that stays after its signal is killed. */
const KILL_MS = 10_000;

export interface Surroundings {
	readonly kubeconfig: string;
	/** More variables of the command's environment. */
	readonly env?: Readonly<Record<string, string>>;
	/** Aborts with the name of the signal that ended this program. */
	readonly stopping: AbortSignal;
	readonly killMs?: number;
}

/** Runs `cmd` with KUBECONFIG set; a signal to this program goes to the command. Resolves with its exit status. */
export function runAround(cmd: readonly string[], surroundings: Surroundings): Promise<number> {
	const { kubeconfig, env = {}, stopping, killMs = KILL_MS } = surroundings;
	if (stopping.aborted) return Promise.resolve(statusOf(stopping.reason));
	const [file = "", ...args] = cmd;
	return new Promise((resolve) => {
		const child = spawn(file, args, {
			stdio: "inherit",
			env: { ...process.env, ...env, KUBECONFIG: path.resolve(kubeconfig) },
		});
		const ended = new AbortController();
		const pass = (): void => {
			child.kill(stopping.reason as NodeJS.Signals);
			new SystemClock().sleep(killMs, ended.signal).then(
				() => child.kill("SIGKILL"),
				() => undefined,
			);
		};
		stopping.addEventListener("abort", pass, { once: true });
		child.once("error", (error) => {
			process.stderr.write(`error: cannot run ${file}: ${systemReason(error)}\n`);
			resolve(systemCode(error) === "ENOENT" ? NOT_FOUND_STATUS : NOT_EXECUTABLE_STATUS);
		});
		child.once("exit", (status, signal) => {
			stopping.removeEventListener("abort", pass);
			ended.abort();
			resolve(status ?? statusOf(signal ?? "SIGKILL"));
		});
	});
}

export function statusOf(signal: NodeJS.Signals): number {
	return SIGNAL_STATUS + constants.signals[signal];
}
