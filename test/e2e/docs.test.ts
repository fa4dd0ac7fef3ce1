/** The shell blocks of the documents run as they stand. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CodeBlock, codeBlocks } from "../house/documents.ts";
import { kubectlVersions } from "./kubectl-versions.ts";
import { CACHE, eventually, PROGRAM, RunningPlane } from "./plane.ts";

/** Set-up commands: CI runs them in a clean clone, where they are at home. */
const SET_UP = /^npm ci && npm (start|test)$/;

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

/** A folder as a user has it: a package with a test, and `npx sliceplane` and `kubectl` at hand. */
function userFolder(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-docs-"));
	writeFileSync(path.join(folder, "package.json"), JSON.stringify({ scripts: { test: "kubectl get nodes" } }));
	mkdirSync(path.join(folder, "bin"));
	mkdirSync(path.join(folder, "node_modules/.bin"), { recursive: true });
	symlinkSync(PROGRAM, path.join(folder, "node_modules/.bin/sliceplane"));
	symlinkSync(newest?.path ?? "", path.join(folder, "bin/kubectl"));
	// No exec: npx is a process of its own, which ends by a signal and passes it on to nobody.
	writeFileSync(path.join(folder, "bin/npx"), `#!/bin/sh\nshift\n${process.execPath} ${PROGRAM} "$@"\nexit $?\n`, {
		mode: 0o755,
	});
	return folder;
}

/** In the environment of all that a block has started, for as long as it runs. */
const MARK = "SLICEPLANE_DOCS_BLOCK";

/** Command lines of what still runs. Without /proc, as on systems that are no Linux, none is found. */
function leftBy(block: string): readonly string[] {
	if (!existsSync("/proc/self/environ")) return [];
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.flatMap((pid) => {
			try {
				const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
				if (!variables.includes(`${MARK}=${block}`)) return [];
				return [`${pid}: ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
			} catch {
				// It has ended meanwhile, or is somebody else's.
				return [];
			}
		});
}

/** Ends with status 0, and leaves nothing that runs. */
async function runs({ file, line, code }: CodeBlock, env: NodeJS.ProcessEnv, cwd: string): Promise<void> {
	const block = `${process.pid} ${file}:${line}`;
	const shell = spawn("bash", ["-ec", code], {
		env: { ...env, [MARK]: block },
		cwd,
		stdio: ["ignore", "ignore", "pipe"],
	});
	let stderr = "";
	shell.stderr.on("data", (chunk) => {
		stderr += String(chunk);
	});
	try {
		// Not its "close": what is left keeps stderr open.
		const [status] = await once(shell, "exit");
		expect({ status, stderr }).toMatchObject({ status: 0 });
		const isNone = (left: readonly string[]): boolean => left.length === 0;
		await eventually(async () => leftBy(block), isNone, { what: "left running", withinMs: 5_000 });
	} finally {
		for (const text of leftBy(block)) process.kill(Number.parseInt(text, 10), "SIGKILL");
		shell.stderr.destroy();
	}
}

describe.skipIf(isMissing)("shell blocks", () => {
	const folder = isMissing ? "" : userFolder();
	const env = {
		...process.env,
		PATH: `${path.join(folder, "bin")}:${process.env["PATH"]}`,
		HOME: folder,
		XDG_CACHE_HOME: CACHE,
	};
	let plane: RunningPlane;
	beforeAll(async () => {
		plane = await RunningPlane.start();
		mkdirSync(path.join(plane.folder, ".sliceplane"));
		symlinkSync(plane.kubeconfig, path.join(plane.folder, ".sliceplane/kubeconfig"));
	});
	afterAll(async () => {
		await plane.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	const alone = codeBlocks().filter(({ info, code }) => info === "sh" && !SET_UP.test(code.trim()));
	test.each(alone)("$file:$line runs, and leaves nothing running", (block) => runs(block, env, folder));

	const inClone = codeBlocks().filter(({ info }) => info === "sh in-clone");
	test.each(inClone)("$file:$line runs in a clone, and leaves nothing running", (block) =>
		runs(block, { ...env, KUBECONFIG: plane.kubeconfig }, process.cwd()),
	);

	const inPlane = codeBlocks().filter(({ info }) => info === "sh in-plane");
	test.each(inPlane)("$file:$line runs inside a plane, and leaves nothing running", (block) =>
		runs(block, env, plane.folder),
	);
});
