import { NAME_ALPHABET } from "../../kernel/random.ts";

/** Decimal digits as characters of generated names: hashes never spell words. */
export function safeEncoded(number: number): string {
	return [...String(number)].map((digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join("");
}
