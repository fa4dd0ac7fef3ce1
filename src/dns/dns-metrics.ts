/** What DNS counts, under CoreDNS' names. */
import type { Metrics } from "../kernel/metrics.ts";
import type { Transport } from "./answer.ts";

/** CoreDNS' buckets: 0.25 ms doubling, sixteen of them. */
const SECONDS_BUCKETS: readonly number[] = Array.from({ length: 16 }, (_, i) => 0.00025 * 2 ** i);

export interface DnsMetrics {
	asked(transport: Transport): void;
	answered(rcode: number, seconds: number): void;
	/** A packet that is no query, or comes too fast. */
	dropped(cause: "malformed" | "rate"): void;
}

export function dnsMetrics(metrics: Metrics): DnsMetrics {
	const requests = metrics.counter({
		name: "coredns_dns_requests_total",
		help: "Queries by transport.",
		labelNames: ["proto"],
	});
	const responses = metrics.counter({
		name: "coredns_dns_responses_total",
		help: "Answers by their code.",
		labelNames: ["rcode"],
	});
	const durations = metrics.histogram({
		name: "coredns_dns_request_duration_seconds",
		help: "Time from a query to its answer.",
		buckets: SECONDS_BUCKETS,
	});
	const dropped = metrics.counter({
		name: "sliceplane_dns_dropped_total",
		help: "Packets that got no answer: no queries, or too many of them.",
		labelNames: ["cause"],
	});
	return {
		asked: (proto) => requests.add(1, { proto }),
		answered: (rcode, seconds) => {
			responses.add(1, { rcode: RCODE_NAMES[rcode] ?? String(rcode) });
			durations.observe(seconds);
		},
		dropped: (cause) => dropped.add(1, { cause }),
	};
}

const RCODE_NAMES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];
