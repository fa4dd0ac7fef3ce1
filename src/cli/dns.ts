/** `sliceplane dns`: the cluster's DNS alone, for any cluster that a kubeconfig leads to. */

import { type Command, Option } from "commander";
import { CLUSTER_KUBECONFIG, CONTEXT } from "./flag-rows.ts";
import { collect, domain, hostAndPort, whole } from "./flag-values.ts";
import { aborted, stopSignal } from "./until-stopped.ts";

interface DnsFlags {
	readonly listen: { readonly host: string; readonly port: number };
	readonly kubeconfig?: string;
	readonly context?: string;
	readonly clusterDomain: string;
	readonly ttl: number;
	readonly upstream: readonly string[];
	readonly verbose?: boolean;
}

export function addDnsCommand(root: Command, setStatus: (status: number) => void): void {
	root
		.command("dns")
		.description("Serve the DNS of a cluster, on UDP and TCP. Prints one line when it answers for what there is.")
		.addOption(
			new Option("--listen <host:port>", "address of the DNS; port 0 takes any free one")
				.argParser(hostAndPort)
				.default(hostAndPort("127.0.0.1:5353"), "127.0.0.1:5353"),
		)
		.option(...CLUSTER_KUBECONFIG)
		.option(...CONTEXT)
		.addOption(
			new Option("--cluster-domain <domain>", "domain of the names of Services")
				.argParser(domain)
				.default("cluster.local"),
		)
		.addOption(new Option("--ttl <seconds>", "time to live of records").argParser(whole(0, 3600)).default(5))
		.addOption(
			new Option("--upstream <host:port>", "DNS server to ask for names of other zones; may be repeated")
				.argParser(collect)
				.default([], "none: they are refused"),
		)
		.option("-v, --verbose", "log every decision")
		.addHelpText(
			"after",
			"\nExample:\n  $ sliceplane dns --listen 127.0.0.1:5353\n  $ dig @127.0.0.1 -p 5353 kubernetes.default.svc.cluster.local\n",
		)
		.action(async (flags: DnsFlags) => {
			await serve(flags);
			setStatus(0);
		});
}

async function serve({ listen, clusterDomain, ttl, upstream, verbose = false, ...cluster }: DnsFlags): Promise<void> {
	// Loaded only now: wrong usage and --help must answer at once.
	const { clusterClient } = await import("../wiring/cluster-client.ts");
	const { startDns } = await import("../wiring/start-dns.ts");
	const stopping = stopSignal();
	const client = await clusterClient({ ...cluster, files: process.env["KUBECONFIG"] }, { part: "dns" });
	const options = {
		listen,
		clusterDomain,
		ttl,
		upstreams: upstream.map(hostAndPort),
		logLevel: verbose ? "debug" : "warn",
	} as const;
	const dns = await startDns(client, options);
	try {
		process.stderr.write(`DNS at ${listen.host}:${dns.port}, waiting for the cluster\n`);
		const stopped = aborted(stopping);
		await Promise.race([dns.synced.catch(() => undefined), stopped]);
		if (!stopping.aborted) process.stdout.write(`DNS is ready: ${listen.host}:${dns.port}, UDP and TCP\n`);
		await stopped;
	} finally {
		await dns.stop();
		client.close();
	}
}
