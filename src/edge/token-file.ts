import { readFile } from "node:fs/promises";

/** Tokens of service accounts live for an hour at least and are replaced long before their end. */
const FRESH_MS = 60_000;

/** A token that someone replaces from time to time: read again when what was read is a minute old. */
export class TokenFile {
	readonly #file: string;
	#token = "";
	#readAtMs = Number.NEGATIVE_INFINITY;

	constructor(file: string) {
		this.#file = file;
	}

	/** The last token that was read serves on while the file is missing. Rejects when there never was one. */
	async read(): Promise<string> {
		if (performance.now() - this.#readAtMs < FRESH_MS) return this.#token;
		try {
			this.#token = (await readFile(this.#file, "utf8")).trim();
			this.#readAtMs = performance.now();
		} catch (error) {
			if (this.#token === "") throw error;
		}
		return this.#token;
	}
}
