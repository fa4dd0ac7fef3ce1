/** Looks at stores in a process of its own, so that damage ends that one only. */
import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { builtScript } from "./built-script.ts";
import { lmdbFileProblem } from "./lmdb-file.ts";
import type { Look, Looked } from "./lmdb-look.ts";
import { STORE_FILE } from "./store-folder.ts";

/** Problems that are told one by one may be many. */
const ANSWER_BYTES_MAX = 1024 * 1024 * 1024;

/** Rejects with a sentence that names the file and what to do. */
export async function lookAtStore(look: Look): Promise<Looked & { readonly kind: "found" }> {
	const file = path.join(look.path, STORE_FILE);
	const problem = lmdbFileProblem(file);
	if (problem !== undefined) throw new Error(`${file}: ${problem}`);
	const answer = await answerOf(look);
	if (answer.kind === "found") return answer;
	throw new Error(`${file}: ${answer.why}`);
}

function answerOf(look: Look): Promise<Looked> {
	const script = fileURLToPath(builtScript(import.meta.url, "./lmdb-look.js"));
	return new Promise((resolve) => {
		const options = { maxBuffer: ANSWER_BYTES_MAX };
		execFile(process.execPath, [script, JSON.stringify(look)], options, (error, stdout) => {
			const how = error === null ? undefined : (error.signal ?? `status ${error.code}`);
			if (how === undefined) resolve(JSON.parse(stdout) as Looked);
			else
				resolve({ kind: "failed", why: `its pages are damaged, reading them ended with ${how}: restore a snapshot` });
		});
	});
}
