/** Looks at stores in a process of its own, so that damage ends that one only. */
import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { builtScript } from "./built-script.ts";
import { lmdbFileProblem } from "./lmdb-file.ts";
import type { CopyLook, Look, LookAsked, Looked } from "./lmdb-look.ts";
import { STORE_FILE } from "./store-folder.ts";
import { isNoSpace, NO_SPACE } from "./store-reason.ts";

/** Problems that are told one by one may be many. */
const ANSWER_BYTES_MAX = 1024 * 1024 * 1024;
/** What the system ends a process with that reads what is not there, or that finds itself wrong. */
const FAULTS: ReadonlySet<string> = new Set(["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV"]);

type Found = Looked & { readonly kind: "found" };

/** Rejects with a sentence that names the file and what to do. */
export async function lookAtStore(
	look: CopyLook | (Look & { readonly kind: "check" }),
	signal?: AbortSignal,
): Promise<Found> {
	const file = path.join(look.path, STORE_FILE);
	const problem = lmdbFileProblem(file);
	if (problem !== undefined) throw new Error(`${file}: ${problem}`);
	const answer = await answerOf(look, signal);
	if (answer.kind === "found") return answer;
	const why = answer.kind === "failed" ? answer.why : "its readers were counted";
	if (look.kind === "copy" && isNoSpace(why, look.to)) throw new Error(NO_SPACE);
	throw new Error(`${file}: ${why}`);
}

/** Whether a process that lives has it open; undefined when it cannot be known. */
export async function hasReaders(store: string): Promise<boolean | undefined> {
	if (lmdbFileProblem(path.join(store, STORE_FILE)) !== undefined) return undefined;
	const answer = await answerOf({ kind: "readers", path: store });
	return answer.kind === "readers" ? answer.count > 0 : undefined;
}

function answerOf(look: Look, signal?: AbortSignal): Promise<Looked> {
	const script = fileURLToPath(builtScript(import.meta.url, "./lmdb-look.js"));
	const asked: LookAsked = { look, asker: process.pid };
	return new Promise((resolve, reject) => {
		const options = { maxBuffer: ANSWER_BYTES_MAX };
		const child = execFile(process.execPath, [script, JSON.stringify(asked)], options, (error, stdout, stderr) => {
			signal?.removeEventListener("abort", end);
			// Only now: what it writes must not be removed under it.
			if (signal?.aborted === true) reject(signal.reason);
			else if (error === null) resolve(JSON.parse(stdout) as Looked);
			else resolve({ kind: "failed", why: endOf(error.signal ?? `status ${error.code}`, stderr) });
		});
		const end = (): void => void child.kill("SIGKILL");
		signal?.addEventListener("abort", end);
		if (signal?.aborted === true) end();
	});
}

function endOf(how: string, stderr: string): string {
	if (/heap out of memory/.test(stderr))
		return "this process may not use as much memory as it wants: see node --max-old-space-size";
	if (FAULTS.has(how)) return `its pages are damaged, reading them ended with ${how}: restore a snapshot`;
	return `reading it ended with ${how}; try again`;
}
