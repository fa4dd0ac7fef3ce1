import { expect, test } from "vitest";
import { PODS } from "../api/resource-names.ts";
import { CLIENT_PROCESS_ANNOTATION, clientPod } from "../plan/client-pod.ts";
import { silentLogger } from "../testing/silent.ts";
import { startTestPlane } from "../testing/test-plane.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { sweepClients } from "./sweep-clients.ts";

test("Pods of clients that were killed go, and those of others stay, whatever their annotations say", async () => {
	const [plane, clock, stopping] = [await startTestPlane({ nodes: 0 }), new VirtualClock(), new AbortController()];
	const { client } = plane;
	const isGone = (mark: string): boolean => mark === "dead";
	for (const process of ["dead", "alive"]) {
		await client.create(PODS, "default", clientPod({ name: process, nodeName: "n1", labels: {}, process }));
	}
	const annotations = { [CLIENT_PROCESS_ANNOTATION]: "dead" };
	const spec = { containers: [{ name: "c", image: "i" }] };
	await client.create(PODS, "default", { metadata: { name: "web", annotations }, spec });
	let removals = 0;
	const removeAbandoned = async (): Promise<void> => void removals++;
	const names = async (): Promise<readonly string[]> =>
		(await client.list(PODS, {})).items.map(({ metadata }) => metadata.name);
	const { items } = await client.list(PODS, {});
	let seen = items;
	const ports = { client, clock, log: silentLogger, isGone, removeAbandoned };
	const ended = sweepClients({ list: () => seen }, ports, stopping.signal);
	await clock.advance(2_000);
	await settle();
	expect([await names(), removals]).toEqual([["alive", "web"], 1]);
	seen = [];
	await clock.advance(4_000);
	expect(removals).toBe(1);
	stopping.abort();
	await ended;
	await plane.stop();
});
