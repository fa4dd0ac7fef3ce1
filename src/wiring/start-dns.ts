/** DNS alone, for a cluster that is there already. */
import { setMaxListeners } from "node:events";
import { ZoneFollower } from "../dns/zone-follower.ts";
import { forwarder, type Upstream } from "../edge/dns-forwarder.ts";
import { DnsServer } from "../edge/dns-server.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { Informers } from "../machinery/informers.ts";
import { Zone } from "../plan/dns-records/zone.ts";
import { dnsAnswers } from "./dns-answers.ts";
import { systemPorts } from "./system-ports.ts";

export interface DnsOptions {
	readonly listen: { readonly host: string; readonly port: number };
	/** `cluster.local` */
	readonly clusterDomain: string;
	/** Seconds, 0 to 3600. */
	readonly ttl: number;
	/** Who is asked for names of other zones; empty: they are refused. */
	readonly upstreams: readonly Upstream[];
	readonly logLevel: "debug" | "warn";
}

export interface RunningDns {
	readonly port: number;
	/** Resolves when every list is there. Until then a name that is not known is SERVFAIL. */
	readonly synced: Promise<void>;
	stop(): Promise<void>;
}

/** Rejects with the system's error when the address cannot be had. */
export async function startDns(client: ApiClient, options: DnsOptions): Promise<RunningDns> {
	const { clock, random, log, metrics } = systemPorts(options.logLevel);
	const informers = new Informers({ client, clock, random, log });
	const zone = new Zone({ name: `${options.clusterDomain}.`, ttl: options.ttl });
	const follower = new ZoneFollower(informers, zone, clock);
	const answer = dnsAnswers({
		zone,
		random,
		isSynced: () => follower.isSynced,
		...(options.upstreams.length === 0 ? {} : { upstreams: forwarder(options.upstreams, random) }),
	});
	const server = new DnsServer({ answer, clock, metrics });
	const port = await server.listen(options.listen.host, options.listen.port);
	const stopping = new AbortController();
	setMaxListeners(0, stopping.signal);
	const unfollow = follower.follow();
	const running = informers.run(stopping.signal);
	return {
		port,
		synced: informers.whenSynced(stopping.signal),
		async stop() {
			stopping.abort();
			unfollow();
			server.close();
			await running;
		},
	};
}
