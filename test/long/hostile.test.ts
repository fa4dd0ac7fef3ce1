import { expect, test } from "vitest";
import { RunningPlane } from "../e2e/plane.ts";
import { keepService, residentBytes, sentHostile, state } from "../load/hostile.ts";

const MIB = 2 ** 20;
/** What a collection more or less makes. */
const SLACK_BYTES = 64 * MIB;

test("1,000 hostile requests, three times: answered as they must be, and no memory is kept", async () => {
	const seed = Date.now() % 1_000_000;
	const plane = await RunningPlane.start(["--nodes", "0"]);
	try {
		await keepService(plane);
		const before = await state(plane);
		const bytes: number[] = [];
		for (const wave of [0, 1, 2]) {
			expect(await sentHostile(plane, seed + wave, 1_000)).toEqual({ wrong: [], sent: 1_000 });
			bytes.push(await residentBytes(plane));
		}
		process.stderr.write(`hostile: seed ${seed}, MiB after each wave: ${bytes.map((b) => Math.round(b / MIB))}\n`);
		expect(await state(plane)).toEqual(before);
		expect(bytes[2]).toBeLessThan((bytes[0] ?? 0) + SLACK_BYTES);
	} finally {
		expect(await plane.stop()).toBe(0);
	}
}, 600_000);
