/** Work that only one of many processes may do: by a Lease, or, without election, at once. */
import { hostname } from "node:os";
import type { ApiClient } from "../machinery/api-client.ts";
import { Elector } from "../machinery/elector.ts";
import type { ElectionTimes } from "../machinery/leader-election.ts";
import type { SystemPorts } from "./system-ports.ts";

export interface LeadOptions extends ElectionTimes {
	/** Of the Lease. */
	readonly namespace: string;
	readonly name: string;
}

/** client-go's times, and the Lease of all programs that run these controllers. */
export const DEFAULT_LEAD: LeadOptions = {
	namespace: "kube-system",
	name: "sliceplane-controllers",
	leaseDurationMs: 15_000,
	renewDeadlineMs: 10_000,
	retryPeriodMs: 2_000,
};

/** The lead of this process. */
export interface Lead {
	/** Asked before every write. */
	readonly mayWrite: () => boolean;
	/** Resolves when this process leads. Rejects when `signal` aborts. */
	acquire(signal: AbortSignal): Promise<void>;
	/** Resolves with the reason when the lead is lost, with nothing when `signal` aborts. */
	hold(signal: AbortSignal): Promise<string | undefined>;
	/** When nothing works any more. */
	release(): Promise<void>;
}

/** Whoever is started leads. */
export const WITHOUT_ELECTION: Lead = {
	mayWrite: () => true,
	acquire: nothing,
	hold: untilAborted,
	release: nothing,
};

/** For the Lease alone: its requests wait for nobody else's. Closed when the lead is released. */
export type LeaseClient = ApiClient & { close?(): void };

/** @param options Undefined: whoever is started leads. */
export function leadOf(
	clientOf: () => LeaseClient,
	options: LeadOptions | undefined,
	system: SystemPorts,
	progress: (text: string) => void,
): Lead {
	if (options === undefined) return WITHOUT_ELECTION;
	const client = clientOf();
	const lease = `Lease ${options.namespace}/${options.name}`;
	const identity = `${hostname()}_${system.random.uid()}`;
	const standsBy = (holder: string): void => progress(`Standing by: ${holder} holds the ${lease}`);
	const elector = new Elector({ client, ...system }, { ...options, identity, standsBy });
	return {
		mayWrite: () => elector.isLeading,
		async acquire(signal) {
			await elector.acquire(signal);
			progress(`Leading as ${identity}, by the ${lease}`);
		},
		async hold(signal) {
			const why = await elector.hold(signal);
			return why === undefined ? undefined : `lost the ${lease}: ${why}`;
		},
		async release() {
			await elector.release();
			client.close?.();
		},
	};
}

function nothing(): Promise<void> {
	return Promise.resolve();
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
	if (signal.aborted) return Promise.resolve(undefined);
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}
