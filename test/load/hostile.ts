/** A plane that is sent hostile requests by another process. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { finished, type RunningPlane } from "../e2e/plane.ts";
import { send } from "../e2e/raw-requests.ts";

const SENDER = path.join(path.dirname(fileURLToPath(import.meta.url)), "../hostile/send.mjs");
const ROLE_BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
const SERVICES = "/api/v1/namespaces/default/services";
/** Kinds that the requests try to make or change. */
const LOOKED_AT = ["services", "endpoints", "configmaps", "pods", "secrets"];

export interface HostileRun {
	/** A line of JSON for each request that was not answered as it must be. */
	readonly wrong: readonly string[];
	readonly sent: number;
}

/** What the requests are sent against. */
export async function keepService(plane: RunningPlane): Promise<void> {
	const body = JSON.stringify({ metadata: { name: "kept" }, spec: { ports: [{ port: 80 }] } });
	await send(plane, { method: "POST", path: SERVICES, body, contentType: "application/json" });
	const admin = JSON.stringify({
		metadata: { name: "hostile-admin" },
		subjects: [{ kind: "User", name: "hostile-admin" }],
		roleRef: { kind: "ClusterRole", name: "admin" },
	});
	await send(plane, { method: "POST", path: ROLE_BINDINGS, body: admin, contentType: "application/json" });
}

export async function sentHostile(plane: RunningPlane, seed: number, count: number): Promise<HostileRun> {
	const [, gateway = ""] = /Gateway at ([\d.:]+)/.exec(plane.stderr) ?? [];
	const args = ["--kubeconfig", plane.kubeconfig, "--gateway", gateway, "--seed", `${seed}`, "--count", `${count}`];
	const { stdout, stderr, status } = await finished(process.execPath, [SENDER, ...args]);
	if (status !== 0) throw new Error(`the sender ended with ${status}: ${stderr}`);
	const lines = stdout.trim().split("\n");
	return { wrong: lines.slice(0, -1), sent: JSON.parse(lines.at(-1) ?? "{}").sent };
}

/** Everything that they could have changed. */
export async function state(plane: RunningPlane): Promise<readonly unknown[]> {
	const lists = LOOKED_AT.map(async (plural) => (await send(plane, { path: `/api/v1/${plural}` })).body["items"]);
	return Promise.all(lists);
}

/** Bytes that the plane's process has in memory. */
export async function residentBytes(plane: RunningPlane): Promise<number> {
	const status = await readFile(`/proc/${plane.process.pid}/status`, "utf8");
	return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
