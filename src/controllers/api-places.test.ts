/** Several API servers over one store: the Service `kubernetes` leads to all that live, and to no other. */
import { expect, test } from "vitest";
import { parseCIDR } from "../api/ip.ts";
import { ENDPOINT_SLICES, ENDPOINTS, LEASES } from "../api/resource-names.ts";
import { EventRecorder } from "../machinery/event-recorder.ts";
import { Informers } from "../machinery/informers.ts";
import { WorkQueues } from "../machinery/work-queues.ts";
import { MortalClient } from "../testing/mortal-client.ts";
import { SeededRandom } from "../testing/seeded.ts";
import { silentLogger, silentMetrics } from "../testing/silent.ts";
import { TestServer } from "../testing/test-server.ts";
import { KubernetesServiceController } from "./kubernetes-service-controller.ts";

class Servers {
	readonly #server: TestServer;

	constructor(server: TestServer) {
		this.#server = server;
	}

	/** @returns How it ends: one that dies leaves its Lease as it is. */
	start(host: string, port = 6443): { readonly stop: () => void; readonly die: () => void } {
		const { clock } = this.#server;
		const client = new MortalClient(this.#server.client, {
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

test("one that is killed leaves after its Lease's time, and the Lease after a minute", async () => {
	const [server, servers] = await started();
	servers.start("192.0.2.10");
	const second = servers.start("192.0.2.11");
	await server.clock.advance(12_000);
	second.die();
	await server.clock.advance(8_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10", "192.0.2.11"]);
	await server.clock.advance(14_000);
	expect(await servers.addresses()).toEqual(["192.0.2.10"]);
	await server.clock.advance(60_000);
	expect((await server.client.list(LEASES, { namespace: "kube-system" })).items).toHaveLength(1);
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
