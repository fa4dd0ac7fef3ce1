/** The flags of an API server on etcd; kube-apiserver's names. */
import path from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { EtcdOptions } from "../wiring/plane-options.ts";
import { durationMs, list } from "./flag-values.ts";
import { UsageError } from "./usage-error.ts";

export interface EtcdFlags {
	readonly etcdServers?: readonly string[];
	readonly etcdPrefix?: string;
	readonly etcdCompactionInterval?: number;
	readonly etcdCafile?: string;
	readonly etcdCertfile?: string;
	readonly etcdKeyfile?: string;
}

const PREFIX = "/registry";
const COMPACTION_INTERVAL = "5m";

export function addEtcdOptions(command: Command): void {
	const servers = "etcd that objects are kept in; several API servers may share it";
	command.addOption(new Option("--etcd-servers <urls>", servers).argParser(list));
	// Without commander's defaults, so that it shows which flags were given.
	command.option("--etcd-prefix <path>", `where in etcd the keys are (default: ${PREFIX})`);
	const often = `how often etcd forgets old revisions; 0: never (default: ${COMPACTION_INTERVAL})`;
	command.addOption(new Option("--etcd-compaction-interval <duration>", often).argParser(intervalMs));
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

/** @throws {UsageError} For what is said of an etcd that nobody uses. */
export function etcdOptionsOf(flags: EtcdFlags): EtcdOptions | undefined {
	const { etcdServers, etcdPrefix, etcdCompactionInterval, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
	if (etcdServers === undefined) {
		const [alone] = Object.entries(ofEtcd(flags)).find(([, value]) => value !== undefined) ?? [];
		if (alone !== undefined) throw new UsageError(`${alone}: want --etcd-servers with it`);
		return undefined;
	}
	const resolved = (file: string | undefined): string | undefined => (file === undefined ? file : path.resolve(file));
	return {
		servers: etcdServers,
		prefix: etcdPrefix ?? PREFIX,
		compactionIntervalMs: etcdCompactionInterval ?? intervalMs(COMPACTION_INTERVAL),
		caFile: resolved(etcdCafile),
		certFile: resolved(etcdCertfile),
		keyFile: resolved(etcdKeyfile),
	};
}

function ofEtcd(flags: EtcdFlags): Readonly<Record<string, unknown>> {
	return {
		"--etcd-prefix": flags.etcdPrefix,
		"--etcd-compaction-interval": flags.etcdCompactionInterval,
		"--etcd-cafile": flags.etcdCafile,
		"--etcd-certfile": flags.etcdCertfile,
		"--etcd-keyfile": flags.etcdKeyfile,
	};
}
