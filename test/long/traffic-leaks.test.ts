/** What connections and Services leave behind when they are gone: nothing. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVICES } from "../../src/api/resource-names.ts";
import { freeNodePort } from "../e2e/node-ports.ts";
import { eventually } from "../e2e/plane.ts";
import { BuiltPlane } from "../load/built-plane.ts";
import { heapBytes, socketCount } from "../load/footprint.ts";
import { ask, tunnel } from "../load/http-ways.ts";
import { deployment, shopService } from "../load/manifests.ts";

const CONNECTIONS = 10_000;
const AT_ONCE = 50;
const SERVICES_MADE = 1_000;
/** Long enough for listeners to close. */
const SETTLED_MS = 3_000;
const MIB = 2 ** 20;
/** The API's own objects, Events and watch history move by this much without any traffic. */
const HEAP_SLACK_BYTES = 40 * MIB;

/** Runs `one` so many times, some at once. */
async function times(count: number, one: (index: number) => Promise<void>): Promise<void> {
	let next = 0;
	const worker = async (): Promise<void> => {
		while (next < count) await one(next++);
	};
	await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describe("what is left behind", () => {
	let plane: BuiltPlane;
	let nodePort: number;

	beforeAll(async () => {
		plane = await BuiltPlane.start();
		nodePort = await freeNodePort();
		await plane.apply(shopService({ type: "NodePort" }, nodePort));
		await plane.apply(deployment({ name: "shop", image: "shop:1", replicas: 3 }));
		await plane.rolledOut("part=shop", "shop:1", 3);
	});
	afterAll(async () => {
		await plane?.stop();
	});

	/** One connection that is reset in the middle of a request. */
	async function throughNodePort(): Promise<void> {
		await new Promise<void>((resolve) => {
			const socket = connect({ host: "127.0.0.1", port: nodePort });
			socket.once("close", () => resolve()).on("error", () => undefined);
			socket.once("connect", () =>
				socket.write("GET /delay?ms=500 HTTP/1.1\r\nHost: x\r\n\r\n", () => socket.resetAndDestroy()),
			);
		});
	}

	async function throughGateway(): Promise<void> {
		const socket = await tunnel(plane.gateway, "shop.default.svc", 80);
		await new Promise<void>((resolve) => {
			socket.once("close", () => resolve()).on("error", () => undefined);
			socket.write("GET /delay?ms=500 HTTP/1.1\r\nHost: x\r\n\r\n", () => socket.resetAndDestroy());
		});
	}

	async function returnsTo(sockets: number, heap: number): Promise<void> {
		await eventually(
			async () => socketCount(),
			(now) => now <= sockets,
			{ what: `more than ${sockets} sockets` },
		);
		await eventually(
			async () => heapBytes() - heap,
			(more) => more < HEAP_SLACK_BYTES,
			{ what: "more bytes" },
		);
	}

	test.each([
		["a node port", throughNodePort],
		["the gateway", throughGateway],
	])("10,000 connections through %s that were reset leave no socket and no memory", async (_name, one) => {
		await times(100, one);
		await eventually(
			async () => socketCount(),
			(now) => now < 40,
		);
		const [sockets, heap] = [socketCount(), heapBytes()];
		await times(CONNECTIONS, one);
		await returnsTo(sockets, heap);
		expect((await ask({ host: "127.0.0.1", port: nodePort, path: "/hostname" }, false)).status).toBe(200);
	});

	test("1,000 Services that were made and deleted leave no listener and no memory", async () => {
		const spec = { ports: [{ port: 80, targetPort: 8080 }], selector: { app: "shop" }, type: "NodePort" } as const;
		const make = (count: number) =>
			times(count, async (index) => {
				await plane.client.create(SERVICES, "default", { metadata: { name: `s${index}` }, spec });
			});
		const remove = (count: number) =>
			times(count, async (index) => {
				await plane.client.delete(SERVICES, { namespace: "default", name: `s${index}` }, {});
			});
		// The client's connections are kept.
		await make(AT_ONCE);
		await remove(AT_ONCE);
		await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
		const [sockets, heap] = [socketCount(), heapBytes()];
		await make(SERVICES_MADE);
		await eventually(
			async () => socketCount(),
			(now) => now > sockets + SERVICES_MADE * 0.9,
			{ what: "few listeners" },
		);
		await remove(SERVICES_MADE);
		await returnsTo(sockets, heap);
	});
});
