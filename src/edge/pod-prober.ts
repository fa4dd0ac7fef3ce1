/** Probes over the network, with a kubelet's rules and words. */
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { ProbeOutcome, Prober, ProbeTarget } from "../kubelet/ports.ts";
import { probeGrpc } from "./probe-grpc.ts";

export interface PodNetwork {
	/** A connection to a port of the pod. Rejects when there is nobody, and when `signal` aborts. */
	dial(ip: string, port: number, signal: AbortSignal): Promise<Duplex>;
	/** Resolves when connections to the pod, by `namespace/name`, get there. */
	whenTold(podKey: string, signal: AbortSignal): Promise<void>;
}

const SUCCESS: ProbeOutcome = { isSuccess: true, message: "" };
const USER_AGENT = "kube-probe/1.36";

export class PodProber implements Prober {
	readonly #network: PodNetwork;

	constructor(network: PodNetwork) {
		this.#network = network;
	}

	reachable(podKey: string, signal: AbortSignal): Promise<void> {
		return this.#network.whenTold(podKey, signal);
	}

	async probe(target: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
		try {
			return await this.#probe(target, signal);
		} catch (error) {
			return failure(error instanceof Error ? error.message : String(error));
		}
	}

	async #probe({ ip, action, timeoutMs }: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
		const host = action.kind !== "grpc" && action.host !== "" ? action.host : ip;
		const address = `${host.includes(":") ? `[${host}]` : host}:${action.port}`;
		const dial = (): Promise<Duplex> => this.#network.dial(host, action.port, signal);
		switch (action.kind) {
			case "tcp":
				return probeTcp(dial, address, signal);
			case "http":
				return probeHttp(dial, address, action, signal);
			case "grpc":
				return probeGrpc(dial, { address, service: action.service, timeoutMs }, signal);
		}
	}
}

function failure(message: string): ProbeOutcome {
	return { isSuccess: false, message };
}

/** As Go tells it: nobody is there, or the time was over. */
function dialProblem(address: string, signal: AbortSignal): string {
	return `dial tcp ${address}: ${signal.aborted ? "i/o timeout" : "connect: connection refused"}`;
}

async function probeTcp(dial: () => Promise<Duplex>, address: string, signal: AbortSignal): Promise<ProbeOutcome> {
	try {
		const stream = await dial();
		stream.on("error", () => undefined).destroy();
		return SUCCESS;
	} catch {
		return failure(dialProblem(address, signal));
	}
}

type HttpAction = Extract<ProbeTarget["action"], { kind: "http" }>;

async function probeHttp(
	dial: () => Promise<Duplex>,
	address: string,
	action: HttpAction,
	signal: AbortSignal,
): Promise<ProbeOutcome> {
	const path = action.path.startsWith("/") ? action.path : `/${action.path}`;
	const asked = `Get "${action.scheme.toLowerCase()}://${address}${path}"`;
	let stream: Duplex;
	try {
		stream = await dial();
	} catch {
		return failure(`${asked}: ${signal.aborted ? TIMEOUT : dialProblem(address, signal)}`);
	}
	const carried = action.scheme === "HTTPS" ? connectTls({ socket: stream, rejectUnauthorized: false }) : stream;
	try {
		const status = await statusOf(carried, address, path, action, signal);
		const isSuccess = status >= 200 && status < 400;
		return isSuccess ? SUCCESS : failure(`HTTP probe failed with statuscode: ${status}`);
	} catch (error) {
		return failure(`${asked}: ${signal.aborted ? TIMEOUT : reasonOf(error)}`);
	} finally {
		stream.destroy();
	}
}

const TIMEOUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

function reasonOf(error: unknown): string {
	const { code, message } = error as Error & { code?: string };
	if (code === "ECONNRESET") return "EOF";
	if (code === undefined || !/^(ERR_SSL_|EPROTO)/.test(code)) return message;
	// The server's own words, such as ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION; without them it speaks no TLS.
	const [, alert] = /_ALERT_(.+)$/.exec(code) ?? [];
	if (alert === undefined) return "http: server gave HTTP response to HTTPS client";
	return `remote error: tls: ${alert.toLowerCase().replaceAll("_", " ")}`;
}

function statusOf(
	stream: Duplex,
	address: string,
	path: string,
	{ headers }: HttpAction,
	signal: AbortSignal,
): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = request({ createConnection: () => stream, path, setHost: false, signal });
		const defaults = { host: address, "user-agent": USER_AGENT, accept: "*/*", connection: "close" };
		for (const [name, value] of Object.entries(defaults)) sent.setHeader(name, value);
		// Those of the spec replace the defaults, Host too; one name may come several times.
		for (const name of new Set(headers.map(([key]) => key.toLowerCase()))) {
			const values = headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
			if (name === "host" || values.length === 1) sent.setHeader(name, values[0] ?? "");
			else sent.setHeader(name, values);
		}
		sent.once("response", (response) => {
			response.on("error", () => undefined).resume();
			resolve(response.statusCode ?? 0);
		});
		sent.on("error", reject);
		sent.end();
	});
}
