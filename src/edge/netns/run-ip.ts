/** The program `ip` of iproute2. */
import { spawn } from "node:child_process";
import { systemReason } from "../system-reason.ts";

/** Where packages put it; users' PATHs often lack the system's folders. */
const SYSTEM_FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin";

/** PATH with the folders of the system's programs. */
export function systemPath(): string {
	const path = process.env["PATH"] ?? "";
	return path === "" ? `${SYSTEM_FOLDERS}:/usr/bin:/bin` : `${path}:${SYSTEM_FOLDERS}`;
}

/** Carries out the lines in one go, in this network namespace or that one. Rejects with what `ip` says of the first that fails. */
export function runIp(lines: readonly string[], namespace?: string): Promise<void> {
	return run(namespace === undefined ? ["-batch", "-"] : ["-n", namespace, "-batch", "-"], lines);
}

/** As {@link runIp}, and goes on after lines that fail: what is to be removed may be gone already. */
export function tryIp(lines: readonly string[], namespace?: string): Promise<void> {
	const place = namespace === undefined ? [] : ["-n", namespace];
	return run([...place, "-force", "-batch", "-"], lines).catch(() => undefined);
}

function run(args: readonly string[], lines: readonly string[]): Promise<void> {
	if (lines.length === 0) return Promise.resolve();
	return new Promise((resolve, reject) => {
		const child = spawn("ip", [...args], {
			stdio: ["pipe", "ignore", "pipe"],
			env: { PATH: systemPath(), LC_ALL: "C" },
		});
		let said = "";
		child.stderr?.on("data", (chunk) => {
			said += String(chunk);
		});
		child.once("error", (error) => reject(new Error(`cannot run ip: ${systemReason(error)}`)));
		child.once("close", (status) => {
			if (status === 0) return resolve();
			// Of `Command failed -:3` the number is that of the line.
			const [, number] = /Command failed -:(\d+)/.exec(said) ?? [];
			const line = number === undefined ? "" : ` (ip ${lines[Number(number) - 1] ?? ""})`;
			reject(new Error(`${said.split("\n")[0] ?? ""}${line}`));
		});
		child.stdin?.on("error", () => undefined);
		child.stdin?.end(`${lines.join("\n")}\n`);
	});
}
