/** At no time do two lead: real electors on clocks of their own, an unreliable server, and processes that are stopped. */
import { describe, expect, test } from "vitest";
import type { LEASES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Random } from "../kernel/random.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger, silentMetrics } from "../testing/silent.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { type ApiClient, TransportError } from "./api-client.ts";
import { Elector } from "./elector.ts";
import { type ElectionTimes, timesProblem } from "./leader-election.ts";

const DEFAULTS: ElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** The clock of a process: of another origin and speed, and without effect while the process is stopped. */
class ProcessClock implements Clock {
	readonly #time: VirtualClock;
	readonly #rate: number;
	readonly #wallOffsetMs: number;
	#goOn: Promise<void> = Promise.resolve();
	#wake: () => void = () => undefined;

	constructor(time: VirtualClock, random: Random) {
		this.#time = time;
		this.#rate = 0.95 + random.next() / 10;
		this.#wallOffsetMs = (random.next() - 0.5) * 1e9;
	}

	wallMs(): number {
		return this.#time.wallMs() + this.#wallOffsetMs;
	}

	monotonicMs(): number {
		return 1e6 + this.#time.monotonicMs() * this.#rate;
	}

	async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
		await this.#time.sleep(delayMs / this.#rate, signal);
		await this.#goOn;
	}

	yield(): Promise<void> {
		return this.#time.yield();
	}

	stop(): void {
		this.#goOn = new Promise((resolve) => (this.#wake = resolve));
	}

	resume(): void {
		this.#wake();
		this.#goOn = Promise.resolve();
	}

	/** What comes from outside is seen only when the process runs. */
	async seen<T>(answer: Promise<T>): Promise<T> {
		try {
			return await answer;
		} finally {
			await this.#goOn;
		}
	}
}

/** One Lease, by the rules of the API. */
class LeaseServer {
	lease: Lease | undefined;
	#revision = 1;

	get(): Lease {
		if (this.lease === undefined) throw new ApiError("NotFound", "no such lease");
		return this.lease;
	}

	create(lease: Pick<Lease, "metadata" | "spec">): Lease {
		if (this.lease !== undefined) throw new ApiError("AlreadyExists", "is there");
		return this.#store(lease);
	}

	update(lease: Lease): Lease {
		if (lease.metadata.resourceVersion !== this.get().metadata.resourceVersion)
			throw new ApiError("Conflict", "changed");
		return this.#store(lease);
	}

	#store(lease: Pick<Lease, "metadata" | "spec">): Lease {
		this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#revision) } } as Lease;
		return this.lease;
	}
}

interface Network {
	/** Of one way. */
	latencyMs(): number;
	/** Of a request, or of its answer. */
	isLost(): boolean;
}

function clientOf(server: LeaseServer, time: VirtualClock, clock: ProcessClock, network: Network): ApiClient {
	const ask = async (serve: () => Lease, signal?: AbortSignal): Promise<Lease> => {
		const way = async (): Promise<void> => {
			// Nothing calls back what is on its way.
			await time.sleep(network.latencyMs());
			if (network.isLost()) await new Promise(() => undefined);
		};
		const served = way().then(async () => {
			const answer = await Promise.allSettled([(async () => serve())()]);
			await way();
			return answer[0];
		});
		const aborted = new Promise<never>((_resolve, reject) => {
			signal?.addEventListener("abort", () => reject(new TransportError("broken", "no answer")), { once: true });
		});
		const result = await clock.seen(Promise.race([served, aborted]));
		if (result.status === "rejected") throw result.reason;
		return result.value;
	};
	const client: Partial<ApiClient> = {
		get: ((_resource: typeof LEASES, _key: unknown, signal?: AbortSignal) => ask(() => server.get(), signal)) as never,
		create: ((_resource: unknown, _ns: string, lease: Lease, options?: { signal?: AbortSignal }) =>
			ask(() => server.create(lease), options?.signal)) as never,
		update: ((_resource: unknown, lease: Lease, options?: { signal?: AbortSignal }) =>
			ask(() => server.update(lease), options?.signal)) as never,
	};
	return client as ApiClient;
}

interface Candidate {
	readonly clock: ProcessClock;
	readonly elector: Elector;
	readonly ending: AbortController;
	isOver: boolean;
}

class Race {
	readonly time = new VirtualClock();
	readonly server = new LeaseServer();
	readonly candidates: Candidate[] = [];
	readonly problems: string[] = [];
	readonly #random: Random;
	readonly #network: Network;
	readonly #times: ElectionTimes;
	#started = 0;

	constructor(random: Random, network: Network, times: ElectionTimes = DEFAULTS) {
		this.#random = random;
		this.#network = network;
		this.#times = times;
	}

	start(): Candidate {
		const clock = new ProcessClock(this.time, this.#random);
		const client = clientOf(this.server, this.time, clock, this.#network);
		const ports = { client, clock, random: this.#random, log: silentLogger, metrics: silentMetrics };
		const place = { namespace: "kube-system", name: "test", identity: `c${++this.#started}` };
		const elector = new Elector(ports, { ...place, ...this.#times });
		const candidate = { clock, elector, ending: new AbortController(), isOver: false };
		this.candidates.push(candidate);
		void this.#run(candidate);
		return candidate;
	}

	async #run(candidate: Candidate): Promise<void> {
		const { elector, ending } = candidate;
		const isHeld = await elector.acquire(ending.signal).then(
			() => true,
			() => false,
		);
		this.look();
		if (isHeld && (await elector.hold(ending.signal)) === undefined) await elector.release();
		candidate.isOver = true;
	}

	get leaders(): readonly Candidate[] {
		return this.candidates.filter(({ elector }) => elector.isLeading);
	}

	look(): void {
		if (this.leaders.length < 2) return;
		this.problems.push(
			`${this.time.monotonicMs()}: ${this.leaders.map((leader) => this.candidates.indexOf(leader)).join(" and ")}`,
		);
	}

	async run(forMs: number, stepMs = 250): Promise<void> {
		for (let ms = 0; ms < forMs; ms += stepMs) {
			await this.time.advance(stepMs);
			this.look();
		}
	}

	/** Whatever the seed says: processes start, stop for a while, end cleanly, or die. */
	async mischief(forMs: number): Promise<void> {
		const stopped: { candidate: Candidate; untilMs: number }[] = [];
		for (let count = 0; count < 3; count++) this.start();
		for (let ms = 0; ms < forMs; ms += 250) {
			const dice = this.#random.next();
			const candidate = this.candidates[Math.floor(this.#random.next() * this.candidates.length)];
			if (candidate !== undefined && dice < 0.03) {
				candidate.clock.stop();
				stopped.push({ candidate, untilMs: ms + this.#random.next() * 40_000 });
			} else if (dice < 0.035) candidate?.ending.abort(new Error("ends"));
			for (const entry of stopped.filter(({ untilMs }) => untilMs <= ms)) {
				entry.candidate.clock.resume();
				this.look();
				stopped.splice(stopped.indexOf(entry), 1);
			}
			if (this.candidates.filter(({ isOver }) => !isOver).length < 3) this.start();
			await this.run(250);
		}
		for (const { candidate } of stopped) candidate.clock.resume();
		for (const { ending } of this.candidates) ending.abort(new Error("ends"));
	}
}

function wild(random: Random): Network {
	const slow = random.next() * 6_000;
	const lossy = random.next() * 0.2;
	return {
		latencyMs: () => (random.next() < 0.1 ? random.next() * slow : random.next() * 50),
		isLost: () => random.next() < lossy,
	};
}

const CALM: Network = { latencyMs: () => 5, isLost: () => false };
const RACES = 200;

const firstSeed = Math.floor(Date.now() / 1000) % 1_000_000;
describe(`an election (seeds ${firstSeed} to ${firstSeed + RACES - 1})`, () => {
	test("never has two leaders", async () => {
		let led = 0;
		for (let seed = firstSeed; seed < firstSeed + RACES; seed++) {
			const random = new SeededRandom(seed);
			const race = new Race(random, wild(random));
			await race.mischief(90_000);
			expect({ seed, problems: race.problems }).toEqual({ seed, problems: [] });
			led += race.server.lease?.spec?.leaseTransitions ?? 0;
		}
		expect(led).toBeGreaterThan(RACES);
	});

	test("has teeth: with a deadline beyond the duration of the Lease there are two", async () => {
		const wrong = { leaseDurationMs: 3_000, renewDeadlineMs: 30_000, retryPeriodMs: 2_000 };
		let found = 0;
		for (let seed = 1; seed <= 10; seed++) {
			const random = new SeededRandom(seed);
			const race = new Race(random, wild(random), wrong);
			await race.mischief(90_000);
			found += race.problems.length;
		}
		expect(found).toBeGreaterThan(0);
	});

	test.each([
		["ends cleanly", (leader: Candidate) => leader.ending.abort(new Error("ends")), 5_000],
		["dies", (leader: Candidate) => leader.clock.stop(), 15_000 / 0.95 + 2.2 * 2_000 + 500],
	] as const)("another leads soon after the leader %s", async (_, end, withinMs) => {
		const race = new Race(new SeededRandom(7), CALM);
		race.start();
		race.start();
		await race.run(20_000);
		const [first] = race.leaders;
		if (first === undefined) throw new Error("nobody leads");
		end(first);
		await race.time.until(() => race.leaders.some((leader) => leader !== first), withinMs);
		expect(race.leaders.some((leader) => leader !== first)).toBe(true);
		expect(race.server.lease?.spec).toMatchObject({ leaseTransitions: 1, leaseDurationSeconds: 15 });
		expect(race.problems).toEqual([]);
	});

	test("a leader that was stopped for longer than its deadline does not lead when it wakes", async () => {
		const race = new Race(new SeededRandom(3), CALM);
		const only = race.start();
		await race.run(5_000);
		expect(only.elector.isLeading).toBe(true);
		only.clock.stop();
		await race.run(11_000);
		only.clock.resume();
		expect(only.elector.isLeading).toBe(false);
		await race.run(5_000);
		expect(only.isOver).toBe(true);
	});

	test("a Lease that is released says so as client-go does", async () => {
		const race = new Race(new SeededRandom(3), CALM);
		const only = race.start();
		await race.run(5_000);
		only.ending.abort(new Error("ends"));
		await race.run(1_000);
		expect(race.server.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
	});

	test("somebody else in the Lease ends the lead at once", async () => {
		const race = new Race(new SeededRandom(3), CALM);
		const only = race.start();
		await race.run(5_000);
		const { lease } = race.server;
		if (lease === undefined) throw new Error("no lease");
		race.server.update({ ...lease, spec: { ...lease.spec, holderIdentity: "other" } });
		await race.run(3_000);
		expect([only.elector.isLeading, only.isOver]).toEqual([false, true]);
	});
});

describe("the times", () => {
	test.each([
		[DEFAULTS, undefined],
		[{ ...DEFAULTS, leaseDurationMs: 10_000 }, "longer than --leader-elect-renew-deadline"],
		[{ ...DEFAULTS, renewDeadlineMs: 2_400 }, "longer than 1.2 times"],
		[{ ...DEFAULTS, retryPeriodMs: 0 }, "is not 0"],
		[{ leaseDurationMs: 900, renewDeadlineMs: 500, retryPeriodMs: 100 }, "at least 1s"],
	])("%o: %s", (times, problem) => {
		if (problem === undefined) expect(timesProblem(times)).toBeUndefined();
		else expect(timesProblem(times)).toContain(problem);
	});
});
