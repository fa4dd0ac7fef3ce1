/**
 * FNV-1a, and FNV-1: the hashes that upstream orders ports and names templates by.
 *
 * 128 bits are kept as four 32-bit limbs; products stay below 2^53, so plain numbers are exact.
 * @see http://www.isthe.com/chongo/tech/comp/fnv/
 */

const LIMB = 2 ** 32;
/** The 128-bit prime is 2^88 + 0x13b: a multiplication by this and a shift. */
const PRIME_LOW = 0x13b;

/** FNV-1a of 128 bits over UTF-8, piece by piece. */
export class Fnv128a {
	// The offset basis, least significant limb first.
	#a = 0x6295c58d;
	#b = 0x62b82175;
	#c = 0x07bb0142;
	#d = 0x6c62272e;

	update(text: string): this {
		for (let i = 0; i < text.length; i++) {
			const unit = text.charCodeAt(i);
			if (unit < 0x80) this.#byte(unit);
			else i += this.#codePoint(text.codePointAt(i) ?? unit);
		}
		return this;
	}

	/** 32 lower-case digits. Does not end the hash: more may be added. */
	hex(): string {
		return [this.#d, this.#c, this.#b, this.#a].map((limb) => limb.toString(16).padStart(8, "0")).join("");
	}

	/** Returns how many code units it took beside the first. */
	#codePoint(point: number): number {
		for (const byte of utf8Bytes(point)) this.#byte(byte);
		return point > 0xffff ? 1 : 0;
	}

	#byte(byte: number): void {
		const a = (this.#a ^ byte) >>> 0;
		const b = this.#b;
		const low = a * PRIME_LOW;
		const second = b * PRIME_LOW + Math.floor(low / LIMB);
		// Shifting by 88 moves everything up by two limbs and 24 bits.
		const third = this.#c * PRIME_LOW + Math.floor(second / LIMB) + ((a << 24) >>> 0);
		const fourth = this.#d * PRIME_LOW + Math.floor(third / LIMB) + (a >>> 8) + ((b << 24) >>> 0);
		this.#a = low >>> 0;
		this.#b = second >>> 0;
		this.#c = third >>> 0;
		this.#d = fourth >>> 0;
	}
}

export function fnv128aHex(text: string): string {
	return new Fnv128a().update(text).hex();
}

/** FNV-1 of 32 bits over UTF-8: multiplies before it mixes in. */
export function fnv32(text: string): number {
	let hash = 0x811c9dc5;
	for (const character of text) {
		for (const byte of utf8Bytes(character.codePointAt(0) ?? 0)) hash = Math.imul(hash, 0x01000193) ^ byte;
	}
	return hash >>> 0;
}

/** FNV-1a of 32 bits over UTF-8. */
export function fnv32a(text: string): number {
	let hash = 0x811c9dc5;
	for (const character of text) {
		for (const byte of utf8Bytes(character.codePointAt(0) ?? 0)) hash = Math.imul(hash ^ byte, 0x01000193);
	}
	return hash >>> 0;
}

/** Half of a surrogate pair has no bytes of its own: it counts as U+FFFD, as TextEncoder has it. */
function utf8Bytes(point: number): readonly number[] {
	if (point < 0x80) return [point];
	if (point < 0x800) return [0xc0 | (point >> 6), continuation(point)];
	if (point >= 0xd800 && point <= 0xdfff) return utf8Bytes(0xfffd);
	if (point < 0x10000) return [0xe0 | (point >> 12), continuation(point >> 6), continuation(point)];
	return [0xf0 | (point >> 18), continuation(point >> 12), continuation(point >> 6), continuation(point)];
}

function continuation(bits: number): number {
	return 0x80 | (bits & 0x3f);
}
