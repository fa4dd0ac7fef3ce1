/** Where the script of a thread is: threads run what is built, also when the rest runs from source. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * @param module The `import.meta.url` of who starts the thread.
 * @param script Relative to it, such as `./lmdb-worker.js`.
 */
export function builtScript(module: string, script: string): URL {
	const beside = new URL(script, module);
	if (existsSync(fileURLToPath(beside))) return beside;
	return new URL(beside.href.replace(/\/src\/(?!.*\/src\/)/, "/dist/"));
}
