import { homedir } from "node:os";
import path from "node:path";

/** The program's part of the user's cache folder. @see https://specifications.freedesktop.org/basedir-spec/ */
export function cacheFolder(): string {
	const base = process.env["XDG_CACHE_HOME"];
	return path.join(base !== undefined && path.isAbsolute(base) ? base : path.join(homedir(), ".cache"), "sliceplane");
}
