/**
 * Two API servers on one etcd, and two processes of controllers, each by a server of its own. One of the four is killed,
 * or stopped for a while, round by round, while clients write, read and watch, and Pods come, change and go.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CONFIG_MAPS, ENDPOINT_SLICES, NODES, PODS, SERVICES } from "../../src/api/resource-names.ts";
import type { ConfigMap, Pod } from "../../src/api/types/core.ts";
import type { HttpClient } from "../../src/edge/http-client.ts";
import { assertDefined } from "../../src/kernel/assert.ts";
import { EtcdProcess } from "../../src/testing/etcd-process.ts";
import { SeededRandom } from "../../src/testing/seeded.ts";
import { sliceProblems } from "../../src/testing/slice-problems.ts";
import { clusterClient } from "../../src/wiring/cluster-client.ts";
import { Part } from "../e2e/parts.ts";
import { eventually } from "../e2e/plane.ts";
import { ClientHistory } from "./client-history.ts";

export interface TwoOfEachRun {
	readonly rounds: number;
	/** What was done to whom, in order. */
	readonly faults: readonly string[];
	readonly acknowledged: number;
	readonly seen: number;
	/** From a fault to the endpoint of a Pod that was made after it; in order of the rounds. */
	readonly handOverMs: readonly number[];
	readonly problems: readonly string[];
	readonly excuses: readonly string[];
}

const WRITERS_PER_SERVER = 4;
const PODS_PER_ROUND = 3;
const ENDPOINTS_PER_SLICE = 100;
/** Beyond the duration of a Lease, so that whoever is stopped has lost it when it goes on. */
const STOPPED_MS = { min: 2_000, spread: 20_000 } as const;
/** Of a Lease 15 s, and a try each 2 s with jitter; the rest is for the sync of caches on a busy machine. */
const HAND_OVER_MS_MAX = 30_000;
const CONTROLLERS = "endpointslice-controller,endpoints-controller,endpointslice-mirroring-controller";

/** A program that is started again when it has ended. */
class Member {
	readonly name: string;
	readonly #words: readonly string[];
	#part: Part;

	constructor(name: string, words: readonly string[]) {
		this.name = name;
		this.#words = words;
		this.#part = new Part(words);
	}

	get part(): Part {
		return this.#part;
	}

	/** As whoever looks after programs does. */
	async startAgain(): Promise<void> {
		if (this.#part.isRunning) return;
		await this.#part.exit();
		this.#part = new Part(this.#words);
	}
}

export async function roundsOfTwo(rounds: number, seed: number): Promise<TwoOfEachRun> {
	const cluster = await TwoOfEach.start();
	const run = new Rounds(cluster, seed);
	try {
		for (let round = 1; round <= rounds; round++) await run.round(round);
		await run.end();
		return run.result(rounds);
	} finally {
		await cluster.stop();
	}
}

class TwoOfEach {
	readonly #folder: string;
	readonly #etcd: EtcdProcess;
	readonly servers: readonly [Member, Member];
	readonly controllers: readonly [Member, Member];
	readonly clients: readonly [HttpClient, HttpClient];

	private constructor(
		folder: string,
		etcd: EtcdProcess,
		servers: readonly [Member, Member],
		clients: readonly [HttpClient, HttpClient],
	) {
		this.#folder = folder;
		this.#etcd = etcd;
		this.servers = servers;
		this.clients = clients;
		this.controllers = [controllersBy(folder, 0), controllersBy(folder, 1)];
	}

	static async start(): Promise<TwoOfEach> {
		const folder = mkdtempSync(path.join(tmpdir(), "sliceplane-two-"));
		writeFileSync(path.join(folder, "tokens"), 'secret,root,root,"system:masters"\n', { mode: 0o600 });
		const etcd = await EtcdProcess.start();
		const servers = [await serverAt(folder, etcd.url, 0), await serverAt(folder, etcd.url, 1)] as const;
		const clients = [
			await clusterClient({ kubeconfig: kubeconfigOf(folder, 0) }),
			await clusterClient({ kubeconfig: kubeconfigOf(folder, 1) }),
		] as const;
		return new TwoOfEach(folder, etcd, servers, clients);
	}

	get members(): readonly Member[] {
		return [...this.servers, ...this.controllers];
	}

	/** By a server that is not the member. */
	clientBeside(member: Member): HttpClient {
		return this.clients[member === this.servers[0] ? 1 : 0];
	}

	async stop(): Promise<void> {
		for (const { part } of this.members) part.signal("SIGCONT");
		await Promise.all(this.members.map(({ part }) => part.end("SIGKILL")));
		for (const client of this.clients) client.close();
		await this.#etcd.stop();
		rmSync(this.#folder, { recursive: true, force: true });
	}
}

function kubeconfigOf(folder: string, index: number): string {
	return path.join(folder, `kubeconfig-${index}`);
}

/** Started once at any free port, and then always there: who talks to it finds it again. */
async function serverAt(folder: string, etcd: string, index: number): Promise<Member> {
	const words = (listen: string): readonly string[] => [
		...["apiserver", "--listen", listen, "--kubeconfig", kubeconfigOf(folder, index), "--etcd-servers", etcd],
		...["--cert-dir", path.join(folder, "certificates"), "--token-auth-file", path.join(folder, "tokens")],
	];
	const first = await new Part(words("127.0.0.1:0")).ready();
	const [, place = ""] = /https:\/\/(\S+)/.exec(first.stdout) ?? [];
	await first.end();
	const member = new Member(`server ${index}`, words(place));
	await member.part.ready();
	return member;
}

function controllersBy(folder: string, index: number): Member {
	const words = ["controllers", "--kubeconfig", kubeconfigOf(folder, index), "--controllers", CONTROLLERS];
	return new Member(`controllers ${index}`, [...words, "--metrics-bind-address", ""]);
}

class Rounds {
	readonly #cluster: TwoOfEach;
	readonly #random: SeededRandom;
	readonly #history = new ClientHistory();
	readonly #faults: string[] = [];
	readonly #handOverMs: number[] = [];
	readonly #problems: string[] = [];
	readonly #pods: string[] = [];
	#made = 0;

	constructor(cluster: TwoOfEach, seed: number) {
		this.#cluster = cluster;
		this.#random = new SeededRandom(seed);
	}

	async round(round: number): Promise<void> {
		if (round === 1) await this.#begin();
		await this.#history.begin(this.#cluster.clients[0]);
		const victim = this.#choose(this.#cluster.members);
		const survivor = this.#cluster.clientBeside(victim);
		const over = new AbortController();
		const { signal } = over;
		// The log must not be read by a server that is silent.
		const working = [
			this.#history.follow(survivor, signal),
			...this.#cluster.clients.flatMap((client, server) => [
				this.#history.watch(`watcher ${round}.${server}`, client, signal),
				...Array.from({ length: WRITERS_PER_SERVER }, (_, writer) =>
					this.#history.write(`${round}-${server}-${writer}`, client, signal),
				),
			]),
		];
		await this.#changePods(survivor);
		const isStopped = this.#random.next() < 0.5;
		this.#faults.push(`${isStopped ? "stopped" : "killed"} ${victim.name}`);
		process.stderr.write(`round ${round}: ${this.#faults.at(-1)}\n`);
		const goesOn = isStopped ? this.#stop(victim) : this.#kill(victim);
		await this.#handOver(survivor);
		await goesOn;
		await this.#whole();
		over.abort();
		await Promise.all(working);
		await this.#lookAt(round);
	}

	async end(): Promise<void> {
		const [client] = this.#cluster.clients;
		const over = new AbortController();
		const following = this.#history.follow(client, over.signal);
		const last = await client.create<ConfigMap>(CONFIG_MAPS, "default", { metadata: { name: "last" } });
		await this.#history.caughtUp(Number(last.metadata.resourceVersion));
		await this.#history.read("the end", client, this.#history.places());
		over.abort();
		await following;
	}

	result(rounds: number): TwoOfEachRun {
		const broken = this.#history.broken().map(({ promise, detail }) => `${promise}: ${detail}`);
		const { acknowledged, seen, problems, excuses } = this.#history;
		return {
			rounds,
			faults: this.#faults,
			acknowledged,
			seen,
			handOverMs: this.#handOverMs,
			problems: [...this.#problems, ...problems, ...broken],
			excuses: [...excuses],
		};
	}

	async #begin(): Promise<void> {
		const [client] = this.#cluster.clients;
		await client.create(NODES, "", { metadata: { name: "n1" } });
		await client.create(SERVICES, "default", {
			metadata: { name: "web" },
			spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
		});
		await this.#handOver(client);
		this.#handOverMs.pop();
	}

	async #kill(victim: Member): Promise<void> {
		await victim.part.end("SIGKILL");
		await new Promise((resolve) => setTimeout(resolve, this.#restMs()));
		await victim.startAgain();
	}

	async #stop(victim: Member): Promise<void> {
		victim.part.signal("SIGSTOP");
		await new Promise((resolve) => setTimeout(resolve, this.#restMs()));
		victim.part.signal("SIGCONT");
	}

	#restMs(): number {
		return STOPPED_MS.min + Math.floor(this.#random.next() * STOPPED_MS.spread);
	}

	/** A Pod that comes after the fault has its endpoint in time. */
	async #handOver(client: HttpClient): Promise<void> {
		const fromMs = performance.now();
		const ip = await this.#makePod(client);
		const addresses = async (): Promise<readonly string[]> => {
			await this.#startEnded();
			const { items } = await client.list(ENDPOINT_SLICES, { namespace: "default" });
			return items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses));
		};
		const options = { what: `no endpoint for ${ip}`, withinMs: HAND_OVER_MS_MAX * 2 };
		await eventually(addresses, (found) => found.includes(ip), options);
		const tookMs = Math.round(performance.now() - fromMs);
		this.#handOverMs.push(tookMs);
		if (tookMs > HAND_OVER_MS_MAX) this.#problems.push(`${this.#faults.at(-1)}: took over after ${tookMs} ms`);
	}

	/** Whoever has ended, having lost the lead, is started again. */
	async #startEnded(): Promise<void> {
		await Promise.all(this.#cluster.controllers.map((member) => member.startAgain()));
	}

	/** All four are there: both servers answer, and of the controllers one leads, and the other one knows who does. */
	async #whole(): Promise<void> {
		const strangers = async (): Promise<readonly string[]> => {
			await this.#startEnded();
			const news = this.#cluster.controllers.map(({ name, part }) => ({ name, text: part.stderr }));
			return news.filter(({ text }) => !/Standing by:|Leading as/.test(text)).map(({ name }) => name);
		};
		await eventually(strangers, (names) => names.length === 0, { what: "controllers do not come back" });
		for (const client of this.#cluster.clients) {
			const answers = (): Promise<boolean> =>
				client.get(NODES, { namespace: "", name: "n1" }).then(
					() => true,
					() => false,
				);
			await eventually(answers, (is) => is, { what: "a server does not come back" });
		}
	}

	/** At rest every endpoint is there once, by either server; and neither shows less than somebody was told. */
	async #lookAt(round: number): Promise<void> {
		for (const [index, client] of this.#cluster.clients.entries()) {
			await this.#history.read(`after round ${round}, server ${index}`, client, this.#history.places(`${round}-`));
			const wrong = (): Promise<readonly string[]> => sliceProblems(client, ENDPOINTS_PER_SLICE);
			await eventually(wrong, (problems) => problems.length === 0, { what: `after ${this.#faults.at(-1)}` });
		}
	}

	async #changePods(client: HttpClient): Promise<void> {
		for (let index = 0; index < PODS_PER_ROUND; index++) await this.#makePod(client);
		const gone = this.#pods.splice(Math.floor(this.#random.next() * this.#pods.length), 1)[0];
		if (gone !== undefined) await client.delete(PODS, { namespace: "default", name: gone }, { gracePeriodSeconds: 0 });
		const name = assertDefined(this.#choose(this.#pods), "a Pod");
		const flipped = this.#random.next() < 0.5 ? "True" : "False";
		const status = { conditions: [{ type: "Ready", status: flipped }] };
		await client.patch(
			PODS,
			{ namespace: "default", name },
			{ type: "merge", body: { status } },
			{ subresource: "status" },
		);
	}

	/** Returns its address. */
	async #makePod(client: HttpClient): Promise<string> {
		const index = ++this.#made;
		const [name, ip] = [`web-${index}`, `10.1.${index >> 8}.${index & 255}`];
		const made = await client.create<Pod>(PODS, "default", {
			metadata: { name, labels: { app: "web" } },
			spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
		});
		const conditions = [{ type: "Ready", status: "True" }] as const;
		const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions } as const;
		await client.update(PODS, { ...made, status }, { subresource: "status" });
		this.#pods.push(name);
		return ip;
	}

	#choose<T>(choices: readonly T[]): T {
		return choices[Math.floor(this.#random.next() * choices.length)] as T;
	}
}
