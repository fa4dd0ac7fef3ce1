/**
 * What a controller wrote, and whether its cache has it.
 *
 * A controller that counts Pods must not count before it sees those that it has just made or deleted.
 * Its cache is as of a resourceVersion, its writes have one: comparing the two is all it takes.
 */
import { compareResourceVersions } from "../api/resource-version.ts";

export class SeenWrites {
	readonly #written = new Map<string, string>();

	/** Notes a write for `key`, with the resourceVersion that it answered. */
	wrote(key: string, resourceVersion: string | undefined): void {
		if (resourceVersion === undefined || resourceVersion === "") return;
		const known = this.#written.get(key);
		if (known === undefined || compareResourceVersions(known, resourceVersion) < 0) {
			this.#written.set(key, resourceVersion);
		}
	}

	/** Whether a cache as of `asOf` lacks a write for `key`. What it has is forgotten. */
	isBehind(key: string, asOf: string | undefined): boolean {
		const written = this.#written.get(key);
		if (written === undefined) return false;
		if (asOf === undefined || compareResourceVersions(asOf, written) < 0) return true;
		this.#written.delete(key);
		return false;
	}

	forget(key: string): void {
		this.#written.delete(key);
	}
}
