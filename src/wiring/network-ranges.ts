/** The ranges of cluster IPs and node ports, and what they ask of the range of pod addresses. */
import { type CIDR, contains, networkOf, parseCIDR, sizeOf } from "../api/ip.ts";
import type { NetworkRanges } from "../apiserver/service-claims.ts";
import type { PlaneOptions } from "./plane-options.ts";

const CLUSTER = "--cluster-cidr";
const SERVICE = "--service-cluster-ip-range";
/** kube-apiserver's number. */
const SERVICE_ADDRESSES_MIN = 8n;

/** @throws {RangeError} For ranges that cannot be read or cannot go together; the message names the flag. */
export function networkRanges(
	options: Pick<PlaneOptions, "serviceCIDRs" | "clusterCIDRs" | "nodePortRange">,
): NetworkRanges {
	const { serviceCIDRs, clusterCIDRs } = options;
	const ranges = serviceRanges(options);
	const { clusterIPs } = ranges;
	const pods = rangesOf(CLUSTER, clusterCIDRs, "10.244.0.0/16");
	const primary = clusterIPs[0]?.base.family;
	if (!pods.some(({ base }) => base.family === primary)) {
		throw new RangeError(
			`${CLUSTER} ${clusterCIDRs.join(",")}: has no ${primary} range, and ${SERVICE} ${serviceCIDRs.join(",")} begins with one`,
		);
	}
	refuseOverlap(pods, clusterIPs, options);
	return ranges;
}

/** Of an API server alone, which knows nothing of the pods'. @throws {RangeError} As {@link networkRanges}. */
export function serviceRanges({
	serviceCIDRs,
	nodePortRange,
}: Pick<PlaneOptions, "serviceCIDRs" | "nodePortRange">): NetworkRanges {
	const clusterIPs = rangesOf(SERVICE, serviceCIDRs, "10.96.0.0/16");
	for (const [index, range] of clusterIPs.entries()) {
		if (sizeOf(range) >= SERVICE_ADDRESSES_MIN) continue;
		throw new RangeError(`${SERVICE} ${serviceCIDRs[index]}: want at least ${SERVICE_ADDRESSES_MIN} addresses`);
	}
	return { clusterIPs, nodePorts: { first: nodePortRange.from, last: nodePortRange.to } };
}

function rangesOf(flag: string, texts: readonly string[], example: string): readonly CIDR[] {
	const ranges = texts.map((text) => {
		const range = parseCIDR(text);
		if (range !== undefined) return range;
		throw new RangeError(`${flag} ${text}: want a CIDR such as ${example}`);
	});
	const families = new Set(ranges.map(({ base }) => base.family));
	if (ranges.length === 0 || families.size < ranges.length) {
		throw new RangeError(`${flag}: want one range, or an IPv4 and an IPv6 range`);
	}
	return ranges;
}

function refuseOverlap(
	pods: readonly CIDR[],
	clusterIPs: readonly CIDR[],
	{ clusterCIDRs, serviceCIDRs }: Pick<PlaneOptions, "serviceCIDRs" | "clusterCIDRs">,
): void {
	for (const [index, pod] of pods.entries()) {
		const other = clusterIPs.findIndex((range) => contains(pod, networkOf(range)) || contains(range, networkOf(pod)));
		if (other === -1) continue;
		throw new RangeError(`${CLUSTER} ${clusterCIDRs[index]} and ${SERVICE} ${serviceCIDRs[other]} overlap`);
	}
}
