/** Removes Pods of clients that were killed: while they are there, Services lead to where nobody answers. */
import { PODS } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { CLIENT_PROCESS_ANNOTATION, isClient } from "../plan/client-pod.ts";

export interface SweepPorts {
	readonly client: ApiClient;
	readonly clock: Clock;
	readonly log: Logger;
	/** Whether the process with this mark ran on this machine and runs no more. */
	isGone(mark: string): boolean;
	/** Removes network namespaces and folders of processes that run no more. */
	removeAbandoned(): Promise<unknown>;
}

const SWEEP_MS = 2_000;

/** Until `signal` aborts. Never rejects. */
export async function sweepClients(
	pods: { list(): readonly Pod[] },
	ports: SweepPorts,
	signal: AbortSignal,
): Promise<void> {
	while (!signal.aborted) {
		await ports.clock.sleep(SWEEP_MS, signal).catch(() => undefined);
		if (signal.aborted) return;
		const killed = pods.list().filter((pod) => isClient(pod) && ports.isGone(markOf(pod)));
		for (const pod of killed) await remove(pod, ports);
		if (killed.length > 0) await ports.removeAbandoned().catch(() => undefined);
	}
}

function markOf({ metadata }: Pod): string {
	return metadata.annotations?.[CLIENT_PROCESS_ANNOTATION] ?? "";
}

async function remove({ metadata }: Pod, { client, log }: SweepPorts): Promise<void> {
	const { namespace = "", name, uid } = metadata;
	log.info("Removed the Pod of a client that was killed", { namespace, pod: name });
	// One that is gone is gone; after another failure it is there at the next look.
	await client
		.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } })
		.catch(() => undefined);
}
