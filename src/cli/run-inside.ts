/** A command in a network namespace. */
import { spawn } from "node:child_process";
import { findProgram } from "../edge/find-program.ts";
import { systemPath } from "../edge/netns/run-ip.ts";
import { systemReason } from "../edge/system-reason.ts";
import type { ClientPod } from "../wiring/open-client-pod.ts";
import { NOT_EXECUTABLE_STATUS, NOT_FOUND_STATUS, statusOf } from "./run-around.ts";

/** Each goes to the command; SIGINT and SIGQUIT of a terminal come to it anyway. */
const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const OF_TERMINAL = new Set<string>(["SIGINT", "SIGQUIT"]);

/** `ip` gives the command mounts of its own: nobody else sees this one. */
const WITH_RESOLVER = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';

/** Resolves with its exit status; never rejects. */
export function runInside(
	{ name, resolvConf }: Pick<ClientPod, "name" | "resolvConf">,
	cmd: readonly string[],
	env: NodeJS.ProcessEnv,
): Promise<number> {
	const [file = "", ...args] = cmd;
	const found = file.includes("/") ? file : findProgram(file, env["PATH"] ?? "");
	if (found === undefined) {
		process.stderr.write(`error: cannot run ${file}: no such program in PATH\n`);
		return Promise.resolve(NOT_FOUND_STATUS);
	}
	const ip = findProgram("ip", systemPath()) ?? "ip";
	return new Promise((resolve) => {
		// Each replaces itself by the next: signals and the status are the command's own.
		const words = ["netns", "exec", name, "/bin/sh", "-c", WITH_RESOLVER, "sh", resolvConf, found, ...args];
		const child = spawn(ip, words, { stdio: "inherit", env });
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
