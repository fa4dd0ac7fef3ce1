/** The text of `-f FILE`; `-` is standard input. */
import { readFile } from "node:fs/promises";
import { systemCode, systemReason } from "../edge/system-reason.ts";

/** Rejects with a sentence that names the file. */
export async function manifestText(file: string): Promise<string> {
	try {
		return file === "-" ? await standardInput() : await readFile(file, "utf8");
	} catch (error) {
		const reason = systemCode(error) === "ENOENT" ? "no such file" : systemReason(error);
		throw new Error(`cannot read manifest ${file}: ${reason}`, { cause: error });
	}
}

async function standardInput(): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
	return Buffer.concat(chunks).toString("utf8");
}
