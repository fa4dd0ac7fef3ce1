/** The addresses of a service range that Services can have. */
import type { Random } from "../../kernel/random.ts";
import { type CIDR, contains, formatCIDR, formatIP, type IPAddressValue, networkOf, sizeOf } from "../ip.ts";
import type { IPFamily } from "../types/meta.ts";
import { chooseFree, type Pool, staticBandSize } from "./band.ts";

const STATIC_SHARE = 16n;
const STATIC_MAX = 256n;

/** All but the network address, and in IPv4 the broadcast address. */
export function poolOf(range: CIDR): Pool {
	const size = sizeOf(range);
	const unusable = range.base.family === "IPv4" ? 2n : 1n;
	const usable = size > unusable ? size - unusable : 0n;
	const wanted = staticBandSize(size, STATIC_SHARE, STATIC_MAX);
	return { first: networkOf(range).value + 1n, size: usable, staticSize: wanted < usable ? wanted : usable };
}

/** The address of Service default/kubernetes: the first usable one of the primary range. */
export function firstServiceIP(range: CIDR): string {
	return formatIP({ family: range.base.family, value: poolOf(range).first });
}

export function chooseIP(range: CIDR, random: Random, isTaken: (ip: string) => boolean): string | undefined {
	const { family } = range.base;
	const text = (value: bigint): string => formatIP({ family, value });
	const value = chooseFree(poolOf(range), random, (candidate) => isTaken(text(candidate)));
	return value === undefined ? undefined : text(value);
}

/** Why a Service may not have this address, in the words of the allocator; undefined when it may. */
export function requestProblem(
	ip: IPAddressValue,
	range: CIDR | undefined,
	isTaken: (ip: string) => boolean,
): string | undefined {
	if (range === undefined || !contains(range, ip)) return "the provided network does not match the current range";
	const pool = poolOf(range);
	if (ip.value < pool.first || ip.value >= pool.first + pool.size) {
		const valid = formatCIDR(range);
		return `the provided IP (${formatIP(ip)}) is not in the valid range. The range of valid IPs is ${valid}`;
	}
	return isTaken(formatIP(ip)) ? "provided IP is already allocated" : undefined;
}

export function rangeOf(ranges: readonly CIDR[], family: IPFamily): CIDR | undefined {
	return ranges.find((range) => range.base.family === family);
}
