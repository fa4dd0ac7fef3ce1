import { randomInt, randomUUID } from "node:crypto";
import type { IdSource, Random } from "../kernel/random.ts";

const STEPS = 2 ** 47;

/** Numbers that no client can guess: names and ports must not tell what comes next. */
export class CryptoRandom implements Random, IdSource {
	next(): number {
		return randomInt(STEPS) / STEPS;
	}

	uid(): string {
		return randomUUID();
	}
}
