/** A store on etcd: its state in memory, followed from there on. */
import type * as grpc from "@grpc/grpc-js";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Metrics } from "../../kernel/metrics.ts";
import { KeyLayout } from "../../store/etcd/key-layout.ts";
import { Store } from "../../store/store.ts";
import { View } from "../../store/view.ts";
import { Compactor } from "./compactor.ts";
import { type EtcdAccess, EtcdChannel } from "./etcd-channel.ts";
import { EtcdClient } from "./etcd-client.ts";
import { EtcdEngine } from "./etcd-engine.ts";
import { readState, ValueReader } from "./etcd-state.ts";
import { EventLeases } from "./event-leases.ts";
import { STORED_SPACES } from "./stored-values.ts";

export interface EtcdStoreOptions extends EtcdAccess {
	/** Default `/registry`. */
	readonly prefix?: string;
	/** How often old revisions are forgotten; 0, the default, is never. */
	readonly compactionIntervalMs?: number;
	readonly clock: Clock;
	readonly log: Logger;
	readonly metrics: Metrics;
}

export interface EtcdStore {
	readonly store: Store;
	/** Why etcd does not answer; undefined when it does. */
	problem(): string | undefined;
	/** Waits for what is being written. */
	close(): Promise<void>;
}

/** Rejects with a sentence that names the servers and what to do, when none of them answers. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
	const { servers, prefix = "/registry", compactionIntervalMs = 0, clock } = options;
	const channel = new EtcdChannel(await grpcLibrary(), options, clock);
	try {
		const client = new EtcdClient(channel, options);
		const layout = new KeyLayout(prefix, STORED_SPACES);
		const reader = new ValueReader(options);
		const state = await readState(client, layout, reader);
		const view = new View(state.revision);
		for (const { space, entry } of state.entries) view.restore(space, entry);
		const { log, metrics } = options;
		const leases = new EventLeases(client, clock);
		const engine = new EtcdEngine({ client, layout, reader, leases, clock, log, metrics }, state);
		const store = new Store(view, engine);
		const stopping = new AbortController();
		const running = [engine.run(stopping.signal)];
		if (compactionIntervalMs > 0) {
			running.push(new Compactor(client, options).run(compactionIntervalMs, stopping.signal));
		}
		const close = async (): Promise<void> => {
			await engine.whenIdle();
			stopping.abort();
			await Promise.all(running);
			channel.close();
		};
		return { store, problem: () => engine.problem, close };
	} catch (error) {
		channel.close();
		const why = error instanceof Error ? error.message : String(error);
		throw new Error(`--etcd-servers ${servers.join()}: ${why}`, { cause: error });
	}
}

/** Loaded only where there is an etcd. */
async function grpcLibrary(): Promise<typeof grpc> {
	try {
		return await import("@grpc/grpc-js");
	} catch (error) {
		throw new Error("the package @grpc/grpc-js is not installed: npm install @grpc/grpc-js", { cause: error });
	}
}
