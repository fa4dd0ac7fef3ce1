/** Rounds of writing to a plane with a data folder, and killing it; what was acknowledged, or seen, must be there. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CONFIG_MAPS } from "../../src/api/resource-names.ts";
import type { ConfigMap } from "../../src/api/types/core.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import { eventually, RunningPlane } from "../e2e/plane.ts";
import { ClientHistory } from "./client-history.ts";

export interface DurableRun {
	readonly rounds: number;
	readonly acknowledged: number;
	/** Events that watchers saw. */
	readonly seen: number;
	readonly problems: readonly string[];
	/** From the start of the program to its word that it is ready, the longest. */
	readonly readyMsMax: number;
}

const WRITERS = 64;
const WATCHERS = 4;
/** From the moment when as many writes as there are writers were acknowledged, and seen, to the kill, at random. */
const ROUND_MS_MAX = 300;

export async function killedRounds(rounds: number, seed: number): Promise<DurableRun> {
	const random = new SeededRandom(seed);
	const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-durable-"));
	const flags = ["--nodes", "0", "--network", "none", "--data-dir", path.join(folder, "data")];
	const history = new ClientHistory();
	let readyMsMax = 0;
	try {
		for (let round = 1; round <= rounds; round++) {
			const startedMs = performance.now();
			const plane = await RunningPlane.start(flags);
			readyMsMax = Math.max(readyMsMax, performance.now() - startedMs);
			await killedRound(plane, history, round, Math.floor(random.next() * ROUND_MS_MAX));
		}
		const plane = await RunningPlane.start(flags);
		await caughtUp(plane, history);
		await plane.stop();
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
	const broken = history.broken().map(({ promise, detail }) => `${promise}: ${detail}`);
	const { acknowledged, seen, problems } = history;
	return { rounds, acknowledged, seen, problems: [...problems, ...broken], readyMsMax: Math.round(readyMsMax) };
}

async function killedRound(
	plane: RunningPlane,
	history: ClientHistory,
	round: number,
	untilKillMs: number,
): Promise<void> {
	const client = await clusterClient({ kubeconfig: plane.kubeconfig });
	const before = { acknowledged: history.acknowledged, seen: history.seen };
	const { signal, abort } = stopping();
	// What was there before the kill is there now, or was read to be so.
	await history.read(`start of round ${round}`, client, history.places(`${round - 1}-`));
	await history.begin(client);
	const clients = [
		history.follow(client, signal),
		...numbered(WATCHERS, (watcher) => history.watch(`watcher ${round}.${watcher}`, client, signal)),
		...numbered(WRITERS, (writer) => history.write(`${round}-${writer}`, client, signal)),
	];
	const isUnderWay = (): Promise<boolean> =>
		Promise.resolve(history.acknowledged - before.acknowledged >= WRITERS && history.seen - before.seen >= WRITERS);
	await eventually(isUnderWay, (is) => is, { what: "no write was acknowledged and seen" });
	await new Promise((resolve) => setTimeout(resolve, untilKillMs));
	await plane.stop("SIGKILL");
	abort();
	await Promise.all(clients);
	client.close();
}

/** The log is whole, and everything is read once more. */
async function caughtUp(plane: RunningPlane, history: ClientHistory): Promise<void> {
	const client = await clusterClient({ kubeconfig: plane.kubeconfig });
	const { signal, abort } = stopping();
	await history.read("the end", client, history.places());
	const following = history.follow(client, signal);
	const last = await client.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name: "last" } });
	await history.caughtUp(Number(last.metadata.resourceVersion));
	abort();
	await following;
	client.close();
}

function stopping(): { readonly signal: AbortSignal; readonly abort: () => void } {
	const controller = new AbortController();
	return { signal: controller.signal, abort: () => controller.abort() };
}

function numbered<T>(count: number, make: (index: number) => T): readonly T[] {
	return Array.from({ length: count }, (_, index) => make(index));
}
