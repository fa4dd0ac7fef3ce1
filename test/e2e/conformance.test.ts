/** Every pair of test/conformance holds for the program. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failureText, loadScenarios, playScenario, scenariosIn } from "../conformance/scenarios.mjs";
import { Server } from "../conformance/server.mjs";
import { codeBlocks } from "../house/documents.ts";
import { RunningPlane } from "./plane.ts";

const documented = codeBlocks()
	.filter(({ info }) => info === "yaml pairs")
	.flatMap(({ file, code }) => scenariosIn(file, code));

describe("the API answers as the conformance pairs say", () => {
	let plane: RunningPlane;
	let server: Server;
	beforeAll(async () => {
		plane = await RunningPlane.start();
		server = new Server(plane.kubeconfig);
	});
	afterAll(async () => {
		server.close();
		await plane.stop();
	});

	test.concurrent.each([...loadScenarios(), ...documented])("$file: $name", async (scenario) => {
		const { failures } = await playScenario(server, scenario);
		expect(failures.map(failureText)).toEqual([]);
	});

	test("there are at least 300 pairs", () => {
		expect(loadScenarios().flatMap(({ steps }) => steps).length).toBeGreaterThanOrEqual(300);
	});
});
