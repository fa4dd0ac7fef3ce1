/**
 * Which address a Service of type LoadBalancer gets from outside.
 *
 * The ranges are those that are reserved for documentation: no machine has a route to them that means anything
 * else, and nothing there ever answers by mistake.
 *
 * @see RFC 5737 (203.0.113.0/24), RFC 3849 (2001:db8::/32)
 */
import { addressAt, type CIDR, canonicalIP, contains, parseCIDR, parseIP, sizeOf } from "../../api/ip.ts";
import type { LoadBalancerIngress, Service } from "../../api/types/core.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { assertDefined } from "../../kernel/assert.ts";

const RANGES: Readonly<Record<IPFamily, string>> = { IPv4: "203.0.113.0/24", IPv6: "2001:db8:203:113::/112" };

export type IngressPlan =
	/** Not this controller's: another type, or another implementation's by its class. */
	| { readonly kind: "none" }
	| { readonly kind: "right" }
	| { readonly kind: "give"; readonly ingress: readonly LoadBalancerIngress[] }
	| { readonly kind: "full"; readonly range: string };

export function wantsLoadBalancer({ spec }: Service): boolean {
	return spec.type === "LoadBalancer" && (spec.loadBalancerClass ?? "") === "";
}

/** @param isTaken Whether another Service has the address. */
export function planIngress(service: Service, isTaken: (ip: string) => boolean): IngressPlan {
	if (!wantsLoadBalancer(service) || service.metadata.deletionTimestamp !== undefined) return { kind: "none" };
	const had = (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? "");
	const ips: string[] = [];
	for (const family of familiesOf(service)) {
		const range = rangeOf(family);
		const kept = had.find((ip) => isIn(range, ip));
		const ip = kept ?? askedFor(service, range, isTaken) ?? firstFree(range, isTaken);
		if (ip === undefined) return { kind: "full", range: RANGES[family] };
		ips.push(ip);
	}
	const isRight = ips.length === had.length && ips.every((ip, index) => ip === had[index]);
	return isRight ? { kind: "right" } : { kind: "give", ingress: ips.map((ip) => ({ ip, ipMode: "VIP" })) };
}

function familiesOf({ spec }: Service): readonly IPFamily[] {
	return spec.ipFamilies === undefined || spec.ipFamilies.length === 0 ? ["IPv4"] : spec.ipFamilies;
}

function rangeOf(family: IPFamily): CIDR {
	return assertDefined(parseCIDR(RANGES[family]), `range of ${family} load balancers`);
}

function isIn(range: CIDR, text: string): boolean {
	const ip = parseIP(text);
	return ip !== undefined && contains(range, ip);
}

/** `loadBalancerIP` is a wish: one that cannot be met counts for nothing. */
function askedFor({ spec }: Service, range: CIDR, isTaken: (ip: string) => boolean): string | undefined {
	const asked = canonicalIP(spec.loadBalancerIP ?? "");
	return asked !== undefined && isIn(range, asked) && !isTaken(asked) ? asked : undefined;
}

/** Neither the network's own address nor the last one, which is for broadcasts. */
function firstFree(range: CIDR, isTaken: (ip: string) => boolean): string | undefined {
	const last = Number(sizeOf(range)) - 2;
	for (let offset = 1; offset <= last; offset++) {
		const ip = addressAt(range, offset);
		if (!isTaken(ip)) return ip;
	}
	return undefined;
}
