import { describe, expect, test } from "vitest";
import { memoryPair } from "../memory-pair.ts";
import { lengthPrefixed, SPDY_DICTIONARY } from "./dictionary.ts";
import { dataFrame, FrameReader, pingFrame, resetFrame, type SpdyFrame } from "./frames.ts";
import { HeaderBlocks, type SpdyHeaders } from "./header-block.ts";
import { SpdySession, type SpdyStream } from "./session.ts";

describe("the dictionary", () => {
	test("has the length that the protocol says", () => {
		expect(SPDY_DICTIONARY).toHaveLength(1423);
		expect(SPDY_DICTIONARY.subarray(0, 11)).toEqual(lengthPrefixed("options"));
	});
});

describe("HeaderBlocks", () => {
	test("reads what another session's side wrote, block after block", async () => {
		const [writer, reader] = [new HeaderBlocks(), new HeaderBlocks()];
		for (const port of ["80", "443"]) {
			const headers = new Map([
				["streamtype", "data"],
				["port", port],
			]);
			expect(await reader.decode(await writer.encode(headers))).toEqual(headers);
		}
	});

	test("rejects a block that is no compressed block", async () => {
		await expect(new HeaderBlocks().decode(Buffer.from("nonsense"))).rejects.toThrow();
	});

	test("rejects a block that unpacks to far more than anyone needs", async () => {
		const bomb = await new HeaderBlocks().encode(new Map([["a", "x".repeat(1_000_000)]]));
		await expect(new HeaderBlocks().decode(bomb)).rejects.toThrow("larger than");
	});
});

describe("FrameReader", () => {
	test("gives whole frames, however the bytes come", () => {
		const bytes = Buffer.concat([dataFrame(1, Buffer.from("hello"), true), pingFrame(7), resetFrame(3)]);
		const reader = new FrameReader(1000);
		const frames: SpdyFrame[] = [];
		for (const byte of bytes) frames.push(...reader.read(Buffer.from([byte])));
		expect(frames).toEqual([
			{ kind: "data", streamId: 1, isLast: true, data: Buffer.from("hello") },
			{ kind: "ping", id: 7 },
			{ kind: "reset", streamId: 3 },
		]);
	});

	test("refuses a frame that is longer than the limit before it has come", () => {
		expect(() => new FrameReader(10).read(dataFrame(1, Buffer.alloc(11), false).subarray(0, 8))).toThrow("at most 10");
	});
});

describe("SpdySession", () => {
	/** A SYN_STREAM as a client sends it. */
	async function open(blocks: HeaderBlocks, streamId: number, headers: SpdyHeaders): Promise<Buffer> {
		const block = await blocks.encode(headers);
		const head = Buffer.alloc(18);
		head.writeUInt32BE(0x80030001, 0);
		head.writeUIntBE(block.length + 10, 5, 3);
		head.writeUInt32BE(streamId, 8);
		return Buffer.concat([head, block]);
	}

	test("opens streams, carries data both ways, answers pings, and ends with its connection", async () => {
		const [client, server] = memoryPair();
		const opened: { stream: SpdyStream; headers: SpdyHeaders }[] = [];
		const session = new SpdySession(server, (stream, headers) => {
			opened.push({ stream, headers });
			stream.pipe(stream);
		});
		const run = session.run();
		client.write(await open(new HeaderBlocks(), 1, new Map([["streamtype", "data"]])));
		client.write(pingFrame(5));
		client.write(dataFrame(1, Buffer.from("hello"), true));
		const reader = new FrameReader(1000);
		const frames: SpdyFrame[] = [];
		for await (const chunk of client) {
			frames.push(...reader.read(chunk));
			if (frames.some((frame) => frame.kind === "data" && frame.isLast)) break;
		}
		client.destroy();
		await run;
		expect(opened.map(({ headers }) => [...headers])).toEqual([[["streamtype", "data"]]]);
		expect(frames.filter(({ kind }) => kind !== "other")).toEqual([
			{ kind: "ping", id: 5 },
			{ kind: "data", streamId: 1, isLast: false, data: Buffer.from("hello") },
			{ kind: "data", streamId: 1, isLast: true, data: Buffer.alloc(0) },
		]);
		expect(opened[0]?.stream.destroyed).toBe(true);
	});

	test("cuts a peer off that speaks something else", async () => {
		const [client, server] = memoryPair();
		const run = new SpdySession(server, () => undefined).run();
		client.on("error", () => undefined);
		client.write("GET / HTTP/1.1\r\n\r\n".repeat(1000));
		await run;
		expect(server.destroyed).toBe(true);
	});
});
