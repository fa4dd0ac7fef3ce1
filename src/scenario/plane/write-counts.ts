/** Writes of the controllers by kind: what `writes` expects of. */
import type { Kind } from "../format/vocabulary.ts";

export type CountedVerb = "create" | "update" | "delete";

const COUNTED: Readonly<Record<string, CountedVerb>> = {
	create: "create",
	update: "update",
	patch: "update",
	delete: "delete",
};

export class WriteCounts {
	readonly #counts = new Map<string, number>();

	/** @param verb Of the request; those that are no write of one object do not count. */
	add(kind: string, verb: string): void {
		const counted = COUNTED[verb];
		if (counted === undefined) return;
		const key = `${counted} ${kind}`;
		this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
	}

	of(kind: Kind, verb: CountedVerb): number {
		return this.#counts.get(`${verb} ${kind}`) ?? 0;
	}

	reset(): void {
		this.#counts.clear();
	}
}
