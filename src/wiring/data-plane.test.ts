import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, NAMESPACES, NODES, PODS, SERVICES } from "../api/resource-names.ts";
import type { Pod } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { AnsweredRequest } from "../machinery/answered-request.ts";
import { service } from "../testing/builders.ts";
import { ControllerHarness } from "../testing/controller-harness.ts";
import { podRange, sliceOf } from "../testing/slice-worlds.ts";
import { settle } from "../testing/virtual-clock.ts";
import { startDataPlane } from "./data-plane.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function holdPort(port = 0): Promise<Server> {
	const server = createServer().listen(port, "127.0.0.1");
	await once(server, "listening");
	return server;
}

function portOf(server: Server): number {
	return (server.address() as AddressInfo).port;
}

async function freed(server: Server): Promise<number> {
	const port = portOf(server);
	server.close();
	await once(server, "close");
	return port;
}

/** A slice at a later revision than the world's start. */
function at(resourceVersion: string, pods: readonly Pod[]): EndpointSlice {
	const slice = sliceOf("web-a", pods);
	return {
		...slice,
		metadata: { ...slice.metadata, resourceVersion },
		ports: [{ name: "http", protocol: "TCP", port: 8080 }],
	};
}

const PODS_AT_START = podRange(1, 4);

/** Service `web` on the node port, with three Pods, all of revision 5. */
async function harness(nodePort: number) {
	const world = new ControllerHarness();
	const owner = service("web", { type: "NodePort", ports: [{ name: "http", port: 80, targetPort: 8080, nodePort }] });
	world.client.serve(SERVICES, [owner], "5");
	world.client.serve(PODS, PODS_AT_START, "5");
	world.client.serve(NODES, [], "5");
	world.client.serve(NAMESPACES, [], "5");
	world.client.serve(ENDPOINT_SLICES, [at("5", PODS_AT_START)], "5");
	const answered: AnsweredRequest[] = [];
	const stopping = new AbortController();
	const options = { clusterCIDRs: ["10.1.0.0/16"], serviceCIDRs: ["10.96.0.0/16"], clusterDomain: "cluster.local" };
	const dataPlane = startDataPlane({
		...world,
		signal: stopping.signal,
		options,
		inside: () => undefined,
		answered: (request) => answered.push(request),
	});
	const stop = async (): Promise<void> => {
		stopping.abort(new Error("stopped"));
		await dataPlane.stopped;
	};
	cleanups.push(stop, () => world.stop());
	await world.start({ run: async () => undefined });
	await dataPlane.whenApplied("5");
	return { world, dataPlane, owner, stop, answered };
}

/** The answer over a connection of its own. */
async function hostname(port: number): Promise<string> {
	const asked = request({ host: "127.0.0.1", port, path: "/hostname", agent: false }).end();
	const [answer] = await once(asked, "response");
	return text(answer);
}

describe("startDataPlane()", () => {
	test("lets every Pod behind a node port answer, and refuses when the endpoints are gone", async () => {
		const port = await freed(await holdPort());
		const { world, dataPlane } = await harness(port);
		const names: string[] = [];
		for (let i = 0; i < 21; i++) names.push(await hostname(port));
		const times = ["p00001", "p00002", "p00003"].map((name) => names.filter((answer) => answer === name).length);
		expect(times).toEqual([7, 7, 7]);

		world.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: at("6", PODS_AT_START.slice(0, 1)) });
		await dataPlane.whenApplied("6");
		expect([await hostname(port), await hostname(port)]).toEqual(["p00001", "p00001"]);

		world.client.send(ENDPOINT_SLICES, { type: "DELETED", object: at("7", []) });
		await dataPlane.whenApplied("7");
		await expect(hostname(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
		expect(dataPlane.asOf).toBe("7");

		world.client.send(ENDPOINT_SLICES, { type: "ADDED", object: at("8", PODS_AT_START.slice(2)) });
		await dataPlane.whenApplied("8");
		expect(await hostname(port)).toBe("p00003");
	});

	test("leaves the address of a command's Pod to the command", async () => {
		const { world, dataPlane } = await harness(0);
		const [first] = PODS_AT_START;
		const { metadata } = assertDefined(first, "a Pod");
		const annotations = { "sliceplane.dev/client": "true" };
		const object = { ...assertDefined(first, "a Pod"), metadata: { ...metadata, annotations, resourceVersion: "6" } };
		const ip = object.status?.podIP ?? "";
		const { signal } = new AbortController();
		(await dataPlane.dial(ip, 8080, signal)).destroy();
		world.client.send(PODS, { type: "MODIFIED", object });
		world.client.send(ENDPOINT_SLICES, { type: "MODIFIED", object: at("7", PODS_AT_START.slice(1)) });
		await dataPlane.whenApplied("7");
		await expect(dataPlane.dial(ip, 8080, signal)).rejects.toThrow("no pod has this address");
	});

	test("tells which Pod answered which request", async () => {
		const port = await freed(await holdPort());
		const { world, answered } = await harness(port);
		const name = await hostname(port);
		await world.clock.advance(50);
		const pod = PODS_AT_START.find(({ metadata }) => metadata.name === name);
		expect(answered).toEqual([
			{ podUID: pod?.metadata.uid, port: 8080, atMs: expect.any(Number), text: "GET /hostname 200" },
		]);
	});

	test("gives a client that has closed its half the whole answer", async () => {
		const port = await freed(await holdPort());
		await harness(port);
		const client = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
		client.end("GET /delay?ms=20 HTTP/1.1\r\nHost: x\r\n\r\n");
		expect(await text(client)).toMatch(/^HTTP\/1.1 200 OK.*\r\n\r\n.*p0000/s);
	});

	test("goes on with the other Pods when one has ended before its endpoint is gone", async () => {
		const port = await freed(await holdPort());
		const { world } = await harness(port);
		world.client.send(PODS, { type: "DELETED", object: assertDefined(PODS_AT_START[0], "the first Pod") });
		await settle();
		const names = [];
		for (let i = 0; i < 6; i++) names.push(await hostname(port));
		expect(new Set(names)).toEqual(new Set(["p00002", "p00003"]));
	});

	test("lets a connection outlive its endpoint", async () => {
		const port = await freed(await holdPort());
		const { world, dataPlane } = await harness(port);
		const client = connect({ host: "127.0.0.1", port });
		const hear = async (word: string): Promise<string> => {
			client.write(word);
			return String(await once(client, "data"));
		};
		expect(await hear("one")).toBe("one");
		world.client.send(ENDPOINT_SLICES, { type: "DELETED", object: at("6", []) });
		await dataPlane.whenApplied("6");
		expect(await hear("two")).toBe("two");
		client.destroy();
	});

	test("records an Event when the node port is taken, and opens it when it is free", async () => {
		const holder = await holdPort();
		const port = portOf(holder);
		const { world } = await harness(port);
		expect(world.events).toEqual([
			`Warning FailedToListen cannot listen on 127.0.0.1:${port}/TCP for port "http": ` +
				"another program has this port; it is tried again until the port is free",
		]);
		await freed(holder);
		await world.clock.advance(500);
		expect(await hostname(port)).toMatch(/^p0000[123]$/);
	});

	test("records another Event when a health check node port is taken, and answers there when it is free", async () => {
		const holder = await holdPort();
		const healthCheckNodePort = portOf(holder);
		const { world, dataPlane, owner } = await harness(await freed(await holdPort()));
		const spec = { ...owner.spec, type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort } as const;
		const metadata = { ...owner.metadata, resourceVersion: "6" };
		world.client.send(SERVICES, { type: "MODIFIED", object: { ...owner, metadata, spec } });
		world.client.send(ENDPOINT_SLICES, { type: "BOOKMARK", resourceVersion: "6" });
		await dataPlane.whenApplied("6");
		expect(world.events).toEqual([
			`Warning FailedToStartServiceHealthcheck cannot listen on 127.0.0.1:${healthCheckNodePort}/TCP: ` +
				"another program has this port; it is tried again until the port is free",
		]);
		await freed(holder);
		await world.clock.advance(500);
		const asked = request({ host: "127.0.0.1", port: healthCheckNodePort, agent: false }).end();
		const [answer] = await once(asked, "response");
		// Without --as-node nothing is local.
		expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([503, { localEndpoints: 0 }]);
	});

	test("closes its port and its connections when stopped, and tells who still waits", async () => {
		const port = await freed(await holdPort());
		const { dataPlane, stop } = await harness(port);
		const client = connect({ host: "127.0.0.1", port });
		client.write("hello");
		await once(client, "data");
		const waiting = expect(dataPlane.whenApplied("99")).rejects.toThrow("stopped");
		const broken = once(client, "error");
		await stop();
		await waiting;
		expect(await broken).toMatchObject([{ code: "ECONNRESET" }]);
		await expect(hostname(port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
	});

	test("does not touch what has not changed", async () => {
		const port = await freed(await holdPort());
		const { world, dataPlane, owner } = await harness(port);
		world.client.send(SERVICES, {
			type: "MODIFIED",
			object: { ...owner, metadata: { ...owner.metadata, resourceVersion: "6", labels: { a: "b" } } },
		});
		world.client.send(ENDPOINT_SLICES, { type: "BOOKMARK", resourceVersion: "9" });
		await dataPlane.whenApplied("9");
		expect(await hostname(port)).toMatch(/^p0000[123]$/);
		expect(world.metrics.values.get("sliceplane_proxy_listeners")).toBe(1);
	});

	test("connects to a Pod once it knows the Pod, and says when there is nobody", async () => {
		const port = await freed(await holdPort());
		const { world, dataPlane } = await harness(port);
		const [first] = PODS_AT_START;
		const late = assertDefined(first, "the first Pod");
		const never = new AbortController();
		await dataPlane.whenTold("default/p00001", never.signal);
		const stream = await dataPlane.dial(late.status?.podIP ?? "", 1, never.signal);
		stream.end("hello");
		expect(await text(stream)).toBe("hello");
		await expect(dataPlane.dial("10.1.99.99", 1, never.signal)).rejects.toThrow("ECONNREFUSED 10.1.99.99:1");

		const told = dataPlane.whenTold("default/late", never.signal);
		const given = new AbortController();
		const nobody = dataPlane.whenTold("default/nobody", given.signal);
		given.abort(new Error("enough"));
		await expect(nobody).rejects.toThrow("enough");
		const metadata = { ...late.metadata, name: "late", uid: "late", resourceVersion: "6" };
		world.client.send(PODS, { type: "ADDED", object: { ...late, metadata } });
		await told;
	});
});
