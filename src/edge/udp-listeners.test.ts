import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { parseCIDR } from "../api/ip.ts";
import { assertDefined } from "../kernel/assert.ts";
import { UdpListeners } from "./udp-listeners.ts";

const sockets: Socket[] = [];
afterEach(() => {
	for (const socket of sockets.splice(0)) socket.close();
});

async function bound(): Promise<Socket> {
	const socket = createSocket("udp4");
	sockets.push(socket);
	socket.bind(0, "127.0.0.1");
	await once(socket, "listening");
	return socket;
}

const IN_MEMORY = [assertDefined(parseCIDR("10.244.0.0/16"), "range")];
const listeners = new UdpListeners((ip, _, bytes) => (ip === "10.244.0.1" ? bytes : undefined), IN_MEMORY);

test("gives a datagram to whoever listens, and brings the answer back", async () => {
	const taken = await bound();
	const { port } = taken.address();
	taken.close();
	sockets.splice(sockets.indexOf(taken), 1);
	const result = await listeners.openDatagrams({ host: "127.0.0.1", port, protocol: "UDP" }, (from, bytes, to) =>
		to.send(from, Uint8Array.of(...bytes, 9)),
	);
	const client = await bound();
	client.send(Uint8Array.of(1, 2), port, "127.0.0.1");
	expect([...(await once(client, "message"))[0]]).toEqual([1, 2, 9]);
	if (result.kind === "open") result.listener.close();
});

test("says why an address cannot be had", async () => {
	const { port } = (await bound()).address();
	const result = await listeners.openDatagrams({ host: "127.0.0.1", port, protocol: "UDP" }, () => undefined);
	expect(result).toMatchObject({ kind: "failed", problem: "address-in-use" });
});

test("reaches real endpoints, and tells of a refusal", async () => {
	const server = await bound();
	server.on("message", (bytes, { address, port }) => server.send(bytes, port, address));
	const answers = new Promise<Uint8Array>((answered) => {
		const flow = listeners.openFlow(
			{ ip: "127.0.0.1", port: server.address().port },
			{ answered, refused: () => undefined },
		);
		flow.send(Uint8Array.of(7));
	});
	expect([...(await answers)]).toEqual([7]);
	const closed = await bound();
	const { port } = closed.address();
	closed.close();
	sockets.splice(sockets.indexOf(closed), 1);
	await new Promise<void>((refused) => {
		listeners.openFlow({ ip: "127.0.0.1", port }, { answered: () => undefined, refused }).send(Uint8Array.of(7));
	});
});

test("answers for Pods in memory, and refuses for those that there are not", async () => {
	const answer = await new Promise<Uint8Array>((answered) => {
		listeners.openFlow({ ip: "10.244.0.1", port: 53 }, { answered, refused: () => undefined }).send(Uint8Array.of(3));
	});
	expect([...answer]).toEqual([3]);
	await new Promise<void>((refused) => {
		listeners.openFlow({ ip: "10.244.0.2", port: 53 }, { answered: () => undefined, refused }).send(Uint8Array.of(3));
	});
});
