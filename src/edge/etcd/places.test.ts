import { expect, test } from "vitest";
import { ApiError } from "../../api/status.ts";
import { Places } from "./places.ts";

test("Places lets so many in, the others in their order, and refuses those that are too many", async () => {
	const places = new Places(2, 2);
	const order: number[] = [];
	expect([places.enter(), places.enter()]).toEqual([undefined, undefined]);
	const waiting = [3, 4].map((number) => places.enter()?.then(() => order.push(number)));
	expect(places.size).toBe(4);
	expect(() => places.enter()).toThrow(ApiError);
	let isIdle = false;
	void places.whenEmpty().then(() => {
		isIdle = true;
	});
	for (let left = 0; left < 3; left++) places.leave();
	await Promise.all(waiting);
	expect(order).toEqual([3, 4]);
	expect(isIdle).toBe(false);
	places.leave();
	await places.whenEmpty();
	expect([isIdle, places.size]).toEqual([true, 0]);
});
