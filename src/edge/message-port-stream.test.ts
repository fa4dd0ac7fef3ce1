import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { MessagePortStream } from "./message-port-stream.ts";

function pair(): readonly [MessagePortStream, MessagePortStream] {
	const { port1, port2 } = new MessageChannel();
	return [new MessagePortStream(port1), new MessagePortStream(port2)];
}

async function all(stream: MessagePortStream): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of stream) chunks.push(chunk);
	return Buffer.concat(chunks);
}

describe("MessagePortStream", () => {
	test("carries every byte, also what is read after the peer has closed", async () => {
		const [near, far] = pair();
		const bytes = Buffer.alloc(200_000, "abc");
		far.end();
		near.end(bytes);
		near.resume();
		await once(near, "close");
		expect((await all(far)).equals(bytes)).toBe(true);
	});

	test("makes a fast writer wait for a slow reader", async () => {
		const [near, far] = pair();
		const chunk = Buffer.alloc(64 * 1024);
		while (near.write(chunk));
		for (let i = 0; i < 20; i++) near.write(chunk);
		await new Promise((resolve) => setImmediate(resolve));
		expect(near.writableLength).toBeGreaterThan(10 * chunk.length);
		near.end();
		far.end();
		expect((await all(far)).length % chunk.length).toBe(0);
	});

	test("breaks when the peer breaks, and says why", async () => {
		const [near, far] = pair();
		near.on("error", () => undefined);
		near.destroy(new Error("connect ECONNREFUSED 10.0.0.1:80"));
		const [error] = await once(far, "error");
		expect(error).toMatchObject({ message: "connect ECONNREFUSED 10.0.0.1:80" });
	});
});
