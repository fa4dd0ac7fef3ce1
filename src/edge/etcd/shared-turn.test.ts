import { describe, expect, test } from "vitest";
import { SharedTurn } from "./shared-turn.ts";

/** Turns that end when the test says so; each answers with its number. */
function held() {
	const ends: ((isFailed: boolean) => void)[] = [];
	const turn = new SharedTurn(() => {
		const number = ends.length + 1;
		return new Promise<number>((resolve, reject) => {
			ends.push((isFailed) => (isFailed ? reject(new Error(`turn ${number}`)) : resolve(number)));
		});
	});
	const end = async (number: number, isFailed = false): Promise<void> => {
		ends[number - 1]?.(isFailed);
		for (let step = 0; step < 10; step++) await Promise.resolve();
	};
	return { turn, end, begun: () => ends.length };
}

describe("SharedTurn", () => {
	test("those who come while a turn is under way share the next one, which has begun after they came", async () => {
		const { turn, end, begun } = held();
		const first = turn.ask();
		const others = [turn.ask(), turn.ask()];
		expect(begun()).toBe(1);
		await end(1);
		expect(await first).toBe(1);
		expect(begun()).toBe(2);
		const late = turn.ask();
		await end(2);
		expect(await Promise.all(others)).toEqual([2, 2]);
		await end(3);
		expect(await late).toBe(3);
		expect(begun()).toBe(3);
	});

	test("a turn that fails is the failure of those who share it, and of nobody else", async () => {
		const { turn, end } = held();
		const first = turn.ask().catch(String);
		const second = turn.ask();
		await end(1, true);
		await end(2);
		expect([await first, await second]).toEqual(["Error: turn 1", 2]);
	});

	test("at rest, who asks begins a turn at once", async () => {
		const { turn, end, begun } = held();
		for (const number of [1, 2, 3]) {
			const asked = turn.ask();
			expect(begun()).toBe(number);
			await end(number);
			expect(await asked).toBe(number);
		}
	});
});
