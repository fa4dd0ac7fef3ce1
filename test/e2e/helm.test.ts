/** helm 3 on a plane: a chart with a Deployment, a Service and a hook, through its whole life. */
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error A script without types: resolves with the path of the program.
import { helmPath } from "../../scripts/fetch-kubectl.mjs";
import { type Finished, finished, RunningPlane } from "./plane.ts";

const CHART = path.join(import.meta.dirname, "chart");
const helm: { readonly path: string; readonly missing?: string } = await helmPath().then(
	(file: string) => ({ path: file }),
	(error: Error) => ({ path: "", missing: error.message }),
);
if (helm.missing !== undefined) process.stderr.write(`skipped: helm: ${helm.missing.split("\n")[0]}\n`);

let plane: RunningPlane;
beforeAll(async () => {
	if (helm.missing === undefined) plane = await RunningPlane.start(["--nodes", "2"]);
});
afterAll(() => plane?.stop());

function run(...args: readonly string[]): Promise<Finished> {
	const env = { ...process.env, HOME: path.join(plane.folder, "helm"), KUBECONFIG: plane.kubeconfig };
	return finished(helm.path, args, { env, cwd: plane.folder });
}

async function colorOfPods(): Promise<string> {
	const { stdout } = await run("get", "manifest", "shop");
	return /color: (\w+)/.exec(stdout)?.[1] ?? "";
}

test.skipIf(helm.missing !== undefined)("helm installs, upgrades, rolls back and uninstalls", async () => {
	const wait = ["--wait", "--timeout", "60s"];
	expect(await run("install", "shop", CHART, ...wait)).toMatchObject({ status: 0, stderr: "" });
	expect(await colorOfPods()).toBe("blue");

	const upgrade = await run("upgrade", "shop", CHART, "--set", "color=red,replicas=3", ...wait);
	expect(upgrade).toMatchObject({ status: 0, stderr: "" });
	expect(await colorOfPods()).toBe("red");

	expect(await run("rollback", "shop", "1", ...wait)).toMatchObject({ status: 0, stderr: "" });
	expect(await colorOfPods()).toBe("blue");

	const history = JSON.parse((await run("history", "shop", "-o", "json")).stdout) as { status: string }[];
	expect(history.map(({ status }) => status)).toEqual(["superseded", "superseded", "deployed"]);

	expect(await run("uninstall", "shop", ...wait)).toMatchObject({ status: 0, stderr: "" });
	expect((await run("list", "-q", "--all")).stdout).toBe("");
});
