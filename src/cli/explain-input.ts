/** What `explain` looks at: a live cluster, files, or the end of a scenario. */
import { open } from "node:fs/promises";
import { SystemClock } from "../edge/system-clock.ts";
import { type ClusterSnapshot, snapshotOf } from "../explain/snapshot.ts";
import type { Origin } from "../wiring/read-objects.ts";
import { manifestChunks, manifestText } from "./manifest-text.ts";
import { UsageError } from "./usage-error.ts";

export interface ExplainInput {
	readonly snapshot: ClusterSnapshot;
	/** Of objects of files; by `Kind/namespace/name`. */
	readonly origins: ReadonlyMap<string, Origin>;
	/** Where a name is looked for that comes without a namespace. */
	readonly namespace: string;
}

export interface InputFlags {
	readonly namespace?: string;
	readonly allNamespaces?: boolean;
	readonly filename?: readonly string[];
	readonly kubeconfig?: string;
	readonly context?: string;
}

/** Without a namespace of its own, what a scenario makes is in this one. */
const SCENARIO_NAMESPACE = "demo";

export async function explainInput(flags: InputFlags): Promise<ExplainInput> {
	const { filename: files, namespace = "default" } = flags;
	if (files === undefined) return { snapshot: await clusterSnapshot(flags, namespace), origins: new Map(), namespace };
	const scenarios = (await Promise.all(files.map(isScenario))).filter(Boolean);
	if (scenarios.length > 0) {
		if (files.length > 1) throw new UsageError(`-f ${files.join(" -f ")}: a scenario is looked at alone`);
		const snapshot = await scenarioSnapshot(files[0] ?? "");
		return { snapshot, origins: new Map(), namespace: flags.namespace ?? SCENARIO_NAMESPACE };
	}
	const { readObjects } = await import("../wiring/read-objects.ts");
	const sources = files.map((file) => ({ file: file === "-" ? "stdin" : file, chunks: manifestChunks(file) }));
	return { ...(await readObjects(sources, namespace)), namespace };
}

async function clusterSnapshot(flags: InputFlags, namespace: string): Promise<ClusterSnapshot> {
	const { readCluster } = await import("../wiring/read-snapshot.ts");
	const { clusterClient } = await import("../wiring/cluster-client.ts");
	const { refusalTeller } = await import("../wiring/refused-rights.ts");
	const client = await clusterClient(
		{ ...flags, files: process.env["KUBECONFIG"] },
		{ userAgent: "sliceplane-explain" },
	);
	// As kubectl: with -A a namespace says nothing.
	const own = flags.allNamespaces === true ? {} : { namespace };
	try {
		return await readCluster(client, { ...own, nowMs: new SystemClock().wallMs(), refused: refusalTeller("explain") });
	} finally {
		client.close();
	}
}

/** How far into a file a scenario shows itself. */
const HEAD_BYTES = 8 * 1024;

/** Manifests say their kind at the left edge; scenarios have steps or a title there. */
async function isScenario(file: string): Promise<boolean> {
	if (!/\.ya?ml$/.test(file)) return false;
	const head = await headOf(file);
	return /^(?:title|given|steps):/m.test(head) && !/^(?:apiVersion|kind):/m.test(head);
}

async function headOf(file: string): Promise<string> {
	// Whoever reads all of it says what is wrong with the file.
	const handle = await open(file).catch(() => undefined);
	if (handle === undefined) return "";
	try {
		const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
		return buffer.subarray(0, bytesRead).toString("utf8");
	} catch {
		return "";
	} finally {
		await handle.close();
	}
}

/** @throws {Error} When it cannot be read. One that fails is looked at as well: that is when one wants to know. */
async function scenarioSnapshot(file: string): Promise<ClusterSnapshot> {
	const { runScenario } = await import("../scenario/run-scenario.ts");
	let snapshot: ClusterSnapshot | undefined;
	const { kind } = await runScenario(await manifestText(file), {
		atEnd: ({ plane }) => {
			snapshot = snapshotOf((resource) => plane.stored(resource));
		},
	});
	if (snapshot === undefined)
		throw new Error(`${file}: a scenario that cannot be read: sliceplane scenario ${file} says why`);
	if (kind === "failed") process.stderr.write(`${file}: the scenario fails; this is how it ends\n`);
	return snapshot;
}
