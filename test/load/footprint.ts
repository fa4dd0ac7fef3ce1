/** What this process holds: sockets, and memory after a garbage collection. */
import { readdirSync, readlinkSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Sockets of all threads of this process. */
export function socketCount(): number {
	const links = readdirSync("/proc/self/fd").map((fd) => {
		try {
			return readlinkSync(`/proc/self/fd/${fd}`);
		} catch {
			// It was closed meanwhile, as the one that lists the folder was.
			return "";
		}
	});
	return links.filter((link) => link.startsWith("socket:")).length;
}

/** Bytes on this thread's heap after a collection. */
export function heapBytes(): number {
	setFlagsFromString("--expose-gc");
	const collect: () => void = runInNewContext("gc");
	collect();
	collect();
	return process.memoryUsage().heapUsed;
}
