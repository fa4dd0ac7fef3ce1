import { describe, expect, test } from "vitest";
import { PODS, SERVICES } from "../api/resource-names.ts";
import { ApiError } from "../api/status.ts";
import type { Pod } from "../api/types/core.ts";
import { pod } from "../testing/builders.ts";
import { RecordingClient } from "../testing/recording-client.ts";
import { silentLogger } from "../testing/silent.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { BY_NAMESPACE, Informer } from "./informer.ts";
import { Informers } from "./informers.ts";

const podAt = (name: string, resourceVersion: string, more: Parameters<typeof pod>[1] = {}): Pod =>
	pod(name, { ...more, metadata: { resourceVersion, ...more.metadata } });

async function harness(...items: Pod[]) {
	const client = new RecordingClient();
	const clock = new VirtualClock();
	const ports = { client, clock, random: { next: () => 1 }, log: silentLogger };
	const informer = new Informer(ports, PODS);
	const stop = new AbortController();
	const told: string[] = [];
	const at = (p: Pod): string => `${p.metadata.name}@${p.metadata.resourceVersion}`;
	informer.addHandlers({
		added: (object) => told.push(`+${at(object)}`),
		updated: (old, object) => told.push(`~${at(old)}>${at(object)}`),
		deleted: (object) => told.push(`-${at(object)}`),
		applied: (asOf) => told.push(`=${asOf}`),
	});
	client.serve(PODS, items, "5");
	const run = informer.run(stop.signal);
	await settle();
	return { client, clock, ports, informer, stop, told, run };
}

describe("Informer", () => {
	test("fills its cache by a list, then follows the watch from there", async () => {
		const { client, informer, told } = await harness(podAt("a", "1"));
		client.send(PODS, { type: "ADDED", object: podAt("b", "6") }, { type: "MODIFIED", object: podAt("a", "7") });
		client.send(PODS, { type: "DELETED", object: podAt("b", "8") }, { type: "BOOKMARK", resourceVersion: "9" });
		await settle();
		expect(client.reads).toEqual(["list pods@0", "watch pods@5"]);
		expect(told).toEqual(["+a@1", "=5", "+b@6", "~a@1>a@7", "=7", "-b@8", "=9"]);
		expect([informer.asOf, informer.size, informer.get("default/a")?.metadata.resourceVersion]).toEqual(["9", 1, "7"]);
	});

	test("tells what it missed while it was away: adds, updates and deletes, and nothing else", async () => {
		const { client, told } = await harness(podAt("a", "1"), podAt("b", "2"), podAt("c", "3"));
		told.length = 0;
		client.serve(PODS, [podAt("a", "1"), podAt("b", "20"), podAt("d", "21")], "30");
		client.end(PODS, new ApiError("Expired", "too old"));
		await settle();
		expect(told).toEqual(["-c@3", "~b@2>b@20", "+d@21", "=30"]);
		expect(client.reads.slice(2)).toEqual(["list pods", "watch pods@30"]);
	});

	test("tells a delete and an add when a name has come back as another object", async () => {
		const { client, told } = await harness(podAt("a", "1"));
		told.length = 0;
		client.send(PODS, { type: "MODIFIED", object: podAt("a", "9", { metadata: { uid: "other" } }) });
		await settle();
		expect(told).toEqual(["-a@1", "+a@9", "=9"]);
	});

	test("asks a server that fails ever more rarely, from where it stood", async () => {
		const { client, clock } = await harness();
		for (const _ of [1, 2, 3]) {
			client.end(PODS, new ApiError("InternalError", "boom"));
			await settle();
		}
		expect(client.reads).toEqual(["list pods@0", "watch pods@5", "watch pods@5"]);
		await clock.advance(800);
		client.end(PODS);
		await clock.advance(1_599);
		expect(client.reads).toHaveLength(4);
		await clock.advance(1);
		expect(client.reads).toHaveLength(5);
	});

	test("keeps indexes as objects come, move and go", async () => {
		const { client, informer } = await harness(podAt("a", "1"), podAt("b", "2", { node: "n2" }));
		informer.addIndex("byNode", (p) => [p.spec.nodeName ?? ""]);
		const names = (name: string, value: string): string[] => informer.index(name, value).map((p) => p.metadata.name);
		expect([names("byNode", "n1"), names("byNode", "n2")]).toEqual([["a"], ["b"]]);
		client.send(
			PODS,
			{ type: "MODIFIED", object: podAt("a", "6", { node: "n2" }) },
			{ type: "DELETED", object: podAt("b", "7", { node: "n2" }) },
		);
		await settle();
		expect([names("byNode", "n1"), names("byNode", "n2")]).toEqual([[], ["a"]]);
		expect([names(BY_NAMESPACE, "default"), informer.indexCount(BY_NAMESPACE, "other")]).toEqual([["a"], 0]);
	});

	test("survives a handler that throws, and tells late handlers what is there", async () => {
		const { client, informer, told } = await harness(podAt("a", "1"));
		informer.addHandlers({
			added: () => {
				throw new Error("bug");
			},
		});
		const late: string[] = [];
		informer.addHandlers({ added: (p) => late.push(p.metadata.name) });
		client.send(PODS, { type: "ADDED", object: podAt("b", "6") });
		await settle();
		expect([late, told.includes("+b@6")]).toEqual([["a", "b"], true]);
	});

	test("stops without an error when aborted, and frees who waits for its first list", async () => {
		const { stop, run, ports } = await harness();
		const never = new Informer(ports, SERVICES).whenSynced(stop.signal);
		stop.abort(new Error("bye"));
		await expect(run).resolves.toBeUndefined();
		await expect(never).rejects.toThrow("bye");
	});
});

describe("Informers", () => {
	test("share one informer per resource, and start one that is asked for later", async () => {
		const { ports, stop } = await harness();
		const informers = new Informers(ports);
		expect(informers.of(PODS)).toBe(informers.of(PODS));
		const run = informers.run(stop.signal);
		await informers.whenSynced(stop.signal);
		const services = informers.of(SERVICES);
		expect([informers.hasSynced, services.hasSynced]).toEqual([false, false]);
		await services.whenSynced(stop.signal);
		stop.abort();
		await expect(run).resolves.toBeUndefined();
	});
});
