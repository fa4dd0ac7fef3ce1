/** Cuts what a process prints into lines. A line that does not end is given in parts: nothing piles up. */

import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** As container runtimes cut them. */
const PART_LENGTH_MAX = 16_384;

export function forEachLine(stream: Readable, told: (line: string) => void): void {
	const decoder = new StringDecoder("utf8");
	let pending = "";
	stream.on("data", (chunk: Buffer) => {
		const lines = (pending + decoder.write(chunk)).split("\n");
		pending = lines.pop() ?? "";
		for (const line of lines) told(line.endsWith("\r") ? line.slice(0, -1) : line);
		while (pending.length > PART_LENGTH_MAX) {
			told(pending.slice(0, PART_LENGTH_MAX));
			pending = pending.slice(PART_LENGTH_MAX);
		}
	});
	stream.on("error", () => undefined);
	stream.once("close", () => {
		pending += decoder.end();
		if (pending !== "") told(pending);
	});
}
