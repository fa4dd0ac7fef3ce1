/** A command in a network namespace. */
import { spawn } from "node:child_process";
import { findProgram } from "../edge/find-program.ts";
import { systemPath } from "../edge/netns/run-ip.ts";
import { systemReason } from "../edge/system-reason.ts";
import { NOT_EXECUTABLE_STATUS, NOT_FOUND_STATUS, statusOf } from "./run-around.ts";

/** Each goes to the command; SIGINT and SIGQUIT of a terminal come to it anyway. */
const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const OF_TERMINAL = new Set<string>(["SIGINT", "SIGQUIT"]);

/** Resolves with its exit status; never rejects. */
export function runInside(namespace: string, cmd: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
	const [file = "", ...args] = cmd;
	const found = file.includes("/") ? file : findProgram(file, env["PATH"] ?? "");
	if (found === undefined) {
		process.stderr.write(`error: cannot run ${file}: no such program in PATH\n`);
		return Promise.resolve(NOT_FOUND_STATUS);
	}
	const ip = findProgram("ip", systemPath()) ?? "ip";
	return new Promise((resolve) => {
		// It replaces itself by the command: signals and the status are the command's own.
		const child = spawn(ip, ["netns", "exec", namespace, found, ...args], { stdio: "inherit", env });
		const passed = SIGNALS.map((signal) => {
			const pass = (): void => {
				if (!(OF_TERMINAL.has(signal) && process.stdin.isTTY)) child.kill(signal);
			};
			process.on(signal, pass);
			return () => process.off(signal, pass);
		});
		const end = (status: number): void => {
			for (const stop of passed) stop();
			resolve(status);
		};
		child.once("error", (error) => {
			process.stderr.write(`error: cannot run ip: ${systemReason(error)}\n`);
			end(NOT_EXECUTABLE_STATUS);
		});
		child.once("exit", (status, signal) => end(status ?? statusOf(signal ?? "SIGKILL")));
	});
}
