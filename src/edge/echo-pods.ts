/**
 * Pods that answer without a process and without a listener: HTTP and gRPC, and any other bytes come back as
 * they went. Every port of a pod answers.
 */
import type { Duplex } from "node:stream";
import type { Protocol } from "../api/types/meta.ts";
import { EchoHttp, type EchoPorts } from "./echo-http.ts";
import { serveEchoHttp2 } from "./echo-http2.ts";
import type { EchoPod, Served } from "./echo-pod.ts";
import { memoryPair } from "./memory-pair.ts";

/** A pod that is there, and everything that is open to it. */
interface LivePod {
	pod: EchoPod;
	readonly connections: Set<Duplex>;
	readonly followers: Set<() => void>;
}

/** Every way a request can begin; a connection that begins otherwise is no HTTP. */
const METHODS = ["GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "PATCH ", "OPTIONS ", "TRACE ", "CONNECT "];
/** How a client begins that knows that HTTP/2 is spoken. */
const HTTP2_PREFACE = "PRI * HT";
const STARTS = [...METHODS, HTTP2_PREFACE];
const START_LENGTH_MAX = 8;
/** From the end of a pod's processes by its status to the end of its answers. */
export const LINGER_MS = 500;

export class EchoPods {
	readonly #ports: EchoPorts;
	readonly #pods = new Map<string, LivePod>();
	/** Pods of one node's network share its address; in the order in which they came. */
	readonly #byIP = new Map<string, readonly LivePod[]>();
	readonly #http: EchoHttp;

	constructor(ports: EchoPorts) {
		this.#ports = ports;
		this.#http = new EchoHttp(ports);
	}

	/** A pod with a new uid is another one: connections to the old one end. One that terminates drains its own. */
	put(pod: EchoPod): void {
		const known = this.#pods.get(pod.key);
		if (known !== undefined && known.pod.uid !== pod.uid) this.remove(pod.key);
		const live = this.#pods.get(pod.key) ?? { pod, connections: new Set(), followers: new Set() };
		this.#withdraw(live, pod.ips);
		live.pod = pod;
		this.#pods.set(pod.key, live);
		for (const ip of pod.ips) {
			const there = this.#byIP.get(ip) ?? [];
			if (!there.includes(live)) this.#byIP.set(ip, [...there, live]);
		}
		for (const changed of [...live.followers]) changed();
	}

	/**
	 * Its connections end, as those of a process do that ends. One that terminated answers a little longer than its
	 * status says: its endpoint leaves the rules only after that status.
	 */
	remove(key: string): void {
		const live = this.#pods.get(key);
		if (live === undefined) return;
		this.#pods.delete(key);
		if (live.pod.isTerminating) setTimeout(() => this.#end(live), LINGER_MS).unref();
		else this.#end(live);
	}

	#end(live: LivePod): void {
		this.#withdraw(live, []);
		for (const connection of live.connections) connection.destroy();
	}

	/** The pod that has the address; of several, the one that has the port. */
	at(ip: string, port: number, protocol: Protocol = "TCP"): EchoPod | undefined {
		return this.#liveAt(ip, port, protocol)?.pod;
	}

	/** Of equals, the one that came last. */
	#liveAt(ip: string, port: number, protocol: Protocol): LivePod | undefined {
		let best: LivePod | undefined;
		let bestClaim = 0;
		for (const live of this.#byIP.get(ip) ?? []) {
			const claim = claimOf(live.pod, port, protocol);
			if (claim < bestClaim) continue;
			best = live;
			bestClaim = claim;
		}
		return best;
	}

	/** The client's end of a new connection; undefined when no pod has the address. */
	connect(ip: string, port: number): Duplex | undefined {
		const live = this.#liveAt(ip, port, "TCP");
		if (live === undefined) return undefined;
		const [client, end] = memoryPair();
		live.connections.add(end);
		end.once("close", () => live.connections.delete(end));
		end.on("error", () => undefined);
		this.#serve(end, servedOf(live, ip, port));
		return client;
	}

	/** Every port of a pod sends datagrams back as they came; undefined when no pod without a process has the address. */
	answerDatagram(ip: string, port: number, bytes: Uint8Array): Uint8Array | undefined {
		const pod = this.at(ip, port, "UDP");
		return pod === undefined || pod.forwards !== undefined ? undefined : bytes;
	}

	/** From the addresses that it does not keep. */
	#withdraw(live: LivePod, kept: readonly string[]): void {
		for (const ip of live.pod.ips) {
			if (kept.includes(ip)) continue;
			const left = (this.#byIP.get(ip) ?? []).filter((each) => each !== live);
			if (left.length === 0) this.#byIP.delete(ip);
			else this.#byIP.set(ip, left);
		}
	}

	/** Looks at the first bytes, puts them back, and hands the connection to whom it belongs. */
	#serve(end: Duplex, served: Served): void {
		let seen = "";
		const ended = (): void => void end.end(seen, "latin1");
		const read = (chunk: Buffer): void => {
			seen += chunk.toString("latin1");
			const first = seen.slice(0, START_LENGTH_MAX);
			const start = STARTS.find((each) => first.startsWith(each));
			if (start === undefined && STARTS.some((each) => each.startsWith(first))) return;
			end.off("data", read).off("end", ended).pause();
			end.unshift(Buffer.from(seen, "latin1"));
			if (start === undefined) end.pipe(end);
			else if (start === HTTP2_PREFACE) serveEchoHttp2(this.#ports, end, served);
			else this.#http.serve(end, served);
			process.nextTick(() => end.resume());
		};
		end.on("data", read).on("end", ended);
	}
}

/** How much the port is this pod's: named by a container, or one of an echo, whose every port answers, or nobody's. */
function claimOf({ ports, forwards }: EchoPod, port: number, protocol: Protocol): number {
	if (forwards !== undefined && protocol === "TCP") return forwards[port] === undefined ? 0 : 2;
	if (ports.some((each) => each.port === port && each.protocol === protocol)) return 2;
	return forwards === undefined ? 1 : 0;
}

function servedOf(live: LivePod, ip: string, port: number): Served {
	return {
		get pod(): EchoPod {
			return live.pod;
		},
		ip,
		port,
		follow(changed): () => void {
			live.followers.add(changed);
			return () => live.followers.delete(changed);
		},
	};
}
