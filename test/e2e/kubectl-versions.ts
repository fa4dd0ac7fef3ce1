/** The kubectl versions that tests run with. What cannot be had on this machine is skipped with its reason. */
// @ts-expect-error A script without types; its one function is described below.
import { kubectlPath } from "../../scripts/fetch-kubectl.mjs";

export interface KubectlVersion {
	readonly name: string;
	readonly path: string;
	/** Why it is not there; undefined when it is. */
	readonly missing: string | undefined;
}

async function versionOf(minor: number): Promise<KubectlVersion> {
	const name = `kubectl 1.${minor}`;
	try {
		const path: string = await kubectlPath(minor);
		return { name, path, missing: undefined };
	} catch (error) {
		return { name, path: "", missing: error instanceof Error ? error.message : String(error) };
	}
}

/** In the order of `minors`; by default an old, a newer and the newest one. */
export async function kubectlVersions(...minors: readonly number[]): Promise<readonly KubectlVersion[]> {
	const versions: KubectlVersion[] = [];
	// One after the other: each is some 37 MB of download.
	for (const minor of minors.length === 0 ? [30, 33, 35] : minors) versions.push(await versionOf(minor));
	for (const { name, missing } of versions) {
		if (missing !== undefined) process.stderr.write(`skipped: ${name}: ${missing.split("\n")[0]}\n`);
	}
	return versions;
}
