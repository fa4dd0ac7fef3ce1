/** A folder for one process alone. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const FILE = "lock";

/**
 * Takes the folder, and makes it if it is not there. A lock whose process is gone is taken over.
 *
 * @returns How to give it back.
 * @throws {Error} A sentence, when another process has it or it cannot be written to.
 */
export function lockFolder(folder: string): () => void {
	makeFolder(folder);
	const file = path.join(folder, FILE);
	const own = `${process.pid} ${startOf(process.pid)}\n`;
	for (let tries = 0; tries < 2; tries++) {
		try {
			writeFileSync(file, own, { flag: "wx", mode: 0o600 });
			return () => {
				// It may be gone, or another's by now.
				if (existsSync(file) && readFileSync(file, "utf8") === own) rmSync(file);
			};
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
		const holder = holderOf(file);
		if (holder !== undefined) {
			throw new Error(`${folder} is in use by process ${holder}: end it first, or take another folder`);
		}
		rmSync(file, { force: true });
	}
	throw new Error(`${folder} is being taken by another process`);
}

/** What a read-only disk says is told only of a folder whose parent is there. */
function makeFolder(folder: string): void {
	if (existsSync(folder)) return;
	const recursive = !existsSync(path.dirname(folder));
	mkdirSync(folder, { recursive, mode: 0o700 });
}

/** The process that holds the lock; undefined when it is gone. */
function holderOf(file: string): number | undefined {
	const [pid = "", start = ""] = readFileSync(file, "utf8").trim().split(" ");
	const isAlive = /^\d+$/.test(pid) && isRunning(Number(pid)) && startOf(Number(pid)) === start;
	return isAlive ? Number(pid) : undefined;
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** When the process began, in the system's own count: a number that is used again has another. "-" where none tells. */
function startOf(pid: number): string {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		// The program's name may hold blanks and parentheses: fields are counted from behind it.
		return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "-";
	} catch {
		return "-";
	}
}
