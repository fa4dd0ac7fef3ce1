/** Runs a scenario in processes of their own, and tells their traces apart by digest. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";

const SCENARIO = "testdata/scenarios/long-day.yaml";

export interface Runs {
	/** Paths of Node programs, taken in turn. */
	readonly nodes: readonly string[];
	readonly processes: number;
	readonly seed: number;
}

/** The digests that occurred. The second half of the processes runs while every core has something else to do. */
export async function traceDigests({ nodes, processes, seed }: Runs): Promise<ReadonlySet<string>> {
	const digests = new Set<string>();
	let burners: readonly ChildProcess[] = [];
	try {
		for (let run = 0; run < processes; run++) {
			if (run === Math.floor(processes / 2)) burners = burning();
			digests.add(await digestOf(nodes[run % nodes.length] ?? process.execPath, seed));
		}
	} finally {
		for (const burner of burners) burner.kill("SIGKILL");
	}
	return digests;
}

function digestOf(node: string, seed: number): Promise<string> {
	const args = ["bin/sliceplane", "scenario", "--trace", "--seed", String(seed), SCENARIO];
	const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] });
	const hash = createHash("sha256");
	child.stdout.on("data", (bytes: Buffer) => hash.update(bytes));
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (status) => resolve(status === 0 ? hash.digest("hex") : `exit status ${status}`));
	});
}

function burning(): readonly ChildProcess[] {
	return Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["-e", "for (;;);"]));
}
