/** The flags of an API server on etcd; kube-apiserver's names. */
import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { EtcdOptions } from "../wiring/plane-options.ts";
import { durationMs, list } from "./flag-values.ts";
import { UsageError } from "./usage-error.ts";

export interface EtcdFlags {
	readonly etcdServers?: readonly string[];
	readonly etcdPrefix: string;
	readonly etcdCompactionInterval: number;
	readonly etcdCafile?: string;
	readonly etcdCertfile?: string;
	readonly etcdKeyfile?: string;
}

export function addEtcdOptions(command: Command): void {
	const servers = "etcd that objects are kept in; several API servers may share it";
	command.addOption(new Option("--etcd-servers <urls>", servers).argParser(list));
	command.option("--etcd-prefix <path>", "where in etcd the keys are", "/registry");
	command.addOption(
		new Option("--etcd-compaction-interval <duration>", "how often etcd forgets old revisions; 0: never")
			.argParser(intervalMs)
			.default(intervalMs("5m"), "5m"),
	);
	command.option("--etcd-cafile <file>", "who signs the certificates of etcd (PEM)");
	command.option("--etcd-certfile <file>", "certificate to show to etcd (PEM)");
	command.option("--etcd-keyfile <file>", "its key (PEM)");
}

/** Watches that were away for less than an interval must find what they missed. */
const INTERVAL_MS_MIN = 1_000;

function intervalMs(value: string): number {
	const ms = durationMs(value);
	if (ms === 0 || ms >= INTERVAL_MS_MIN) return ms;
	throw new InvalidArgumentError("Want 0, or a duration of at least 1s, such as 5m.");
}

/** @throws {UsageError} For files of a TLS connection that nobody makes. */
export function etcdOptionsOf(flags: EtcdFlags): EtcdOptions | undefined {
	const { etcdServers, etcdPrefix, etcdCompactionInterval, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
	const files = { "--etcd-cafile": etcdCafile, "--etcd-certfile": etcdCertfile, "--etcd-keyfile": etcdKeyfile };
	if (etcdServers === undefined) {
		const [alone] = Object.entries(files).find(([, file]) => file !== undefined) ?? [];
		if (alone !== undefined) throw new UsageError(`${alone}: want --etcd-servers with it`);
		return undefined;
	}
	const resolved = (file: string | undefined): string | undefined => (file === undefined ? file : path.resolve(file));
	return {
		servers: etcdServers,
		prefix: etcdPrefix,
		compactionIntervalMs: etcdCompactionInterval,
		caFile: resolved(etcdCafile),
		certFile: resolved(etcdCertfile),
		keyFile: resolved(etcdKeyfile),
	};
}
