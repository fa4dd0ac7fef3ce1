/** Rounds of writing to a plane with a data folder, and killing it; what was acknowledged, or seen, must be there. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CONFIG_MAPS } from "../../src/api/resource-names.ts";
import { hasReason } from "../../src/api/status.ts";
import type { ConfigMap } from "../../src/api/types/core.ts";
import type { HttpClient } from "../../src/edge/http-client.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import { eventually, RunningPlane } from "../e2e/plane.ts";

export interface DurableRun {
	readonly rounds: number;
	readonly acknowledged: number;
	/** Events that a watcher saw before a kill. */
	readonly seen: number;
	readonly problems: readonly string[];
	/** From the start of the program to its word that it is ready, the longest. */
	readonly readyMsMax: number;
}

const WRITERS = 64;
/** From the moment when as many writes as there are writers were acknowledged, and seen, to the kill, at random. */
const ROUND_MS_MAX = 300;

/** By name: the newest resourceVersion that somebody was told. */
type Told = Map<string, number>;

export async function killedRounds(rounds: number, seed: number): Promise<DurableRun> {
	const random = new SeededRandom(seed);
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-durable-"));
	const flags = ["--nodes", "0", "--network", "none", "--data-dir", path.join(folder, "data")];
	const told: Told = new Map();
	const problems: string[] = [];
	let [acknowledged, seen, readyMsMax] = [0, 0, 0];
	try {
		for (let round = 1; round <= rounds; round++) {
			const startedMs = performance.now();
			const plane = await RunningPlane.start(flags);
			readyMsMax = Math.max(readyMsMax, performance.now() - startedMs);
			const client = await clusterClient({ kubeconfig: plane.kubeconfig });
			problems.push(...(await missing(client, told)).map((text) => `round ${round}: ${text}`));
			const unresumed = await resumed(client, Math.max(0, ...told.values()), `resume-${round}`);
			if (unresumed !== undefined) problems.push(`round ${round}: ${unresumed}`);
			const stopping = new AbortController();
			const before = { acknowledged, seen };
			const saw = (): void => {
				seen++;
			};
			const watched = watch(client, { told, saw, signal: stopping.signal });
			const done = (): void => {
				acknowledged++;
			};
			const writing = Array.from({ length: WRITERS }, (_, writer) =>
				write(client, { writer, round, told, done, signal: stopping.signal }),
			);
			const isUnderWay = (): Promise<boolean> =>
				Promise.resolve(acknowledged - before.acknowledged >= WRITERS && seen - before.seen >= WRITERS);
			await eventually(isUnderWay, (is) => is, { what: "no write was acknowledged and seen" });
			await new Promise((resolve) => setTimeout(resolve, Math.floor(random.next() * ROUND_MS_MAX)));
			await plane.stop("SIGKILL");
			stopping.abort();
			await Promise.all([...writing, watched]);
			client.close();
		}
		return { rounds, acknowledged, seen, problems, readyMsMax: Math.round(readyMsMax) };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Whatever was told of an object holds after the restart, or something newer. */
async function missing(client: HttpClient, told: Told): Promise<readonly string[]> {
	const { items, resourceVersion } = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: "default" });
	const found = new Map(items.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]));
	return [...told].flatMap(([name, version]) => {
		if (version > Number(resourceVersion))
			return [`${name}@${version} was told, and the store ends at ${resourceVersion}`];
		const now = found.get(name);
		return now === undefined || now < version ? [`${name}@${version} was told, and is ${now ?? "gone"}`] : [];
	});
}

/** A watch that was open before the kill goes on from where it was, in order, or is told to list anew. */
async function resumed(client: HttpClient, from: number, name: string): Promise<string | undefined> {
	if (from === 0) return undefined;
	await client.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name } });
	const over = new AbortController();
	try {
		let last = from;
		for await (const { name: changed, version } of changesAfter(client, from, over.signal)) {
			if (version <= last) return `a watch from ${from} got ${version} after ${last}`;
			last = version;
			if (changed === name) return undefined;
		}
		return `a watch from ${from} ended without ${name}`;
	} catch (error) {
		return hasReason(error, "Expired") ? undefined : `a watch from ${from}: ${String(error)}`;
	} finally {
		over.abort();
	}
}

async function* changesAfter(
	client: HttpClient,
	from: number,
	signal: AbortSignal,
): AsyncIterable<{ readonly name: string; readonly version: number }> {
	const options = { namespace: "default", resourceVersion: String(from), signal };
	for await (const batch of client.watch<ConfigMap>(CONFIG_MAPS, options)) {
		for (const event of batch) {
			if (event.type === "BOOKMARK") continue;
			const { name, resourceVersion } = event.object.metadata;
			yield { name, version: Number(resourceVersion) };
		}
	}
}

interface WriterOptions {
	readonly writer: number;
	readonly round: number;
	readonly told: Told;
	/** Told of each write that was acknowledged. */
	readonly done: () => void;
	readonly signal: AbortSignal;
}

async function write(client: HttpClient, { writer, round, told, done, signal }: WriterOptions): Promise<void> {
	for (let index = 0; !signal.aborted; index++) {
		const name = `w-${writer}-${round}-${index}`;
		try {
			const made = await client.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name }, data: { at: "0" } });
			tell(told, made);
			done();
			tell(told, await client.update(CONFIG_MAPS, { ...made, data: { at: "1" } }));
			done();
		} catch {
			// The plane was killed: what was under way may be there, or not.
			return;
		}
	}
}

interface WatchOptions {
	readonly told: Told;
	/** Told of each event. */
	readonly saw: () => void;
	readonly signal: AbortSignal;
}

async function watch(client: HttpClient, { told, saw, signal }: WatchOptions): Promise<void> {
	try {
		const { resourceVersion } = await client.list<ConfigMap>(CONFIG_MAPS, { namespace: "default" });
		for await (const batch of client.watch<ConfigMap>(CONFIG_MAPS, { namespace: "default", resourceVersion, signal })) {
			for (const event of batch) {
				if (event.type === "BOOKMARK") continue;
				tell(told, event.object);
				saw();
			}
		}
	} catch {
		// The plane was killed.
	}
}

function tell(told: Told, { metadata }: ConfigMap): void {
	const version = Number(metadata.resourceVersion);
	told.set(metadata.name, Math.max(version, told.get(metadata.name) ?? 0));
}
