/**
 * A pool of numbers in two bands: those that people choose by hand lie in the lower, *static* band,
 * so automatic choice takes from the upper band first. Nothing is stored here: who asks knows what
 * is taken, so a pool of 2^64 addresses costs no more than one of sixteen.
 *
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-network/3070-reserved-service-ip-range
 */
import { type Random, randomBelow } from "../../kernel/random.ts";

export interface Pool {
	readonly first: bigint;
	/** How many numbers there are; may be 0. */
	readonly size: bigint;
	/** How many of them, from the first, are the static band. */
	readonly staticSize: bigint;
}

/** 0 for a pool too small to be divided; else a share of it, between two bounds. */
export function staticBandSize(size: bigint, share: bigint, sizeMax: bigint): bigint {
	if (size <= STATIC_MIN) return 0n;
	const wanted = size / share;
	return wanted < STATIC_MIN ? STATIC_MIN : wanted > sizeMax ? sizeMax : wanted;
}

const STATIC_MIN = 16n;

/** A free number, or undefined when every one is taken. */
export function chooseFree(pool: Pool, random: Random, isTaken: (number: bigint) => boolean): bigint | undefined {
	const dynamic = { start: pool.first + pool.staticSize, size: pool.size - pool.staticSize };
	const fixed = { start: pool.first, size: pool.staticSize };
	return firstFree(dynamic, random, isTaken) ?? firstFree(fixed, random, isTaken);
}

interface Band {
	readonly start: bigint;
	readonly size: bigint;
}

/** From a random place on, and round. */
function firstFree({ start, size }: Band, random: Random, isTaken: (number: bigint) => boolean): bigint | undefined {
	if (size <= 0n) return undefined;
	const offset = randomBelowBig(random, size);
	for (let step = 0n; step < size; step++) {
		const number = start + ((offset + step) % size);
		if (!isTaken(number)) return number;
	}
	return undefined;
}

const CHUNK = 2 ** 32;

function randomBelowBig(random: Random, below: bigint): bigint {
	let value = 0n;
	let bits = 0n;
	for (; 1n << bits < below; bits += 32n) value = (value << 32n) | BigInt(randomBelow(random, CHUNK));
	return (value * below) >> bits;
}
