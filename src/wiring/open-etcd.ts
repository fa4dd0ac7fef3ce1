/** The store that `--etcd-servers` asks for. */
import { readFile } from "node:fs/promises";
import { type EtcdStore, openEtcdStore } from "../edge/etcd/open-etcd-store.ts";
import { checkTlsFiles, type TlsFile } from "../edge/etcd/tls-files.ts";
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
	checkTlsFiles({ ca, cert, key });
	const tls = {
		...(ca === undefined ? {} : { ca: ca.pem }),
		...(cert === undefined ? {} : { cert: cert.pem }),
		...(key === undefined ? {} : { key: key.pem }),
	};
	return openEtcdStore({ servers, prefix, compactionIntervalMs, tls, clock, log, metrics });
}

async function fileOf(flag: string, path: string | undefined): Promise<TlsFile | undefined> {
	if (path === undefined) return undefined;
	try {
		return { name: `${flag} ${path}`, pem: await readFile(path) };
	} catch (error) {
		throw new Error(`${flag} ${path}: ${systemReason(error)}`, { cause: error });
	}
}
