/** Stores on an etcd, and its client beside them, for tests. */
import * as grpc from "@grpc/grpc-js";
import { EtcdChannel } from "../../src/edge/etcd/etcd-channel.ts";
import { EtcdClient } from "../../src/edge/etcd/etcd-client.ts";
import { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from "../../src/edge/etcd/open-etcd-store.ts";
import { SystemClock } from "../../src/edge/system-clock.ts";
import { silentLogger, silentMetrics } from "../../src/testing/silent.ts";

const PORTS = { clock: new SystemClock(), log: silentLogger, metrics: silentMetrics };

export function openStore(
	options: Partial<EtcdStoreOptions> & { readonly servers: readonly string[] },
): Promise<EtcdStore> {
	return openEtcdStore({ ...PORTS, ...options });
}

export interface RawEtcd {
	readonly client: EtcdClient;
	close(): void;
}

export function rawEtcd(url: string): RawEtcd {
	const channel = new EtcdChannel(grpc, { servers: [url] }, PORTS.clock);
	return { client: new EtcdClient(channel, PORTS), close: () => channel.close() };
}
