/** The simulated nodes in a process of their own, for any API server: beside real nodes, too. */
import { setMaxListeners } from "node:events";
import { parseCIDR } from "../api/ip.ts";
import { NODES } from "../api/resource-names.ts";
import type { Node, Taint } from "../api/types/core.ts";
import type { ServerAccess } from "../edge/http-exchange.ts";
import { Fleet } from "../kubelet/fleet.ts";
import { nodesProblem, SIMULATED_LABEL } from "../kubelet/foreign-nodes.ts";
import { type NodePoolOptions, simulatedNodes } from "../kubelet/node-pool.ts";
import { ContainerLogs } from "../machinery/container-logs.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import type { Informer } from "../machinery/informer.ts";
import { Informers } from "../machinery/informers.ts";
import { untilAllowed } from "../machinery/until-allowed.ts";
import { clientFor } from "./cluster-client.ts";
import { type HostPort, servePartStatus } from "./part-status.ts";
import { isOwnServer } from "./server-kind.ts";
import { systemPorts } from "./system-ports.ts";
import { VERSION } from "./version.ts";

export interface KubeletOptions extends Omit<NodePoolOptions, "kubeletVersion" | "nodeLabels" | "nodeAnnotations"> {
	/** Undefined: as suits the server. */
	readonly taints?: readonly Taint[];
	/** Of /healthz and /metrics; undefined: not served. */
	readonly status: HostPort | undefined;
	readonly logLevel: "debug" | "warn";
}

export interface KubeletNews {
	progress(text: string): void;
	ready(text: string): void;
}

/** Real workloads on nodes that run nothing would only seem to be there. */
const TAINTS_ON_OTHERS: readonly Taint[] = [{ key: SIMULATED_LABEL, value: "true", effect: "NoSchedule" }];

/** @throws {RangeError} When options cannot go together; the message names the flag. */
export function checkKubeletOptions(options: KubeletOptions): void {
	for (const [flag, ranges] of [
		["--cluster-cidr", options.clusterCIDRs],
		["--node-cidr", options.nodeCIDRs ?? []],
	] as const) {
		const wrong = ranges.find((text) => parseCIDR(text) === undefined);
		if (wrong !== undefined) throw new RangeError(`${flag} ${wrong}: want a CIDR such as 10.244.0.0/16`);
	}
	if (options.clusterCIDRs.length === 0) throw new RangeError("--cluster-cidr: want a range for the Pods' addresses");
	simulatedNodes(poolOf(options, []));
}

function poolOf(options: KubeletOptions, taints: readonly Taint[]): NodePoolOptions {
	const nodeLabels = { [SIMULATED_LABEL]: "true" };
	return { ...options, taints, nodeLabels, kubeletVersion: VERSION.api.gitVersion };
}

/**
 * Works until `signal` aborts; what it may not do yet it tries on. Rejects when the server cannot be asked, or takes no
 * such Nodes; and with a sentence that says what to do when another Node has one of its names, ranges or addresses.
 */
export async function runKubelet(
	access: ServerAccess,
	options: KubeletOptions,
	news: KubeletNews,
	signal: AbortSignal,
): Promise<void> {
	const system = systemPorts(options.logLevel);
	const ending = new AbortController();
	const end = (): void => ending.abort(signal.reason);
	signal.addEventListener("abort", end, { once: true });
	setMaxListeners(0, ending.signal);
	const client = clientFor(access, { part: "kubelet" });
	const status = await servePartStatus(options.status, system.metrics, () => undefined);
	if (status.port !== undefined) news.progress(`Metrics at port ${status.port}`);
	try {
		const taints = options.taints ?? ((await isOwnServer(client)) ? [] : TAINTS_ON_OTHERS);
		const pool = poolOf(options, taints);
		const nodes = simulatedNodes(pool);
		const known = await untilAllowed(system, signal, () => client.list(NODES, { signal }));
		const problem = nodesProblem(nodes, known.items);
		if (problem !== undefined) throw new Error(problem);
		const informers = new Informers({ client, ...system });
		const recorder = new EventRecorder({ client, ...system });
		const logs = new ContainerLogs(system.metrics);
		const fleet = new Fleet({ client, informers, recorder, logs, ...system }, pool);
		const registered = areThere(
			informers.of(NODES),
			nodes.map(({ name }) => name),
		);
		void registered.then(() => news.ready(nodesText(nodes.map(({ name }) => name))));
		await allOrNone([fleet, recorder, informers], ending);
	} catch (error) {
		if (!signal.aborted) throw error;
	} finally {
		signal.removeEventListener("abort", end);
		client.close();
		status.close();
	}
}

/** `3 nodes, n1 to n3` */
export function nodesText(names: readonly string[]): string {
	const [first = "none"] = names;
	return names.length === 1 ? `1 node, ${first}` : `${names.length} nodes, ${first} to ${names.at(-1)}`;
}

/** Runs until `ending` aborts; when one fails, the others end too, and are waited for. */
async function allOrNone(
	parts: readonly { run(signal: AbortSignal): Promise<unknown> }[],
	ending: AbortController,
): Promise<void> {
	const running = parts.map((part) => part.run(ending.signal));
	try {
		await Promise.all(running);
	} finally {
		ending.abort();
		await Promise.allSettled(running);
	}
}

/** Resolves when Nodes of all these names are known. */
function areThere(nodes: Informer<Node>, names: readonly string[]): Promise<void> {
	const missing = new Set(names);
	return new Promise((resolve) => {
		const stop = nodes.addHandlers({
			added: ({ metadata }) => {
				missing.delete(metadata.name);
				if (missing.size > 0) return;
				stop();
				resolve();
			},
		});
	});
}
