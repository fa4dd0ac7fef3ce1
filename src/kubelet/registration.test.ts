import { afterEach, describe, expect, test } from "vitest";
import { NODES, PODS } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import { TransportError } from "../machinery/api-client.ts";
import { FaultyClient } from "../testing/faulty-client.ts";
import { createPod, listed } from "../testing/plane-steps.ts";
import { silentLogger } from "../testing/silent.ts";
import { startTestPlane, type TestPlane } from "../testing/test-plane.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { DEFAULT_PLANE_OPTIONS } from "../wiring/plane-options.ts";
import { simulatedNodes } from "./node-pool.ts";
import { Registration } from "./registration.ts";

const planes: TestPlane[] = [];
afterEach(async () => {
	for (const plane of planes.splice(0)) await plane.stop();
});

/** A plane whose kubelet gets, for creates of Nodes, what `failure` says as long as it says something. */
async function started(failure: (name: string) => Error | undefined, over?: TestPlane) {
	const tried: string[] = [];
	const plane = await startTestPlane({
		nodes: 2,
		controllers: [],
		...(over === undefined ? {} : { over }),
		wrapClient: (client) =>
			new FaultyClient(client, {
				call({ verb, resource, name }, send) {
					const isNode = verb === "create" && resource === NODES;
					if (isNode) tried.push(name);
					const error = isNode ? failure(name) : undefined;
					return error === undefined ? send() : Promise.reject(error);
				},
			}),
	});
	planes.push(plane);
	return { plane, tried };
}

async function names(plane: TestPlane): Promise<readonly string[]> {
	return (await plane.client.list(NODES, {})).items.map(({ metadata }) => metadata.name);
}

const FORBIDDEN = new ApiError("Forbidden", "nodes is forbidden");

describe("a kubelet that may not make its Nodes", () => {
	test.each([
		FORBIDDEN,
		new ApiError("Unauthorized", "who are you"),
		new ApiError("ServiceUnavailable", "not now"),
		new TransportError("unreachable", "nobody there"),
	])("tries on after %s, and makes them when it may", async (error) => {
		let isRefused = true;
		const { plane } = await started(() => (isRefused ? error : undefined));
		await plane.advance(60_000);
		expect(await names(plane)).toEqual([]);
		expect(plane.warnings).toHaveLength(1);
		isRefused = false;
		await plane.advance(7_000);
		expect(await names(plane)).toEqual(["n1", "n2"]);
	});

	test("waits longer each time, up to 7 s", async () => {
		const { plane, tried } = await started(() => FORBIDDEN);
		const times = (): number => tried.filter((name) => name === "n1").length;
		expect(times()).toBe(1);
		// 0.1 + 0.2 + 0.4 + 0.8 + 1.6 + 3.2 + 6.4 s, then every 7 s.
		await plane.advance(12_700);
		expect(times()).toBe(8);
		await plane.advance(21_000);
		expect(times()).toBe(11);
	});

	test("makes the others, and is refused again only what is missing", async () => {
		const { plane, tried } = await started((name) => (name === "n1" ? FORBIDDEN : undefined));
		await plane.advance(1_000);
		expect(await names(plane)).toEqual(["n2"]);
		expect(tried.filter((name) => name === "n2")).toEqual(["n2"]);
	});

	test("keeps those that are there, and their Pods", async () => {
		const { plane: before } = await started(() => undefined);
		await before.stop();
		const { plane, tried } = await started(() => FORBIDDEN, before);
		await createPod(plane, "p", { nodeName: "n2" });
		await plane.advance(5_000);
		const [pod] = await listed(plane, PODS);
		expect(pod?.status?.phase).toBe("Running");
		// By then it knows that they are there, and asks no more.
		expect(tried).toEqual(["n1", "n2"]);
	});

	test("ends with what the server will never take", async () => {
		const create = (): Promise<never> => Promise.reject(new ApiError("Invalid", "no such taint"));
		const informers = { of: () => ({ get: () => undefined }) };
		const ports = { client: { create }, informers, clock: new VirtualClock(), log: silentLogger };
		const options = { ...DEFAULT_PLANE_OPTIONS, kubeletVersion: "v1" };
		const registration = new Registration(ports as never, simulatedNodes(options), options);
		await expect(registration.attempt()).rejects.toThrow("no such taint");
	});

	test("asks a server that is away for one Node at a time", async () => {
		const { tried } = await started(() => new TransportError("unreachable", "nobody there"));
		expect(tried).toEqual(["n1"]);
	});
});
