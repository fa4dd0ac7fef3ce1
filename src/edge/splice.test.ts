import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import type { Accepted } from "../proxy/ports.ts";
import { RecordingMetrics } from "../testing/recording-metrics.ts";
import { memoryPair } from "./memory-pair.ts";
import { dialTcp, PodDialer } from "./pod-dialer.ts";
import { reset, splice } from "./splice.ts";
import { TcpListeners } from "./tcp-listeners.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
	for (const cleanup of cleanups.splice(0)) cleanup();
});

async function freePort(): Promise<number> {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	server.close();
	await once(server, "close");
	return port;
}

async function listening(onConnection: (client: Accepted<Duplex>) => void, connectionsMax = 10) {
	const metrics = new RecordingMetrics();
	const listeners = new TcpListeners(metrics, { connectionsMax });
	const address = { host: "127.0.0.1", port: await freePort(), protocol: "TCP" } as const;
	const opened = await listeners.open(address, onConnection);
	if (opened.kind === "failed") throw new Error(opened.message);
	cleanups.push(() => {
		opened.listener.close();
		listeners.resetAll();
	});
	const client = (): Socket => {
		const socket = connect({ ...address, allowHalfOpen: true });
		cleanups.push(() => socket.destroy());
		return socket;
	};
	return { address, listeners, opened, client, metrics };
}

/** A client over a real socket, spliced to one end of a pair; the test plays the endpoint at the other. */
async function spliced() {
	const [upstream, endpoint] = memoryPair();
	endpoint.on("error", () => undefined);
	let hasEnded = false;
	const ended = new Promise<void>((resolve) => {
		const done = (): void => {
			hasEnded = true;
			resolve();
		};
		cleanups.push(done);
		void listening((accepted) => splice(accepted.stream, upstream, done)).then(({ client }) => resolveClient(client()));
	});
	let resolveClient: (socket: Socket) => void = () => undefined;
	const client = await new Promise<Socket>((resolve) => (resolveClient = resolve));
	return { client, endpoint, ended, hasEnded: () => hasEnded };
}

describe("splice()", () => {
	test("gives a client that has closed its half the whole answer, then ends both", async () => {
		const { client, endpoint, ended } = await spliced();
		client.end("question");
		let asked = "";
		endpoint.on("data", (chunk: Buffer) => (asked += chunk.toString()));
		await once(endpoint, "end");
		expect(asked).toBe("question");
		endpoint.end("a".repeat(200_000));
		expect(await text(client)).toHaveLength(200_000);
		await ended;
	});

	test("resets the client when the endpoint breaks off, so that half an answer is not taken for a whole one", async () => {
		const { client, endpoint, ended } = await spliced();
		client.write("question");
		await once(endpoint, "data");
		endpoint.write("half an ans");
		await once(client, "data");
		endpoint.destroy(new Error("crash"));
		const [error] = await once(client, "error");
		expect(error).toMatchObject({ code: "ECONNRESET" });
		await ended;
	});

	test("breaks the endpoint's side when the client resets", async () => {
		const { client, endpoint, ended } = await spliced();
		client.write("question");
		await once(endpoint, "data");
		const broken = once(endpoint, "error");
		client.resetAndDestroy();
		expect(await broken).toMatchObject([{ code: "ECONNRESET" }]);
		await ended;
	});

	test("lets a slow reader hold up the writer", async () => {
		const { client, endpoint } = await spliced();
		client.pause();
		const chunk = Buffer.alloc(1_000_000);
		let sent = 0;
		const pump = (): void => {
			if (sent++ < 100) endpoint.write(chunk, pump);
		};
		pump();
		for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve));
		// What the system's own buffers take is a few MB.
		expect(sent).toBeLessThan(50);
	});
});

describe("TcpListeners", () => {
	test("says that an address is taken, and takes it again as soon as it is free", async () => {
		const { address, listeners, opened } = await listening(() => undefined);
		const again = await listeners.open(address, () => undefined);
		expect(again).toMatchObject({ kind: "failed", problem: "address-in-use" });
		if (opened.kind === "open") opened.listener.close();
		const third = await listeners.open(address, () => undefined);
		expect(third.kind).toBe("open");
		if (third.kind === "open") third.listener.close();
	});

	test("says that an address is not this machine's", async () => {
		const listeners = new TcpListeners(new RecordingMetrics());
		const result = await listeners.open({ host: "192.0.2.1", port: 1, protocol: "TCP" }, () => undefined);
		expect(result).toMatchObject({ kind: "failed", problem: "address-not-available" });
	});

	test("resets and counts clients beyond the limit", async () => {
		const { client, metrics } = await listening(() => undefined, 1);
		await once(client(), "connect");
		const [error] = await once(client(), "error");
		expect(error).toMatchObject({ code: "ECONNRESET" });
		expect(metrics.values.get("sliceplane_proxy_connections_refused_total")).toBe(1);
	});
});

describe("PodDialer", () => {
	const range = { base: { family: "IPv4", value: 0x0af40000n }, prefixLength: 16 } as const;
	const nobody = { connect: () => undefined, at: () => undefined };
	const never = new AbortController().signal;

	test("refuses an address of the cluster that no pod has, without asking a real network", async () => {
		const result = await new PodDialer(nobody, [range]).dial({ ip: "10.244.1.1", port: 80 }, never);
		expect(result).toMatchObject({ kind: "failed", message: expect.stringContaining("ECONNREFUSED 10.244.1.1:80") });
	});

	test("dials other addresses for real, and says when they refuse", async () => {
		const dialer = new PodDialer(nobody, [range]);
		const { address } = await listening((client) => client.stream.end("hello"));
		const result = await dialer.dial({ ip: address.host, port: address.port }, never);
		if (result.kind === "failed") throw new Error(result.message);
		expect(await text(result.stream)).toBe("hello");
		result.stream.destroy();
		const refused = await dialer.dial({ ip: "127.0.0.1", port: await freePort() }, never);
		expect(refused).toMatchObject({ kind: "failed", message: expect.stringContaining("ECONNREFUSED") });
	});

	test("says of a name that stands for no address that it does not know it", async () => {
		expect(await dialTcp("no-such-host.invalid", 80, never)).toMatchObject({ kind: "failed", isUnknownHost: true });
		expect(await dialTcp("127.0.0.1", await freePort(), never)).not.toHaveProperty("isUnknownHost");
	});

	test("dials the process that stands for a pod, at its port of this machine", async () => {
		const { address } = await listening((client) => client.stream.end("process"));
		const forwards = { 80: address.port };
		const pods = { connect: () => undefined, at: () => ({ forwards }) };
		const dialer = new PodDialer(pods, [range]);
		const result = await dialer.dial({ ip: "10.244.0.2", port: 80 }, never);
		if (result.kind === "failed") throw new Error(result.message);
		expect(await text(result.stream)).toBe("process");
		const other = await dialer.dial({ ip: "10.244.0.2", port: 81 }, never);
		expect(other).toMatchObject({ kind: "failed", message: expect.stringContaining("no container of the pod has") });
	});
});

describe("reset()", () => {
	test("closes a socket whose end is just on its way, which the system will not reset yet", async () => {
		const { opened, client } = await listening(({ stream }) => {
			stream.resume();
			stream.end("bye");
			reset(stream);
			stream.once("close", () => closed());
		});
		let closed: () => void = () => undefined;
		const hasClosed = new Promise<void>((resolve) => (closed = resolve));
		client().on("error", () => undefined);
		await hasClosed;
		opened.listener.close();
	});
});
