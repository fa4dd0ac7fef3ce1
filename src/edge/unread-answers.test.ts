import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpResponse } from "../apiserver/http/message.ts";
import type { FrameSink } from "../apiserver/watch/watch-hub.ts";
import { testCertificates } from "../testing/https-test-server.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { DEFAULT_HTTPS_LIMITS, HttpsServer } from "./https-server.ts";
import type { UnreadLimits } from "./unread-answers.ts";

const MIB = 1024 * 1024;
/** More than the system keeps for a connection. */
const ANSWER_BYTES = 32 * MIB;
const CUT = "sliceplane_apiserver_unread_answers_cut_total";
const UNREAD = "sliceplane_apiserver_unread_bytes";

let metrics: RecordingMetrics;
let server: HttpsServer;
let port = 0;
const sockets: TLSSocket[] = [];

async function start(body: HttpResponse["body"], limits: Partial<UnreadLimits>): Promise<void> {
	metrics = new RecordingMetrics();
	const answer = { status: 200, headers: {}, body };
	const all = { ...DEFAULT_HTTPS_LIMITS, ...limits };
	server = new HttpsServer(await testCertificates(), () => Promise.resolve(answer), all, metrics);
	port = await server.listen("127.0.0.1", 0);
}
afterEach(async () => {
	for (const socket of sockets.splice(0)) socket.destroy();
	await server.close(0);
});

/** A client that has asked, and reads nothing until it is told to. */
async function asked(): Promise<TLSSocket> {
	const { ca } = await testCertificates();
	const socket = connect({ host: "127.0.0.1", port, ca });
	sockets.push(socket);
	socket.on("error", () => undefined);
	await once(socket, "secureConnect");
	socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
	return socket;
}

async function until(holds: () => boolean): Promise<void> {
	while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

const cut = (): number => metrics.values.get(CUT) ?? 0;
const unread = (): number => metrics.values.get(UNREAD) ?? 0;

describe("an answer that nobody reads", () => {
	test.each<{ what: string; body: HttpResponse["body"] }>([
		{ what: "that is whole", body: new Uint8Array(ANSWER_BYTES) },
		{ what: "in pieces", body: { pieces: Array.from({ length: 64 }, () => new Uint8Array(MIB)) } },
		{
			what: "of a watch",
			body: {
				start(sink: FrameSink) {
					const drained = (): void => {
						while (sink.write(new Uint8Array(MIB)));
					};
					drained();
					return { drained, closed: () => undefined };
				},
			},
		},
	])("$what ends with its connection when its client is silent for too long", async ({ body }) => {
		await start(body, { silentMs: 200 });
		await asked();
		await until(() => unread() > 0);
		await until(() => cut() === 1);
		expect(unread()).toBe(0);
	});

	test("goes when others come, and there is no room for all: the one that was silent for longest first", async () => {
		await start(new Uint8Array(ANSWER_BYTES), { unreadBytesMax: 2 * ANSWER_BYTES });
		const first = await asked();
		await until(() => unread() === ANSWER_BYTES);
		await asked();
		await until(() => unread() === 2 * ANSWER_BYTES);
		await asked();
		await until(() => cut() === 1);
		expect(unread()).toBe(2 * ANSWER_BYTES);
		let bytes = 0;
		first.on("data", (chunk) => {
			bytes += chunk.length;
		});
		await once(first, "close");
		expect(bytes).toBeLessThan(ANSWER_BYTES);
	});
});

test("an answer that is read slowly is whole", async () => {
	await start(new Uint8Array(ANSWER_BYTES), { silentMs: 400 });
	const socket = await asked();
	let bytes = 0;
	const ended = once(socket, "end");
	socket.on("data", (chunk) => {
		bytes += chunk.length;
		socket.pause();
		setImmediate(() => socket.resume());
	});
	await ended;
	expect([bytes > ANSWER_BYTES, cut()]).toEqual([true, 0]);
	await until(() => unread() === 0);
});
