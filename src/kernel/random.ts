/** Uniform random numbers in [0, 1). Seeded in tests, so every run can be replayed. */
export interface Random {
	next(): number;
}

/** Identities that must differ in every run in production, and be the same in every run of a test. */
export interface IdSource {
	/** A UUID, version 4, lower case. */
	uid(): string;
}

/** A whole number in [0, `below`). */
export function randomBelow(random: Random, below: number): number {
	return Math.floor(random.next() * below);
}

/** The 27 characters of generated names: no vowels and no look-alikes. */
export const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** `length` characters of {@link NAME_ALPHABET}, each equally likely. */
export function randomName(random: Random, length: number): string {
	let text = "";
	for (let i = 0; i < length; i++) text += NAME_ALPHABET[randomBelow(random, NAME_ALPHABET.length)];
	return text;
}
