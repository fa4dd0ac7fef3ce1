/** The gRPC probe: one health check over HTTP/2 without TLS. */
import { connect } from "node:http2";
import type { Duplex } from "node:stream";
import type { ProbeOutcome } from "../kubelet/ports.ts";
import { firstGrpcMessage, HEALTH_CHECK, healthRequest, servingStatusOf } from "./grpc-frames.ts";

export interface GrpcProbe {
	/** `10.244.0.2:50051` */
	readonly address: string;
	/** "": the server as a whole. */
	readonly service: string;
	readonly timeoutMs: number;
}

/** A health response is two bytes. */
const ANSWER_BYTES_MAX = 4_096;
/** gRPC's numbers. */
const OK = 0;
const UNKNOWN = 2;
const UNIMPLEMENTED = 12;

export async function probeGrpc(
	dial: () => Promise<Duplex>,
	probe: GrpcProbe,
	signal: AbortSignal,
): Promise<ProbeOutcome> {
	const within = `within ${probe.timeoutMs / 1_000}s`;
	let stream: Duplex;
	try {
		stream = await dial();
	} catch {
		return failure(`timeout: failed to connect service "${probe.address}" ${within}: context deadline exceeded`);
	}
	try {
		const { code, message, body } = await check(stream, probe, signal);
		if (code === OK) return outcomeOf(body);
		if (code !== UNIMPLEMENTED) return failure(`error: health rpc probe failed: ${message}`);
		return failure(
			`error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`,
		);
	} catch (error) {
		if (signal.aborted) return failure(`timeout: health rpc did not complete ${within}`);
		return failure(`error: health rpc probe failed: ${error instanceof Error ? error.message : String(error)}`);
	} finally {
		stream.destroy();
	}
}

function outcomeOf(body: Buffer): ProbeOutcome {
	const status = servingStatusOf(firstGrpcMessage(body) ?? body);
	return status === "SERVING"
		? { isSuccess: true, message: "" }
		: failure(`service unhealthy (responded with "${status}")`);
}

function failure(message: string): ProbeOutcome {
	return { isSuccess: false, message };
}

interface Answer {
	readonly code: number;
	readonly message: string;
	readonly body: Buffer;
}

function check(carrier: Duplex, { address, service }: GrpcProbe, signal: AbortSignal): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const session = connect(`http://${address}`, { createConnection: () => carrier });
		const fail = (error: unknown): void => {
			reject(error);
			session.destroy();
		};
		session.on("error", fail);
		session.once("close", () => reject(new Error("the connection was closed")));
		signal.addEventListener("abort", () => fail(signal.reason), { once: true });
		const stream = session.request({
			":method": "POST",
			":path": HEALTH_CHECK,
			"content-type": "application/grpc",
			te: "trailers",
		});
		let status: readonly [code: number, message: string] = [UNKNOWN, "no status"];
		const take = (headers: Readonly<Record<string, unknown>>): void => {
			const { "grpc-status": code, "grpc-message": message = "" } = headers;
			if (code !== undefined) status = [Number(code), String(message)];
		};
		const chunks: Buffer[] = [];
		let bytes = 0;
		stream.on("response", take).on("trailers", take).on("error", fail);
		stream.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > ANSWER_BYTES_MAX) fail(new Error("the answer is too long"));
			else chunks.push(chunk);
		});
		stream.once("close", () => {
			resolve({ code: status[0], message: status[1], body: Buffer.concat(chunks) });
			session.destroy();
		});
		stream.end(healthRequest(service));
	});
}
