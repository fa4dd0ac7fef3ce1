/** The Node that runs the tests, and a newer one. What cannot be had on this machine is left out with its reason. */
// @ts-expect-error A script without types; its one function is described below.
import { nodePath } from "../../scripts/fetch-node.mjs";

/** Paths of programs, this one first. */
export async function nodeVersions(): Promise<readonly string[]> {
	try {
		const newer: string = await nodePath(24);
		return [process.execPath, newer];
	} catch (error) {
		process.stderr.write(`skipped: Node 24: ${String(error).split("\n")[0]}\n`);
		return [process.execPath];
	}
}
