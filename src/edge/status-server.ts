/** Small HTTP answers for whoever watches a part: health and metrics. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface StatusAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** By path; others are 404. */
export type StatusAnswers = Readonly<Record<string, () => StatusAnswer | Promise<StatusAnswer>>>;

/** Connections at once; more are refused. */
const CONNECTIONS_MAX = 100;
const REQUEST_MS_MAX = 10_000;

export class StatusServer {
	readonly #server: Server;

	constructor(answers: StatusAnswers) {
		this.#server = createServer({ requestTimeout: REQUEST_MS_MAX }, (request, response) => {
			const [path = "/"] = (request.url ?? "/").split("?");
			const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
			const answered = Promise.resolve(answer?.() ?? { status: 404, headers: {}, body: "404 page not found\n" });
			answered.then(
				({ status, headers, body }) => response.writeHead(status, headers).end(body),
				() => response.writeHead(500).end(),
			);
		});
		this.#server.maxConnections = CONNECTIONS_MAX;
	}

	/** @returns The port. Rejects with the system's error. */
	listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
		return new Promise((resolve, reject) => {
			this.#server.once("error", reject);
			this.#server.listen({ host, port }, () => {
				this.#server.off("error", reject);
				resolve((this.#server.address() as AddressInfo).port);
			});
		});
	}

	close(): void {
		this.#server.close();
		this.#server.closeAllConnections();
	}
}
