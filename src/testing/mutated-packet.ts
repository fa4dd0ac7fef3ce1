import type { Random } from "../kernel/random.ts";

/** A packet with one to eight octets changed, and three times in ten cut short. */
export function mutatedPacket(valid: Uint8Array, random: Random): Uint8Array {
	const bytes = Uint8Array.from(valid);
	for (let changes = 0; changes < 1 + random.next() * 8; changes++)
		bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256);
	return bytes.subarray(0, random.next() < 0.3 ? Math.floor(random.next() * bytes.length) : bytes.length);
}
