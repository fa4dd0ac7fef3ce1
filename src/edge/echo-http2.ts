/**
 * Echo pods over HTTP/2 without TLS, by prior knowledge: gRPC health, a gRPC echo for every other method, and what
 * HTTP/1.1 answers for requests that are no gRPC.
 */
import { type IncomingHttpHeaders, performServerHandshake, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { echoAnswer, POD_HEADER } from "./echo-answer.ts";
import type { EchoPorts } from "./echo-http.ts";
import { healthChangesInMs, isHealthy, type Served } from "./echo-pod.ts";
import { HEALTH_CHECK, HEALTH_WATCH, healthResponse, type ServingStatus } from "./grpc-frames.ts";

/** Streams of one connection at once. */
const STREAMS_MAX = 1_000;
const GRPC = "application/grpc";
const GRPC_OK = { "grpc-status": "0" } as const;

/** When the pod begins to terminate the client gets a GOAWAY; streams that are open go on to their end. */
export function serveEchoHttp2(ports: EchoPorts, connection: Duplex, served: Served): void {
	const session = performServerHandshake(connection, { settings: { maxConcurrentStreams: STREAMS_MAX } });
	const drain = (): void => {
		if (served.pod.isTerminating && !session.closed) session.close();
	};
	session.on("error", () => connection.destroy());
	session.once("close", served.follow(drain));
	session.once("close", () => connection.destroy());
	session.on("stream", (stream, headers) => {
		stream.on("error", () => undefined);
		answer(ports, stream, headers, served);
		drain();
	});
}

function answer(ports: EchoPorts, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, served: Served): void {
	const { ":method": method = "GET", ":path": url = "/" } = headers;
	const isGrpc = method === "POST" && headers["content-type"]?.startsWith(GRPC) === true;
	stream.once("close", () => {
		const status = stream.sentHeaders?.[":status"];
		if (status === undefined) return;
		const text = isGrpc ? `gRPC ${url}` : `${method} ${url} ${status}`;
		ports.answered({ podUID: served.pod.uid, port: served.port, atMs: ports.clock.wallMs(), text });
	});
	if (!isGrpc) answerPlain(ports, stream, { method, url, headers }, served);
	else if (url === HEALTH_CHECK || url === HEALTH_WATCH) answerHealth(ports, stream, served, url);
	else echoMessages(stream, headers, served);
}

function answerPlain(
	{ clock }: EchoPorts,
	stream: ServerHttp2Stream,
	request: Parameters<typeof echoAnswer>[0],
	served: Served,
): void {
	stream.resume();
	const { status, headers, body, delayMs } = echoAnswer(request, served, clock.wallMs());
	const timer = setTimeout(() => {
		stream.respond({ ":status": status, ...headers, [POD_HEADER]: served.pod.name });
		stream.end(body);
	}, delayMs);
	stream.once("close", () => clearTimeout(timer));
}

function respondGrpc(stream: ServerHttp2Stream, { pod }: Served, headers: IncomingHttpHeaders = {}): void {
	const { "content-type": type = GRPC, "grpc-encoding": encoding } = headers;
	const more = encoding === undefined ? {} : { "grpc-encoding": encoding };
	stream.respond({ ":status": 200, "content-type": type, [POD_HEADER]: pod.name, ...more }, { waitForTrailers: true });
	stream.once("wantTrailers", () => stream.sendTrailers(GRPC_OK));
}

/** Messages are not looked into: with their lengths they go back as they came, compressed or not. */
function echoMessages(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, served: Served): void {
	respondGrpc(stream, served, headers);
	stream.pipe(stream);
}

/** Every service is known: the echo answers for all of them. */
function answerHealth(ports: EchoPorts, stream: ServerHttp2Stream, served: Served, method: string): void {
	stream.resume().once("end", () => {
		if (stream.destroyed) return;
		respondGrpc(stream, served);
		if (method === HEALTH_CHECK) stream.end(healthResponse(servingStatus(ports, served)));
		else watchHealth(ports, stream, served);
	});
}

function watchHealth(ports: EchoPorts, stream: ServerHttp2Stream, served: Served): void {
	let told: ServingStatus | undefined;
	let timer: NodeJS.Timeout | undefined;
	const tell = (): void => {
		clearTimeout(timer);
		const status = servingStatus(ports, served);
		if (status !== told) stream.write(healthResponse(status));
		told = status;
		const waitMs = healthChangesInMs(served.pod, ports.clock.wallMs());
		if (waitMs !== undefined) timer = setTimeout(tell, Math.min(waitMs, TIMER_MS_MAX));
	};
	const unfollow = served.follow(tell);
	stream.once("close", () => {
		unfollow();
		clearTimeout(timer);
	});
	tell();
}

/** The longest timer that Node has. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function servingStatus({ clock }: EchoPorts, { pod }: Served): ServingStatus {
	return isHealthy(pod, clock.wallMs()) && !pod.isTerminating ? "SERVING" : "NOT_SERVING";
}
