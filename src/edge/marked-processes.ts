/** Finds processes by a mark in their environment, wherever they have gone: into other groups, sessions or parents. */
import { readdirSync, readFileSync } from "node:fs";

/** The variable with the mark. */
export const MARK = "SLICEPLANE_PROCESS";
/** One may start another while it is looked for. */
const ROUNDS_MAX = 5;

/** Kills those whose mark is one of these. Without /proc, as on systems that are no Linux, it finds none. */
export function killMarked(isMarked: (mark: string) => boolean): void {
	for (let round = 0; round < ROUNDS_MAX; round++) {
		const found = processIds().filter((pid) => isMarked(markOf(pid) ?? ""));
		for (const pid of found) kill(pid);
		if (found.length === 0) return;
	}
}

function processIds(): readonly number[] {
	try {
		return readdirSync("/proc")
			.filter((name) => /^\d+$/.test(name))
			.map(Number);
	} catch {
		return [];
	}
}

/** undefined for processes of others, and for those that have ended. */
function markOf(pid: number): string | undefined {
	try {
		const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
		return variables.find((text) => text.startsWith(`${MARK}=`))?.slice(MARK.length + 1);
	} catch {
		return undefined;
	}
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has ended by itself.
	}
}
