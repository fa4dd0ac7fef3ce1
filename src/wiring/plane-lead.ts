/** Of planes that share an etcd one works; the API of each does, and the others stand by. */

import type { ApiClient } from "../machinery/api-client.ts";
import { asManager } from "../machinery/as-manager.ts";
import { selectedControllers } from "./controller-selection.ts";
import { DEFAULT_LEAD, type Lead, leadOf } from "./lead.ts";
import { livingManager } from "./other-managers.ts";
import type { PlaneOptions } from "./plane-options.ts";
import { CONTROLLER_NAMES } from "./start-controllers.ts";
import type { SystemPorts } from "./system-ports.ts";

/**
 * Resolves when this plane's nodes and controllers may work; at once where nobody else can have the same store.
 *
 * Rejects when `signal` aborts, and beside a kube-controller-manager on the same etcd, with a sentence that says so.
 */
export async function planeLead(
	client: ApiClient,
	options: Pick<PlaneOptions, "etcd" | "nodes" | "controllers">,
	system: SystemPorts,
	progress: (text: string) => void,
	signal: AbortSignal,
): Promise<Lead> {
	const isElected = options.etcd !== undefined && hasWork(options);
	const ofPlane = asManager(client, DEFAULT_LEAD.name);
	const lead = leadOf(() => ofPlane, isElected ? DEFAULT_LEAD : undefined, system, progress);
	if (isElected) await refuseBesideManager(client, system, progress, signal);
	await lead.acquire(signal);
	return lead;
}

function hasWork({ nodes, controllers }: Pick<PlaneOptions, "nodes" | "controllers">): boolean {
	return nodes > 0 || selectedControllers(CONTROLLER_NAMES, controllers).size > 0;
}

async function refuseBesideManager(
	client: ApiClient,
	{ clock }: SystemPorts,
	progress: (text: string) => void,
	signal: AbortSignal,
): Promise<void> {
	const manager = await livingManager(client, clock, signal, progress);
	if (manager !== undefined)
		throw new Error(`${manager}stop that one, or serve the API alone with sliceplane apiserver`);
}
