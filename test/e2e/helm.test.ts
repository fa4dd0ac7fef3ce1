/** helm 3 and 4 on a plane: a chart with a Deployment, a Service and a hook, through its whole life. */
import path from "node:path";
import { AppsV1Api, KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error A script without types: resolves with the path of the program.
import { helmPath } from "../../scripts/fetch-kubectl.mjs";
import { type Finished, finished, RunningPlane } from "./plane.ts";

const CHART = path.join(import.meta.dirname, "chart");
interface Helm {
	readonly major: number;
	readonly path: string;
	readonly missing?: string;
}

const helms: readonly Helm[] = await Promise.all(
	[3, 4].map((major) =>
		helmPath(major).then(
			(file: string): Helm => ({ major, path: file }),
			(error: Error): Helm => ({ major, path: "", missing: error.message }),
		),
	),
);
for (const { major, missing } of helms) {
	if (missing !== undefined) process.stderr.write(`skipped: helm ${major}: ${missing.split("\n")[0]}\n`);
}

function appsOf(plane: RunningPlane): AppsV1Api {
	const config = new KubeConfig();
	config.loadFromFile(plane.kubeconfig);
	return config.makeApiClient(AppsV1Api);
}

describe.each(helms)("helm $major", ({ major, path: program, missing }) => {
	let plane: RunningPlane;
	beforeAll(async () => {
		if (missing === undefined) plane = await RunningPlane.start(["--nodes", "2"]);
	});
	afterAll(() => plane?.stop());

	function run(...args: readonly string[]): Promise<Finished> {
		const env = { ...process.env, HOME: path.join(plane.folder, "helm"), KUBECONFIG: plane.kubeconfig };
		return finished(program, args, { env, cwd: plane.folder });
	}

	async function colorOfPods(): Promise<string> {
		const { stdout } = await run("get", "manifest", "shop");
		return /color: (\w+)/.exec(stdout)?.[1] ?? "";
	}

	test.skipIf(missing !== undefined)("installs, upgrades, rolls back and uninstalls", async () => {
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
		// helm 4 applies on the server, as itself.
		const { items } = await appsOf(plane).listNamespacedDeployment({ namespace: "default" });
		const applied = items[0]?.metadata?.managedFields?.filter(({ operation }) => operation === "Apply");
		expect(applied?.map(({ manager }) => manager)).toEqual(major >= 4 ? ["helm"] : []);

		expect(await run("uninstall", "shop", ...wait)).toMatchObject({ status: 0, stderr: "" });
		expect((await run("list", "-q", "--all")).stdout).toBe("");
	});
});
