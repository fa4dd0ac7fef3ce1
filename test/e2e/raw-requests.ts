/** Requests as a program sends them that does not know the rules. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { RunningPlane } from "./plane.ts";

export interface RawAnswer {
	readonly status: number;
	readonly body: { readonly reason?: string; readonly message?: string; readonly [key: string]: unknown };
}

export interface RawRequest {
	readonly method?: string;
	readonly path: string;
	readonly body?: string | Buffer;
	readonly contentType?: string;
}

interface Credentials {
	readonly ca: Buffer;
	readonly token: string;
}

export function credentialsOf(plane: RunningPlane): Credentials {
	const config = JSON.parse(readFileSync(plane.kubeconfig, "utf8"));
	const ca = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64");
	return { ca, token: config.users[0].user.token };
}

/** Sends one request on a connection of its own. Rejects when the connection breaks before an answer. */
export function send(plane: RunningPlane, { method = "GET", path, body, contentType }: RawRequest): Promise<RawAnswer> {
	const { ca, token } = credentialsOf(plane);
	const type = contentType === undefined ? {} : { "content-type": contentType };
	const headers = { authorization: `Bearer ${token}`, ...type };
	// Not as one URL: its parser would mend the path that is to be sent as it is.
	const { hostname: host, port } = new URL(plane.url);
	return new Promise((resolve, reject) => {
		const sent = request({ host, port, path, method, ca, headers, agent: false }, (response) => {
			const chunks: Buffer[] = [];
			response.on("data", (chunk) => chunks.push(chunk));
			response.on("end", () => {
				const text = Buffer.concat(chunks).toString("utf8");
				resolve({
					status: response.statusCode ?? 0,
					body: text.startsWith("{") ? JSON.parse(text) : { message: text },
				});
			});
		});
		sent.on("error", reject);
		sent.end(body);
	});
}
