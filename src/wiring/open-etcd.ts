/** The store that `--etcd-servers` asks for. */
import { readFile } from "node:fs/promises";
import { type EtcdStore, openEtcdStore } from "../edge/etcd/open-etcd-store.ts";
import { systemReason } from "../edge/system-reason.ts";
import type { EtcdOptions } from "./plane-options.ts";
import type { SystemPorts } from "./system-ports.ts";

/** Rejects with a sentence that names the flag. */
export async function openEtcd(options: EtcdOptions, { clock, log, metrics }: SystemPorts): Promise<EtcdStore> {
	const { servers, prefix, compactionIntervalMs, caFile, certFile, keyFile } = options;
	const [ca, cert, key] = await Promise.all([
		fileOf("--etcd-cafile", caFile),
		fileOf("--etcd-certfile", certFile),
		fileOf("--etcd-keyfile", keyFile),
	]);
	const tls = {
		...(ca === undefined ? {} : { ca }),
		...(cert === undefined ? {} : { cert }),
		...(key === undefined ? {} : { key }),
	};
	return openEtcdStore({ servers, prefix, compactionIntervalMs, tls, clock, log, metrics });
}

async function fileOf(flag: string, path: string | undefined): Promise<Buffer | undefined> {
	if (path === undefined) return undefined;
	try {
		return await readFile(path);
	} catch (error) {
		throw new Error(`${flag} ${path}: ${systemReason(error)}`, { cause: error });
	}
}
