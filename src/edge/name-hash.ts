/** Hashes for names that kube-proxy would give, too. */
import { createHash } from "node:crypto";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CHARACTERS = 8;

/** The first 8 characters of the text's SHA-256 in base32: 40 bits. @see RFC 4648, section 6 */
export function nameHash(text: string): string {
	const digest = createHash("sha256").update(text).digest();
	let bits = 0n;
	for (const byte of digest.subarray(0, 5)) bits = (bits << 8n) | BigInt(byte);
	return Array.from({ length: CHARACTERS }, (_, index) => BASE32[Number((bits >> BigInt(35 - 5 * index)) & 31n)]).join(
		"",
	);
}
