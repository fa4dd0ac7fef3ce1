import { once } from "node:events";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { builtScript } from "./built-script.ts";

test.skipIf(process.platform !== "linux")("a thread that steps behind leaves the others as they were", async () => {
	const script = builtScript(import.meta.url, "./thread-priority.js");
	const code = `
		const { readlinkSync } = require("node:fs");
		const { getPriority } = require("node:os");
		const { parentPort } = require("node:worker_threads");
		import(${JSON.stringify(script.href)}).then(({ stepBehind }) => {
			stepBehind();
			parentPort.postMessage(getPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1))));
		});`;
	const before = getPriority();
	const worker = new Worker(code, { eval: true });
	const [priority] = await once(worker, "message");
	await worker.terminate();
	expect(priority).toBeGreaterThan(before);
	expect(getPriority()).toBe(before);
});
