/**
 * Pods that answer without a process and without a listener: HTTP by one shared server, and any other
 * bytes come back as they went. Every port of a pod answers.
 */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { StringMap } from "../api/types/meta.ts";
import { type EchoPorts, echoHttpServer, type Served } from "./echo-http.ts";
import { memoryPair } from "./memory-pair.ts";

export interface EchoPod {
	/** `namespace/name`. */
	readonly key: string;
	/** Another pod of the same name has another one. */
	readonly uid: string;
	readonly name: string;
	readonly namespace: string;
	readonly nodeName: string;
	readonly ips: readonly string[];
	readonly labels: StringMap;
	readonly isReady: boolean;
}

/** Every way a request can begin; a connection that begins otherwise is no HTTP. */
const METHODS = ["GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "PATCH ", "OPTIONS ", "TRACE ", "CONNECT "];
const METHOD_LENGTH_MAX = 8;

export class EchoPods {
	readonly #pods = new Map<string, EchoPod>();
	/** Pods of one node's network share its address: the one that came last answers. */
	readonly #byIP = new Map<string, readonly EchoPod[]>();
	readonly #connections = new Map<string, Set<Duplex>>();
	readonly #served = new WeakMap<object, Served>();
	readonly #http: Server;

	constructor(ports: EchoPorts) {
		this.#http = echoHttpServer(ports, (connection) => this.#served.get(connection));
	}

	/** A pod with a new uid is another one: connections to the old one end. */
	put(pod: EchoPod): void {
		const known = this.#pods.get(pod.key);
		if (known !== undefined && known.uid !== pod.uid) this.remove(pod.key);
		else if (known !== undefined) this.#withdraw(known);
		this.#pods.set(pod.key, pod);
		for (const ip of pod.ips) this.#byIP.set(ip, [...(this.#byIP.get(ip) ?? []), pod]);
	}

	/** Its connections end, as those of a process do that ends. */
	remove(key: string): void {
		const pod = this.#pods.get(key);
		if (pod === undefined) return;
		this.#pods.delete(key);
		this.#withdraw(pod);
		for (const connection of this.#connections.get(pod.uid) ?? []) connection.destroy();
	}

	/** The client's end of a new connection; undefined when no pod has the address. */
	connect(ip: string, port: number): Duplex | undefined {
		const pod = this.#byIP.get(ip)?.at(-1);
		if (pod === undefined) return undefined;
		const [client, end] = memoryPair();
		this.#track(pod.uid, end);
		this.#served.set(end, { pod, ip, port });
		end.on("error", () => undefined);
		this.#serve(end);
		return client;
	}

	/** Every port of a pod sends datagrams back as they came; undefined when no pod has the address. */
	answerDatagram(ip: string, bytes: Uint8Array): Uint8Array | undefined {
		return this.#byIP.has(ip) ? bytes : undefined;
	}

	#withdraw(pod: EchoPod): void {
		for (const ip of pod.ips) {
			const left = (this.#byIP.get(ip) ?? []).filter(({ key }) => key !== pod.key);
			if (left.length === 0) this.#byIP.delete(ip);
			else this.#byIP.set(ip, left);
		}
	}

	#track(uid: string, end: Duplex): void {
		const open = this.#connections.get(uid) ?? new Set<Duplex>();
		this.#connections.set(uid, open.add(end));
		end.once("close", () => {
			open.delete(end);
			if (open.size === 0 && this.#connections.get(uid) === open) this.#connections.delete(uid);
		});
	}

	/** Looks at the first bytes, puts them back, and hands the connection to whom it belongs. */
	#serve(end: Duplex): void {
		let seen = "";
		const ended = (): void => void end.end(seen, "latin1");
		const read = (chunk: Buffer): void => {
			seen += chunk.toString("latin1");
			const start = seen.slice(0, METHOD_LENGTH_MAX);
			const isHttp = METHODS.some((method) => start.startsWith(method));
			if (!isHttp && METHODS.some((method) => method.startsWith(start))) return;
			end.off("data", read).off("end", ended).pause();
			end.unshift(Buffer.from(seen, "latin1"));
			if (isHttp) this.#http.emit("connection", end);
			else end.pipe(end);
			process.nextTick(() => end.resume());
		};
		end.on("data", read).on("end", ended);
	}
}
