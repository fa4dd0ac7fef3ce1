import { describe, expect, test } from "vitest";
import { faultOf, planted, withHealthyPlane } from "../testing/explained-planes.ts";
import { readCluster } from "../wiring/read-snapshot.ts";
import { Explainer, explainService } from "./explain.ts";

/** More where there is time. */
const PLANES = Number(process.env["SLICEPLANE_EXPLAINED_PLANES"] ?? 10);
const seeds = Array.from({ length: PLANES }, (_, index) => index + 1);

describe(`${PLANES} random planes`, () => {
	test("nothing above info is found in a Service that is well", async () => {
		for (const seed of seeds) {
			const found = await withHealthyPlane(seed, async (plane) =>
				new Explainer(await readCluster(plane.client)).explainAll(),
			);
			const loud = found.flatMap(({ service, findings }) =>
				findings
					.filter(({ severity }) => severity !== "info")
					.map(({ name, text }) => `seed ${seed}: ${service}: ${name}: ${text}`),
			);
			expect(loud).toEqual([]);
		}
	});

	test("a planted fault is the first finding in at least 98 %", async () => {
		const missed: string[] = [];
		for (const seed of seeds) {
			const fault = faultOf(seed);
			await withHealthyPlane(
				seed,
				async (plane) => {
					const name = await planted(plane, fault);
					const nowMs = plane.clock.wallMs();
					const snapshot = await readCluster(plane.client, { nowMs });
					const { cause } = explainService(snapshot, { namespace: "default", name });
					if (cause?.name !== fault.name) missed.push(`seed ${seed}: ${fault.name}, not ${cause?.name}`);
				},
				fault.controllers,
			);
		}
		expect(missed.length, missed.join("; ")).toBeLessThanOrEqual(Math.floor(PLANES * 0.02));
	});
});
