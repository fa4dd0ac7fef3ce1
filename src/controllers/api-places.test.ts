/** Several API servers over one store: the Service `kubernetes` leads to all that live, and to no other. */
import { expect, test } from "vitest";
import { parseCIDR } from "../api/ip.ts";
import { ENDPOINT_SLICES, ENDPOINTS, LEASES } from "../api/resource-names.ts";
import { TransportError } from "../machinery/api-client.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { FaultyClient } from "../testing/faulty-client.ts";
import { MortalClient } from "../testing/mortal-client.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger, silentMetrics } from "../testing/silent.ts";
import { TestServer } from "../testing/test-server.ts";
import { KubernetesServiceController } from "./kubernetes-service-controller.ts";

class Servers {
	readonly #server: TestServer;
	/** Calls of each server by its host; the store is silent to it while there is a promise. */
	readonly silences = new Map<string, Promise<void>>();
	/** `HOST VERB PLURAL`, of all writes but renewals. */
	readonly writes: string[] = [];

	constructor(server: TestServer) {
		this.#server = server;
	}

	/** @returns How it ends: one that dies leaves its Lease as it is. */
	start(host: string, port = 6443): { readonly stop: () => void; readonly die: () => void } {
		const { clock } = this.#server;
		const client = new MortalClient(this.#reached(host), {
			atCall: Number.POSITIVE_INFINITY,
			counts: "calls",
			isSent: false,
		});
		const system = { clock, random: new SeededRandom(1), log: silentLogger, metrics: silentMetrics };
		const informers = new Informers({ client, ...system });
		const recorder = new EventRecorder({ client, ...system });
		const ports = { client, informers, recorder, queues: new WorkQueues(system), ...system };
		const serviceRange = parseCIDR("10.96.0.0/16");
		if (serviceRange === undefined) throw new Error("no range");
		const controller = new KubernetesServiceController(ports, { host, port, serviceRange }, true);
		const ending = new AbortController();
		void controller.run(ending.signal);
		void informers.run(ending.signal);
		return {
			stop: () => ending.abort(new Error("stopped")),
			die: () => {
				client.bury();
				ending.abort(new Error("dead"));
			},
		};
	}

	/** The store as a server knows it that may be cut off: nothing comes through, and calls give up after 10 s. */
	#reached(host: string): FaultyClient {
		const { clock, client } = this.#server;
		return new FaultyClient(client, {
			call: async ({ verb, resource }, send) => {
				const silence = this.silences.get(host);
				const isLate = clock.sleep(10_000).then(() => true);
				if (silence !== undefined && (await Promise.race([silence.then(() => false), isLate]))) {
					throw new TransportError("broken", "the store is silent");
				}
				if (!["get", "list", "watch"].includes(verb) && resource !== LEASES) {
					// So that a storm ends in a failed test, and not never.
					if (this.writes.length > 200) throw new TransportError("broken", "too many writes");
					this.writes.push(`${host} ${verb} ${resource.plural}`);
				}
				return send();
			},
			deliver: async () => {
				await this.silences.get(host);
				return true;
			},
		});
	}

	async addresses(): Promise<readonly string[]> {
		const { items } = await this.#server.client.list(ENDPOINT_SLICES, { namespace: "default" });
		return items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
	}

	async subsets(): Promise<readonly string[]> {
		const { subsets = [] } = await this.#server.client.get(ENDPOINTS, { namespace: "default", name: "kubernetes" });
		return subsets.map(
			({ addresses = [], ports = [] }) => `${addresses.map(({ ip }) => ip)} at ${ports.map(({ port }) => port)}`,
		);
	}
}

async function started(): Promise<readonly [TestServer, Servers]> {
	const server = await TestServer.start();
	return [server, new Servers(server)];
}

test("all that live are there; one that ends leaves at once, with its Lease", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	const second = servers.start("192.0.2.11");
	await server.clock.advance(6_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
	second.stop();
	await server.clock.advance(1_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10"]);
	expect((await server.client.list(LEASES, { namespace: "kube-system" })).items).toHaveLength(1);
});

test("one that is killed leaves after its Lease's time, and the Lease with it", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	const second = servers.start("192.0.2.11");
	await server.clock.advance(12_000);
	second.die();
	await server.clock.advance(8_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
	await server.clock.advance(14_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10"]);
	expect((await server.client.list(LEASES, { namespace: "kube-system" })).items).toHaveLength(1);
});

/** Nothing comes through to these hosts for so long from now on. */
function silence(server: TestServer, servers: Servers, ms: Readonly<Record<string, number>>): void {
	for (const [host, forMs] of Object.entries(ms)) {
		const over = server.clock.sleep(forMs).then(() => void servers.silences.delete(host));
		servers.silences.set(host, over);
	}
}

test.each([13_000, 14_000, 16_000, 20_000, 60_000])("when the store was away for %i ms all stay", async (forMs) => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	await server.clock.advance(2_300);
	servers.start("192.0.2.11");
	await server.clock.advance(12_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
	servers.writes.length = 0;
	// One finds back later: it tries a dead way first.
	silence(server, servers, { "192.0.2.10": forMs, "192.0.2.11": forMs + 3_000 });
	await server.clock.advance(forMs + 60_000);
	expect(servers.writes).toEqual([]);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
});

test("one that was cut off alone leaves, and is there again with few writes when it is back", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	servers.start("192.0.2.11");
	await server.clock.advance(12_000);
	servers.writes.length = 0;
	silence(server, servers, { "192.0.2.11": 40_000 });
	await server.clock.advance(35_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10"]);
	await server.clock.advance(25_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
	expect(servers.writes.length, servers.writes.join()).toBeLessThanOrEqual(8);
});

test("one that starts beside the Lease of a dead one does not fight with who knows better", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	const dead = servers.start("192.0.2.11");
	await server.clock.advance(12_000);
	dead.die();
	await server.clock.advance(21_000);
	servers.writes.length = 0;
	servers.start("192.0.2.12");
	await server.clock.advance(30_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.12"]);
	expect(servers.writes.length, servers.writes.join()).toBeLessThanOrEqual(6);
});

test("a Lease that somebody deletes is there again at once", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	await server.clock.advance(6_000);
	const leases = async () => (await server.client.list(LEASES, { namespace: "kube-system" })).items;
	for (const { metadata } of await leases()) {
		await server.client.delete(LEASES, { namespace: "kube-system", name: metadata.name });
	}
	await server.clock.advance(100);
	expect(await leases()).toHaveLength(1);
});

test("who sees the endpoints otherwise, all the time, is answered ever more seldom", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	await server.clock.advance(6_000);
	servers.writes.length = 0;
	const ending = new AbortController();
	const place = { namespace: "default", name: "kubernetes" };
	const other = { subsets: [{ addresses: [{ ip: "192.0.2.99" }] }] };
	const fight = async (): Promise<void> => {
		while (!ending.signal.aborted) {
			await server.client.patch(ENDPOINTS, place, { type: "merge", body: other });
			await server.clock.sleep(20);
		}
	};
	const fighting = fight();
	await server.clock.advance(60_000);
	ending.abort();
	await server.clock.advance(60_000);
	await fighting;
	expect(servers.writes.length, servers.writes.join()).toBeLessThanOrEqual(10);
	expect(await servers.subsets()).toEqual(["192.0.2.10 at 6443"]);
});

test("another port is a subset of its own, and in no slice when fewer listen there", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	servers.start("192.0.2.11");
	servers.start("192.0.2.12", 7443);
	await server.clock.advance(6_000);
	expect(await servers.subsets()).toEqual(["192.0.2.10,192.0.2.11 at 6443", "192.0.2.12 at 7443"]);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
});
