/**
 * A day's kubectl commands: every version that people use prints the same, and ends with the same status.
 * `vitest -u` writes what the versions print anew.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { replayed } from "../../src/testing/golden.ts";
import { kubectlVersions } from "./kubectl-versions.ts";
import { finished, RunningPlane } from "./plane.ts";

const FOLDER = path.join(import.meta.dirname, "everyday");
const COMMANDS = path.join(FOLDER, "commands.txt");

const MASKS: readonly (readonly [RegExp, string])[] = [
	[/\b(web|one)-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g, "$1-HASH-NAME"],
	[/\b(web)-[a-z0-9]{6,10}\b/g, "$1-HASH"],
	[/\b\d{1,3}(\.\d{1,3}){3}\b/g, "IP"],
	[/\b(\d+m)?\d+s\b(?!")/g, "AGE"],
	[/ n\d /g, " NODE "],
	[/ {2,}/g, "  "],
	[/[ \t]+$/gm, ""],
	[/^\n/gm, ""],
];

function masked(text: string): string {
	return MASKS.reduce((rest, [pattern, mask]) => rest.replace(pattern, mask), text);
}

/** Without what hangs on chance: the order of random names, the steps that a watch happened to see. */
function settled(command: string, text: string): string {
	const lines = text.trim().split("\n");
	if (command.includes("rollout status")) return lines.slice(-1).join();
	if (command.includes("drain")) return lines.filter((line) => line.startsWith("node/")).join("\n");
	return / -o name| --no-headers/.test(command) ? lines.sort().join("\n") : text;
}

describe.each(await kubectlVersions(28, 30, 32, 33, 35))("$name", ({ path: binary, missing }) => {
	test.skipIf(missing !== undefined)("prints what the day's commands print", { timeout: 300_000 }, async () => {
		const plane = await RunningPlane.start(["--nodes", "2"]);
		const home = mkdtempSync(path.join(tmpdir(), "sliceplane-home-"));
		const run = async (command: string): Promise<string> => {
			const env = { ...process.env, HOME: home, KUBECONFIG: plane.kubeconfig };
			const { status, stdout, stderr } = await finished(binary, command.split(" ").slice(1), { env, cwd: FOLDER });
			const shown = settled(command, masked(stdout + stderr));
			return status === 0 ? shown : `${shown.trimEnd()}\nexit ${status}`;
		};
		try {
			await expect(await replayed(readFileSync(COMMANDS, "utf8"), run)).toMatchFileSnapshot(COMMANDS);
		} finally {
			await plane.stop();
			rmSync(home, { recursive: true, force: true });
		}
	});
});
