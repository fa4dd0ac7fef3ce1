/** Services that others have written or deleted in etcd, past this server: their claims follow. */
import { afterEach, expect, test } from "vitest";
import type { Service } from "../api/types/core.ts";
import type { KubeObject } from "../api/types/meta.ts";
import type { Place } from "../store/entry.ts";
import { service } from "../testing/builders.ts";
import { TestServer } from "../testing/test-server.ts";
import { ClaimRepair } from "./claim-repair.ts";

const SERVICES = "/registry/services/specs/";
const ADDRESS = { space: "/registry/ipaddresses/", key: "10.96.0.9" } as const;
const PORT = { space: "/registry/sliceplane.dev/nodeports/", key: "30009" } as const;
const SPEC = {
	type: "NodePort",
	clusterIP: "10.96.0.9",
	clusterIPs: ["10.96.0.9"],
	ports: [{ port: 80, protocol: "TCP", nodePort: 30_009 }],
} as const;
const MINUTE_MS = 60_000;

const stopping: AbortController[] = [];
afterEach(() => {
	for (const each of stopping.splice(0)) each.abort();
});

class World {
	readonly server: TestServer;

	private constructor(server: TestServer) {
		this.server = server;
	}

	static async start(): Promise<World> {
		return new World(await TestServer.start());
	}

	repair(): void {
		const stop = new AbortController();
		stopping.push(stop);
		void new ClaimRepair(this.server.server.ports).run(stop.signal);
	}

	async create(name: string): Promise<number> {
		const body = { metadata: { name }, spec: SPEC };
		return (await this.server.request("POST", "/api/v1/namespaces/default/services", { body })).status;
	}

	/** Past the API. */
	async put(place: Place, object: KubeObject): Promise<void> {
		await this.server.store.commit([{ kind: "put", ...place, object }]);
	}

	async remove(place: Place): Promise<void> {
		await this.server.store.commit([{ kind: "delete", ...place }]);
	}

	get claimed(): readonly boolean[] {
		return [ADDRESS, PORT].map(({ space, key }) => this.server.store.space(space).get(key) !== undefined);
	}
}

const web = { space: SERVICES, key: "default/web" };

test("what a Service held that another server deleted can be had again after some rounds", async () => {
	const world = await World.start();
	expect(await world.create("web")).toBe(201);
	await world.remove(web);
	expect(await world.create("other")).toBe(422);
	world.repair();
	await world.server.clock.advance(1.5 * MINUTE_MS);
	expect(world.claimed).toEqual([true, true]);
	await world.server.clock.advance(MINUTE_MS);
	expect(world.claimed).toEqual([false, false]);
	expect(await world.create("other")).toBe(201);
});

test("claims of Services that are there stay, and nothing is written", async () => {
	const world = await World.start();
	await world.create("web");
	world.repair();
	await world.server.clock.advance(MINUTE_MS / 2);
	const { revision } = world.server.store;
	await world.server.clock.advance(10 * MINUTE_MS);
	expect(world.server.store.revision).toBe(revision);
	expect(world.claimed).toEqual([true, true]);
});

test("what a Service has given up, past the API, is released, and what it holds now is claimed", async () => {
	const world = await World.start();
	await world.create("web");
	world.repair();
	const old = world.server.store.space(SERVICES).get("default/web")?.object as Service;
	await world.put(web, { ...old, spec: { ...SPEC, ports: [{ ...SPEC.ports[0], nodePort: 30_010 }] } } as Service);
	await world.server.clock.advance(4 * MINUTE_MS);
	expect(world.claimed).toEqual([true, false]);
	expect(world.server.store.space(PORT.space).get("30010")?.object).toMatchObject({
		spec: { parentRef: { namespace: "default", name: "web" } },
	});
});

test("an address whose Service is still to come, as a real server makes it, stays for it", async () => {
	const world = await World.start();
	await world.create("web");
	const address = world.server.store.space(ADDRESS.space).get(ADDRESS.key)?.object as KubeObject;
	await world.remove(web);
	await world.remove(PORT);
	world.repair();
	await world.server.clock.advance(1.5 * MINUTE_MS);
	await world.put(ADDRESS, address);
	await world.server.clock.advance(1.5 * MINUTE_MS);
	await world.put(web, service("web", SPEC));
	await world.server.clock.advance(10 * MINUTE_MS);
	expect(world.claimed).toEqual([true, true]);
});

test("an IPAddress that is somebody else's stays", async () => {
	const world = await World.start();
	const spec = { parentRef: { resource: "gateways", name: "g", namespace: "default" } };
	const body = { metadata: { name: ADDRESS.key }, spec };
	const made = await world.server.request("POST", "/apis/networking.k8s.io/v1/ipaddresses", { body });
	expect(made.status).toBe(201);
	world.repair();
	await world.server.clock.advance(10 * MINUTE_MS);
	expect(world.claimed).toEqual([true, false]);
});
