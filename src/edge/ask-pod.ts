/** Asks a Pod over HTTP, on a connection of its own. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { AskPod } from "../apiserver/http/proxy.ts";

/** A longer answer breaks off: it is held in memory. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export function askPodBy(connect: (ip: string, port: number) => Promise<Duplex>): AskPod {
	return async ({ ip, port, method, path, headers, body, signal }) => {
		const stream = await connect(ip, port);
		const host = ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
		const message = await new Promise<IncomingMessage>((resolve, reject) => {
			const sent = httpRequest(
				{
					createConnection: () => stream,
					method,
					path,
					headers: { ...copied(headers), host, ...(body.length > 0 ? { "content-length": body.length } : {}) },
					signal,
				},
				resolve,
			);
			sent.once("error", reject);
			sent.end(body);
		});
		return {
			status: message.statusCode ?? 502,
			headers: definedHeaders(message),
			body: await wholeBody(message),
		};
	};
}

function copied(headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string | string[]> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
	);
}

function definedHeaders({ headers }: IncomingMessage): Record<string, string | readonly string[]> {
	return Object.fromEntries(
		Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
	);
}

async function wholeBody(message: IncomingMessage): Promise<Uint8Array> {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of message) {
		length += chunk.length;
		if (length > ANSWER_BYTES_MAX) throw new Error(`the answer is longer than ${ANSWER_BYTES_MAX} bytes`);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
