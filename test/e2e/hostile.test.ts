import { expect, test } from "vitest";
import { keepService, sentHostile, state } from "../load/hostile.ts";
import { RunningPlane } from "./plane.ts";
import { send } from "./raw-requests.ts";

test("300 hostile requests are answered as they must be, change nothing and end nothing", async () => {
	const seed = Date.now() % 1_000_000;
	const plane = await RunningPlane.start(["--nodes", "0"]);
	try {
		await keepService(plane);
		const before = await state(plane);
		expect({ seed, ...(await sentHostile(plane, seed, 300)) }).toEqual({ seed, wrong: [], sent: 300 });
		expect(await state(plane)).toEqual(before);
		expect(await send(plane, { path: "/readyz" })).toMatchObject({ status: 200 });
		expect(plane.stderr).not.toMatch(/Failed to handle|unhandled|"level":"?error/i);
	} finally {
		expect(await plane.stop()).toBe(0);
	}
}, 180_000);
