import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Target } from "../plan/service-map/service-table.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { RoundRobin } from "./round-robin.ts";

const targets = (...ports: number[]): readonly Target[] => ports.map((port) => ({ ip: "10.0.0.1", port }));
const taken = (balanced: RoundRobin, times: number): (number | undefined)[] =>
	Array.from({ length: times }, () => balanced.take(new Set())?.port);

describe("RoundRobin", () => {
	test("takes every target once before it takes one again, whatever came before", () => {
		const ports = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
		fc.assert(
			fc.property(fc.integer(), ports, ports, fc.nat(30), (seed, before, after, warmUp) => {
				const balanced = new RoundRobin(new SeededRandom(seed));
				balanced.replace(targets(...before));
				taken(balanced, warmUp);
				balanced.replace(targets(...after));
				expect(new Set(taken(balanced, after.length))).toEqual(new Set(after));
			}),
		);
	});

	test("is shuffled: not every order starts with the first", () => {
		const firsts = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
			const balanced = new RoundRobin(new SeededRandom(seed));
			balanced.replace(targets(1, 2, 3));
			return taken(balanced, 1)[0];
		});
		expect(new Set(firsts).size).toBeGreaterThan(1);
	});

	test("keeps order and position of the targets that stay", () => {
		const balanced = new RoundRobin(new SeededRandom(1));
		balanced.replace(targets(1, 2, 3, 4));
		const [a, b, c, d] = taken(balanced, 4) as [number, number, number, number];
		taken(balanced, 2);
		balanced.replace(targets(a, c, d));
		expect(taken(balanced, 4)).toEqual([c, d, a, c]);
		balanced.replace(targets(a, b, c, d).toReversed());
		expect(taken(balanced, 4).filter((port) => port !== b)).toEqual([d, a, c]);
	});

	test("skips what was tried, and starts over when everything was", () => {
		const balanced = new RoundRobin(new SeededRandom(1));
		balanced.replace(targets(1, 2));
		const tried = new Set<string>();
		const picks = [1, 2, 3].map(() => balanced.take(tried)?.port);
		expect([new Set(picks.slice(0, 2)), picks[2]]).toEqual([new Set([1, 2]), picks[0]]);
		balanced.replace([]);
		expect(balanced.take(tried)).toBeUndefined();
	});
});
