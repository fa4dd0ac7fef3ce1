/** A rolling update under load from a client's network namespace, where every node is one. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SERVICES } from "../../src/api/resource-names.ts";
import type { TrafficFaults } from "../../src/wiring/data-plane-messages.ts";
import { eventually, finished, PROGRAM } from "../e2e/plane.ts";
import { BuiltPlane } from "./built-plane.ts";
import { deployment, shopService } from "./manifests.ts";
import type { LoadReport } from "./open-loop.ts";

const LOAD = fileURLToPath(new URL("../netns/load.mjs", import.meta.url));
const PER_SECOND = 200;
const NODE_PORT = 30_080;
/** In flight long enough that some are when their Pod begins to terminate. */
const PATH = "/delay?ms=50";
/** The load goes on so long after the last Pod has gone. */
const AFTER_MS = 500;

/** So many Pods, and their image changed once. */
export async function rollInNamespaces(replicas: number, trafficFaults: TrafficFaults = {}): Promise<LoadReport> {
	const plane = await BuiltPlane.start({ nodes: 3, network: "netns", trafficFaults });
	try {
		const shop = { name: "shop", replicas };
		await plane.apply(shopService({ type: "NodePort" }, NODE_PORT), deployment({ ...shop, image: "shop:1" }));
		await plane.rolledOut("part=shop", "shop:1", replicas);
		const { spec } = await plane.client.get(SERVICES, { namespace: "default", name: "shop" });
		const ways = [
			`http://${spec.clusterIP}${PATH}`,
			`kept+http://${spec.clusterIP}${PATH}`,
			`http://192.168.0.2:${NODE_PORT}${PATH}`,
			`kept+http://shop.default.svc.cluster.local${PATH}`,
		];
		const { kubeconfig } = plane.plane;
		for (const way of ways) await answers(kubeconfig, way.replace("kept+", ""));
		const load = await startLoad(kubeconfig, ways);
		await plane.apply(deployment({ ...shop, image: "shop:2" }));
		await plane.rolledOut("part=shop", "shop:2", replicas);
		await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
		return await load();
	} finally {
		await plane.stop();
	}
}

function exec(kubeconfig: string, ...cmd: readonly string[]): string[] {
	return [PROGRAM, "exec", "--kubeconfig", kubeconfig, "--node", "n1", "--", ...cmd];
}

async function answers(kubeconfig: string, url: string): Promise<void> {
	await eventually(
		() => finished(process.execPath, exec(kubeconfig, "curl", "-sSfm2", url)),
		({ status }) => status === 0,
		{ what: `no answer at ${url}` },
	);
}

/** Returns how to end it, and hear how it went. */
async function startLoad(kubeconfig: string, ways: readonly string[]): Promise<() => Promise<LoadReport>> {
	const [file = "", ...args] = exec(kubeconfig, process.execPath, LOAD, String(PER_SECOND), ...ways);
	const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"] });
	let said = "";
	child.stdout.on("data", (chunk) => {
		said += String(chunk);
	});
	await eventually(
		() => Promise.resolve(said),
		(text) => text.startsWith("started"),
	);
	const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
	return async () => {
		child.stdin.end();
		await ended;
		return JSON.parse(said.split("\n")[1] ?? "") as LoadReport;
	};
}
