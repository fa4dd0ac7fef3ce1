/** One API server, reached as a kubeconfig says. Knows nothing of the program that serves it. */
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import path from "node:path";
import { parse } from "yaml";

/** The current context: server, CA, and a token or a client certificate. */
export function accessOf(file) {
	const config = parse(readFileSync(file, "utf8"));
	const named = (list, name) => list?.find((entry) => entry.name === name);
	const context = named(config.contexts, config["current-context"])?.context;
	if (context === undefined) throw new Error(`${file}: want a current-context, which names an entry of contexts`);
	const cluster = named(config.clusters, context.cluster)?.cluster;
	const user = named(config.users, context.user)?.user ?? {};
	if (cluster?.server === undefined) throw new Error(`${file}: the cluster ${context.cluster} has no server`);
	const read = (entry, name) => {
		if (entry[`${name}-data`] !== undefined) return Buffer.from(entry[`${name}-data`], "base64");
		return entry[name] === undefined ? undefined : readFileSync(path.resolve(path.dirname(file), entry[name]));
	};
	const token = user.tokenFile === undefined ? user.token : readFileSync(user.tokenFile, "utf8").trim();
	return {
		url: new URL(cluster.server),
		ca: read(cluster, "certificate-authority"),
		cert: read(user, "client-certificate"),
		key: read(user, "client-key"),
		rejectUnauthorized: cluster["insecure-skip-tls-verify"] !== true,
		headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
	};
}

export class Server {
	#access;
	#agent;
	#protocol;

	constructor(kubeconfig) {
		this.#access = accessOf(kubeconfig);
		const { url, ca, cert, key, rejectUnauthorized } = this.#access;
		this.#protocol = url.protocol === "http:" ? http : https;
		this.#agent = new this.#protocol.Agent({ keepAlive: true, ca, cert, key, rejectUnauthorized });
	}

	/** Objects are sent as JSON, strings as they are; a request without a body has no Content-Type. */
	send({ method = "GET", path: target, headers = {}, body }) {
		const { url, headers: credentials } = this.#access;
		const type = body === undefined ? {} : { "content-type": "application/json" };
		const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
		const length = text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) };
		const options = {
			host: url.hostname,
			port: url.port,
			path: `${url.pathname.replace(/\/$/, "")}${target}`,
			method,
			agent: this.#agent,
			headers: { ...credentials, ...type, ...length, ...lowerCased(headers) },
		};
		return new Promise((resolve, reject) => {
			const sent = this.#protocol.request(options, (response) => {
				const chunks = [];
				response.on("data", (chunk) => chunks.push(chunk));
				response.on("error", reject);
				response.on("end", () => {
					const answer = Buffer.concat(chunks).toString("utf8");
					resolve({ status: response.statusCode, headers: response.headers, text: answer });
				});
			});
			sent.on("error", reject);
			sent.end(text);
		});
	}

	close() {
		this.#agent.destroy();
	}
}

function lowerCased(headers) {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
