/** First traffic: node ports on this machine, answered by simulated pods. */
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubectlVersions } from "./kubectl-versions.ts";
import { freeNodePort, get } from "./node-ports.ts";
import { eventually, type Finished, RunningPlane } from "./plane.ts";

const newest = (await kubectlVersions()).at(-1);
const isMissing = newest === undefined || newest.missing !== undefined;

describe.skipIf(isMissing)("a node port", () => {
	let plane: RunningPlane;
	let port: number;
	const kubectl = (...args: string[]): Promise<Finished> => plane.kubectl(newest?.path ?? "", args);
	const twenty = async (): Promise<Set<string>> =>
		new Set(await Promise.all(Array.from({ length: 20 }, () => get(port, "/hostname"))));

	beforeAll(async () => {
		plane = await RunningPlane.start();
		port = await freeNodePort();
		await kubectl("create", "deployment", "shop", "--image=shop:1", "--replicas=3");
		await kubectl("create", "service", "nodeport", "shop", "--tcp=80:8080", `--node-port=${port}`);
		await kubectl("rollout", "status", "deployment/shop", "--timeout=30s");
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer.startsWith("shop-"),
		);
	});
	afterAll(async () => {
		await plane?.stop();
	});

	test("spreads fresh connections over the pods", async () => {
		const names = await twenty();
		expect(names.size).toBeGreaterThanOrEqual(2);
		for (const name of names) expect(name.trim()).toMatch(/^shop-\w+-\w{5}$/);
	});

	test("loses no request while a new version is rolled out", async () => {
		await kubectl("set", "image", "deployment/shop", "shop=shop:2");
		const rollout = kubectl("rollout", "status", "deployment/shop", "--timeout=60s");
		const answers: string[] = [];
		let isOver = false;
		void rollout.then(() => {
			isOver = true;
		});
		while (!isOver) answers.push((await get(port, "/hostname")).trim());
		expect(answers.filter((answer) => !/^shop-\w+-\w{5}$/.test(answer))).toEqual([]);
		expect(await rollout).toMatchObject({ status: 0 });
	});

	test("refuses, and does not hang, when there is no endpoint, and answers again later", async () => {
		await kubectl("scale", "deployment/shop", "--replicas=0");
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer === "ECONNREFUSED",
		);
		await kubectl("scale", "deployment/shop", "--replicas=2");
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer.startsWith("shop-"),
		);
	});

	test("that another program has taken is reported, and opened once it is free", async () => {
		await kubectl("scale", "deployment/shop", "--replicas=0");
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer === "ECONNREFUSED",
		);
		const other = createServer();
		await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
		await kubectl("scale", "deployment/shop", "--replicas=1");
		const events = (): Promise<Finished> =>
			kubectl("get", "events", "--field-selector=involvedObject.name=shop", "-o", "name", "--no-headers");
		await eventually(
			async () => (await kubectl("describe", "service", "shop")).stdout,
			(text) => /Warning +FailedToListen/.test(text),
		);
		expect((await events()).status).toBe(0);
		await new Promise((resolve) => other.close(resolve));
		await eventually(
			() => get(port, "/hostname"),
			(answer) => answer.startsWith("shop-"),
		);
	});
});
