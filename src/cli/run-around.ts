/** A command that runs inside a plane. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import path from "node:path";
import type { Plane } from "../wiring/start-plane.ts";

/** What a shell reports for a command that a signal ended. */
const SIGNAL_STATUS = 128;
/** What a shell reports for a command that cannot be started. */
const NOT_FOUND_STATUS = 127;

/** Runs `cmd` with KUBECONFIG set; a signal to this program goes to the command. Resolves with its exit status. */
export function runAround(cmd: readonly string[], plane: Plane, stopping: AbortSignal): Promise<number> {
	const [file = "", ...args] = cmd;
	return new Promise((resolve) => {
		const child = spawn(file, args, {
			stdio: "inherit",
			env: { ...process.env, KUBECONFIG: path.resolve(plane.kubeconfig) },
		});
		const pass = (): void => {
			child.kill("SIGTERM");
		};
		stopping.addEventListener("abort", pass, { once: true });
		child.once("error", (error) => {
			process.stderr.write(`error: cannot run ${file}: ${error.message}\n`);
			resolve(NOT_FOUND_STATUS);
		});
		child.once("exit", (status, signal) => {
			stopping.removeEventListener("abort", pass);
			resolve(status ?? SIGNAL_STATUS + (signal === null ? 0 : constants.signals[signal]));
		});
	});
}
