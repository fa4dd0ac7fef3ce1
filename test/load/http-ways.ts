/** Ways to send an HTTP request to a Service: to its node port, or through the gateway; on a connection of its own or a kept one. */
import { Agent, type ClientRequestArgs, request } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { PlaneGateway } from "../../src/wiring/start-plane.ts";
import type { Send } from "./open-loop.ts";

export interface HttpTarget {
	readonly host: string;
	readonly port: number;
	readonly path: string;
}

const TIMEOUT_MS = 5_000;
/** Connections that are kept. */
const KEPT = 20;

/** What a request was answered: the status and the body, or the system's word for why not. */
export interface Answer {
	readonly status: number;
	readonly body: string;
	readonly failure?: string;
}

export function ask({ host, port, path }: HttpTarget, agent: Agent | false): Promise<Answer> {
	return new Promise((resolve) => {
		let status = 0;
		let body = "";
		const sent = request({ host, port, path, agent, timeout: TIMEOUT_MS }, (response) => {
			status = response.statusCode ?? 0;
			response.setEncoding("utf8");
			response.on("data", (chunk) => {
				body += chunk;
			});
			response.once("end", () => resolve({ status, body }));
			response.once("error", (error: Error) => resolve({ status, body, failure: wordFor(error) }));
		});
		sent.once("timeout", () => sent.destroy(Object.assign(new Error("timeout"), { code: "TIMEOUT" })));
		sent.once("error", (error: Error) => resolve({ status, body, failure: wordFor(error) }));
		sent.end();
	});
}

/** @param agent Keeps connections, or reaches the Service another way; false: a connection of its own. */
export function httpWay(name: string, target: HttpTarget, agent: () => Agent | false): Send {
	return async () => {
		const { status, failure } = await ask(target, agent());
		if (failure !== undefined) return `${name}: ${failure}`;
		return status === 200 ? undefined : `${name}: ${status}`;
	};
}

export function keptAgent(): Agent {
	return new Agent({ keepAlive: true, maxSockets: KEPT, scheduling: "fifo" });
}

/** Connects through the gateway, by CONNECT. */
export class GatewayAgent extends Agent {
	readonly #gateway: PlaneGateway;

	constructor(gateway: PlaneGateway, keepAlive: boolean) {
		super({ keepAlive, scheduling: "fifo", ...(keepAlive ? { maxSockets: KEPT } : {}) });
		this.#gateway = gateway;
	}

	override createConnection(
		options: ClientRequestArgs,
		callback?: (error: Error | null, stream: Duplex) => void,
	): undefined {
		void tunnel(this.#gateway, String(options.host), Number(options.port)).then(
			(stream) => callback?.(null, stream),
			// An error's stream is never looked at; the type wants one.
			(error: Error) => callback?.(error, undefined as never),
		);
		return undefined;
	}
}

/** A connection through the gateway. */
export function tunnel({ host, port, user, password }: PlaneGateway, to: string, toPort: number): Promise<Socket> {
	return new Promise((resolve, reject) => {
		const credentials = Buffer.from(`${user}:${password}`).toString("base64");
		const asked = request({
			host,
			port,
			method: "CONNECT",
			path: `${to}:${toPort}`,
			headers: { "proxy-authorization": `Basic ${credentials}` },
			agent: false,
			timeout: TIMEOUT_MS,
		});
		asked.once("connect", (response, socket) => {
			if (response.statusCode === 200) resolve(socket);
			else reject(Object.assign(new Error("gateway"), { code: `GATEWAY_${response.statusCode}` }));
		});
		asked.once("timeout", () => asked.destroy(Object.assign(new Error("timeout"), { code: "GATEWAY_TIMEOUT" })));
		asked.once("error", reject);
		asked.end();
	});
}

export function wordFor(error: Error & { readonly code?: string }): string {
	return error.code ?? error.message;
}
