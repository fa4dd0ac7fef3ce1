/** The text of `-f FILE`; `-` is standard input. */
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { systemCode, systemReason } from "../edge/system-reason.ts";

/** Rejects with a sentence that names the file. */
export async function manifestText(file: string): Promise<string> {
	try {
		return file === "-" ? await standardInput() : await readFile(file, "utf8");
	} catch (error) {
		throw unreadable(file, error);
	}
}

/** The same in parts, for files of any size. */
export async function* manifestChunks(file: string): AsyncGenerator<Uint8Array> {
	try {
		const stream = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
		for await (const chunk of stream) yield Buffer.from(chunk);
	} catch (error) {
		throw unreadable(file, error);
	}
}

const CHUNK_BYTES = 1024 * 1024;

function unreadable(file: string, error: unknown): Error {
	const reason = systemCode(error) === "ENOENT" ? "no such file" : systemReason(error);
	return new Error(`cannot read manifest ${file}: ${reason}`, { cause: error });
}

async function standardInput(): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
	return Buffer.concat(chunks).toString("utf8");
}
