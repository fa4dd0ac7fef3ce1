/** The shell blocks of the documents run as they stand. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeBlocks } from "../house/documents.ts";
import { kubectlVersions } from "./kubectl-versions.ts";
import { CACHE, finished, PROGRAM, RunningPlane } from "./plane.ts";

/** Set-up commands: CI runs them in a clean clone, where they are at home. */
const SET_UP = /^npm ci && npm (start|test)$/;

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

/** A folder as a user has it: a package with a test, and `npx sliceplane` and `kubectl` at hand. */
function userFolder(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-docs-"));
	writeFileSync(path.join(folder, "package.json"), JSON.stringify({ scripts: { test: "kubectl get nodes" } }));
	mkdirSync(path.join(folder, "bin"));
	symlinkSync(newest?.path ?? "", path.join(folder, "bin/kubectl"));
	writeFileSync(path.join(folder, "bin/npx"), `#!/bin/sh\nshift\nexec ${process.execPath} ${PROGRAM} "$@"\n`, {
		mode: 0o755,
	});
	return folder;
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
	test.each(alone)("$file:$line runs", async ({ code }) => {
		const { status, stderr } = await finished("bash", ["-ec", code], { env, cwd: folder });
		expect({ status, stderr }).toMatchObject({ status: 0 });
	});

	const inClone = codeBlocks().filter(({ info }) => info === "sh in-clone");
	test.each(inClone)("$file:$line runs in a clone", async ({ code }) => {
		const { status, stderr } = await finished("bash", ["-ec", code], {
			env: { ...env, KUBECONFIG: plane.kubeconfig },
			cwd: process.cwd(),
		});
		expect({ status, stderr }).toMatchObject({ status: 0 });
	});

	const inPlane = codeBlocks().filter(({ info }) => info === "sh in-plane");
	test.each(inPlane)("$file:$line runs inside a plane", async ({ code }) => {
		const { status, stderr } = await finished("bash", ["-ec", code], { env, cwd: plane.folder });
		expect({ status, stderr }).toMatchObject({ status: 0 });
	});
});
