import { describe, expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import { RecordingClient } from "../testing/recording-client.ts";
import { silentLogger } from "../testing/silent.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { Informer } from "./informer.ts";
import type { ReflectorInput } from "./reflector.ts";
import { ReflectorTrouble } from "./reflector-trouble.ts";

const WATCH = { kind: "watch", resourceVersion: "5", backoff: 0 } as const;
const LIST = { kind: "list", freshness: "any", backoff: 0 } as const;
const failed = (error: unknown): ReflectorInput<unknown> => ({ kind: "failed", error });
const refused = failed(new Error("ECONNREFUSED"));

function harness() {
	const told: string[] = [];
	const log = {
		...silentLogger,
		info: (message: string) => told.push(`info: ${message}`),
		warn: (message: string) => told.push(`warn: ${message}`),
	};
	return { told, log, trouble: new ReflectorTrouble(PODS, log) };
}

describe("ReflectorTrouble", () => {
	test("warns at the third failure in a row, once, and says when it is over", () => {
		const { told, trouble } = harness();
		for (let times = 1; times <= 2; times++) trouble.saw(WATCH, refused);
		expect(told.filter((line) => line.startsWith("warn"))).toEqual([]);
		for (let times = 1; times <= 5; times++) trouble.saw(WATCH, refused);
		expect(told.filter((line) => line.startsWith("warn"))).toEqual([
			"warn: Failed again and again to follow the server; it is tried on",
		]);
		trouble.saw(WATCH, { kind: "closed" });
		trouble.saw(WATCH, { kind: "closed" });
		expect(told.filter((line) => line.includes("again"))).toEqual([
			"warn: Failed again and again to follow the server; it is tried on",
			"info: The server is followed again",
		]);
	});

	test("a server that was away, and refuses the token when it is back, is worth two warnings", () => {
		const { told, trouble } = harness();
		for (let times = 1; times <= 4; times++) trouble.saw(WATCH, refused);
		for (let times = 1; times <= 4; times++) trouble.saw(WATCH, failed(new ApiError("Unauthorized", "no")));
		trouble.saw(WATCH, refused);
		expect(told.filter((line) => line.startsWith("warn"))).toEqual([
			"warn: Failed again and again to follow the server; it is tried on",
			"warn: Unauthorized: start anew with a valid kubeconfig",
		]);
	});

	test("counts on over lists that work between watches that fail, and from the start after a watch that works", () => {
		const listed: ReflectorInput<unknown> = { kind: "listed", items: [], resourceVersion: "5" };
		const { told, trouble } = harness();
		for (let times = 1; times <= 3; times++) {
			trouble.saw(WATCH, refused);
			trouble.saw(WATCH, { kind: "closed" });
		}
		expect(told.filter((line) => line.startsWith("warn"))).toEqual([]);
		for (let times = 1; times <= 3; times++) {
			trouble.saw(LIST, listed);
			trouble.saw(WATCH, refused);
		}
		expect(told.filter((line) => line.startsWith("warn"))).toHaveLength(1);
	});

	test("a watch of an informer that is unauthorized for good says what to do", async () => {
		const { told, log } = harness();
		const [client, clock] = [new RecordingClient(), new VirtualClock()];
		client.serve(PODS, [], "5");
		const stop = new AbortController();
		void new Informer({ client, clock, random: { next: () => 1 }, log }, PODS).run(stop.signal);
		await settle();
		for (let times = 1; times <= 6; times++) {
			client.end(PODS, new ApiError("Unauthorized", "no"));
			await clock.advance(30_000);
		}
		expect(told.filter((line) => line.startsWith("warn"))).toEqual([
			"warn: Unauthorized: start anew with a valid kubeconfig",
		]);
		stop.abort();
	});
});
