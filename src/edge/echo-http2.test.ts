import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { EchoPod } from "./echo-pod.ts";
import { EchoPods } from "./echo-pods.ts";
import {
	firstGrpcMessage,
	grpcFrame,
	HEALTH_CHECK,
	HEALTH_WATCH,
	healthRequest,
	servingStatusOf,
} from "./grpc-frames.ts";

const POD: EchoPod = {
	key: "default/web-1",
	uid: "uid-1",
	name: "web-1",
	namespace: "default",
	nodeName: "n1",
	ips: ["10.244.0.2"],
	labels: {},
	ports: [],
	isReady: true,
	isTerminating: false,
};

const sessions: ClientHttp2Session[] = [];
afterEach(() => {
	for (const session of sessions.splice(0)) session.destroy();
});

function world(more: Partial<EchoPod> = {}) {
	const clock = new VirtualClock();
	const lines: string[] = [];
	const pods = new EchoPods({ clock, answered: ({ text }) => lines.push(text) });
	pods.put({ ...POD, ...more });
	const session = (): ClientHttp2Session => {
		const made = connect("http://10.244.0.2:50051", {
			createConnection: () => pods.connect("10.244.0.2", 50_051) as Duplex,
		});
		made.on("error", () => undefined);
		sessions.push(made);
		return made;
	};
	return { clock, lines, pods, session };
}

const GRPC = { ":method": "POST", "content-type": "application/grpc", te: "trailers" } as const;

interface Answer {
	readonly headers: IncomingHttpHeaders;
	readonly trailers: IncomingHttpHeaders;
	readonly body: Buffer;
}

async function ask(
	session: ClientHttp2Session,
	headers: OutgoingHttpHeaders,
	body: Buffer = Buffer.alloc(0),
): Promise<Answer> {
	const stream = session.request(headers, { endStream: false });
	let [answered, trailers]: IncomingHttpHeaders[] = [{}, {}];
	stream.on("response", (seen) => {
		answered = seen;
	});
	stream.on("trailers", (seen) => {
		trailers = seen;
	});
	const chunks: Buffer[] = [];
	stream.on("data", (chunk: Buffer) => chunks.push(chunk));
	stream.end(body);
	await once(stream, "close");
	return { headers: answered ?? {}, trailers: trailers ?? {}, body: Buffer.concat(chunks) };
}

async function check(session: ClientHttp2Session, service = ""): Promise<string> {
	const { body, trailers } = await ask(session, { ...GRPC, ":path": HEALTH_CHECK }, healthRequest(service));
	return `${servingStatusOf(firstGrpcMessage(body) ?? Buffer.alloc(0))} ${trailers["grpc-status"]}`;
}

describe("an echo pod over HTTP/2", () => {
	test.each<{ pod: Partial<EchoPod>; status: string; why: string }>([
		{ pod: {}, status: "SERVING", why: "is Ready" },
		{ pod: { isReady: false }, status: "NOT_SERVING", why: "is not Ready" },
		{ pod: { isTerminating: true }, status: "NOT_SERVING", why: "terminates" },
		{
			pod: { isReady: false, health: { fromMs: 0, untilMs: undefined } },
			status: "SERVING",
			why: "is only not Ready yet",
		},
		{ pod: { health: { fromMs: undefined, untilMs: undefined } }, status: "NOT_SERVING", why: "is never to be ready" },
	])("says $status to a health check when it $why", async ({ pod, status }) => {
		const { session } = world(pod);
		expect(await check(session(), "a.long.service.name.".repeat(10))).toBe(`${status} 0`);
	});

	test("tells a health watch every change, also those that time brings", async () => {
		const { session, pods, clock } = world({ health: { fromMs: 0, untilMs: undefined } });
		const stream = session().request({ ...GRPC, ":path": HEALTH_WATCH });
		stream.end(healthRequest(""));
		const next = async (): Promise<string> => {
			const [chunk] = await once(stream, "data");
			return servingStatusOf(firstGrpcMessage(chunk as Buffer) ?? Buffer.alloc(0));
		};
		expect(await next()).toBe("SERVING");
		pods.put({ ...POD, isReady: false, health: { fromMs: clock.wallMs() + 20, untilMs: undefined } });
		expect(await next()).toBe("NOT_SERVING");
		await clock.advance(20);
		expect(await next()).toBe("SERVING");
		pods.put({ ...POD, isTerminating: true });
		expect(await next()).toBe("NOT_SERVING");
	});

	test("sends every message of any method back, with its name, and ends with status 0", async () => {
		const { session, lines } = world();
		const sent = Buffer.concat([
			grpcFrame(Buffer.from("one")),
			grpcFrame(Buffer.alloc(200_000, 7)),
			grpcFrame(Buffer.alloc(0)),
		]);
		const { headers, trailers, body } = await ask(session(), { ...GRPC, ":path": "/shop.v1.Shop/Buy" }, sent);
		expect(body.equals(sent)).toBe(true);
		expect(headers).toMatchObject({ ":status": 200, "content-type": "application/grpc", "sliceplane-pod": "web-1" });
		expect(trailers["grpc-status"]).toBe("0");
		expect(lines).toEqual(["gRPC /shop.v1.Shop/Buy"]);
	});

	test("answers what is no gRPC as over HTTP/1.1", async () => {
		const { session, lines } = world();
		const { headers, body } = await ask(session(), { ":path": "/status/404" });
		expect([headers[":status"], headers["sliceplane-pod"], String(body)]).toEqual([404, "web-1", "web-1"]);
		expect(lines).toEqual(["GET /status/404 404"]);
	});

	test("that begins to terminate says GOAWAY, finishes what is open, and is cut at its end", async () => {
		const { session, pods } = world();
		const client = session();
		const stream = client.request({ ...GRPC, ":path": "/shop.v1.Shop/Chat" });
		const say = async (text: string): Promise<string> => {
			stream.write(grpcFrame(Buffer.from(text)));
			const [chunk] = await once(stream, "data");
			return String(firstGrpcMessage(chunk as Buffer));
		};
		expect(await say("hello")).toBe("hello");
		const goaway = once(client, "goaway");
		pods.put({ ...POD, isTerminating: true });
		await goaway;
		expect(await say("still there")).toBe("still there");
		const closed = once(stream, "close");
		pods.remove(POD.key);
		await closed;
		expect(client.destroyed).toBe(true);
	});

	test("that terminates still takes a new connection, for the streams that come with it", async () => {
		const { session } = world({ isTerminating: true });
		const client = session();
		const goaway = once(client, "goaway");
		expect((await ask(client, { ":path": "/hostname" })).headers[":status"]).toBe(200);
		await goaway;
	});
});
