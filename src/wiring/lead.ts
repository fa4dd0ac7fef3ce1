/** Work that only one of many processes may do: by a Lease, or, without election, at once. */
import { hostname } from "node:os";
import type { HttpClient } from "../edge/http-client.ts";
import type { ServerAccess } from "../edge/http-exchange.ts";
import { Elector } from "../machinery/elector.ts";
import type { ElectionTimes } from "../machinery/leader-election.ts";
import { clientFor } from "./cluster-client.ts";
import type { Part } from "./refused-rights.ts";
import type { SystemPorts } from "./system-ports.ts";

export interface LeadOptions extends ElectionTimes {
	/** Of the Lease. */
	readonly namespace: string;
	readonly name: string;
}

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

/** @param options Undefined: whoever is started leads. */
export function leadOf(
	{ access, part }: { readonly access: ServerAccess; readonly part: Part },
	options: LeadOptions | undefined,
	system: SystemPorts,
	progress: (text: string) => void,
): Lead {
	if (options === undefined) return { mayWrite: () => true, acquire: nothing, hold: untilAborted, release: nothing };
	const client: HttpClient = clientFor(access, { part });
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
			client.close();
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
