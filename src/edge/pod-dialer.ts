/** Reaches endpoints: pod addresses in memory, everything else over the machine's own network. */
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { type CIDR, contains, parseIP } from "../api/ip.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import type { Dialer, DialResult } from "../proxy/ports.ts";
import type { EchoPod } from "./echo-pod.ts";
import { KEEP_ALIVE_MS } from "./splice.ts";

/** Pods as they are reached in memory. */
export interface ReachablePods {
	connect(ip: string, port: number): Duplex | undefined;
	at(ip: string, port: number): Pick<EchoPod, "forwards"> | undefined;
}

export class PodDialer implements Dialer<Duplex> {
	readonly #pods: ReachablePods;
	readonly #clusterRanges: readonly CIDR[];

	/** `clusterRanges`: addresses there exist in memory only, and are never looked for on a real network. */
	constructor(pods: ReachablePods, clusterRanges: readonly CIDR[]) {
		this.#pods = pods;
		this.#clusterRanges = clusterRanges;
	}

	dial({ ip, port }: Target, signal: AbortSignal): Promise<DialResult<Duplex>> {
		const forwards = this.#pods.at(ip, port)?.forwards;
		if (forwards !== undefined) return dialForward(ip, port, forwards[port], signal);
		const stream = this.#pods.connect(ip, port);
		if (stream !== undefined) return Promise.resolve({ kind: "connected", stream });
		if (!this.#isClusterIP(ip)) return dialTcp(ip, port, signal);
		return Promise.resolve({ kind: "failed", message: `connect ECONNREFUSED ${ip}:${port}: no pod has this address` });
	}

	#isClusterIP(text: string): boolean {
		const ip = parseIP(text);
		return ip !== undefined && this.#clusterRanges.some((range) => contains(range, ip));
	}
}

/** To the process that stands for the pod. */
async function dialForward(
	ip: string,
	port: number,
	localPort: number | undefined,
	signal: AbortSignal,
): Promise<DialResult<Duplex>> {
	if (localPort === undefined) {
		return { kind: "failed", message: `connect ECONNREFUSED ${ip}:${port}: no container of the pod has this port` };
	}
	return dialTcp("127.0.0.1", localPort, signal);
}

/** Over the machine's own network; names are looked up there, too. */
export function dialTcp(host: string, port: number, signal: AbortSignal): Promise<DialResult<Duplex>> {
	return new Promise((resolve) => {
		const socket = connect({
			host,
			port,
			allowHalfOpen: true,
			noDelay: true,
			keepAlive: true,
			keepAliveInitialDelay: KEEP_ALIVE_MS,
		});
		const settle = (result: DialResult<Duplex>): void => {
			signal.removeEventListener("abort", abort);
			socket.off("error", failed).off("connect", connected);
			resolve(result);
		};
		const connected = (): void => settle({ kind: "connected", stream: socket });
		const failed = (error: NodeJS.ErrnoException): void => {
			const isUnknownHost = error.code === "ENOTFOUND" || error.code === "EAI_AGAIN";
			settle({ kind: "failed", message: error.message, ...(isUnknownHost ? { isUnknownHost } : {}) });
		};
		const abort = (): void => {
			settle({ kind: "failed", message: `connect ETIMEDOUT ${host}:${port}` });
			socket.destroy();
		};
		socket.on("error", () => undefined);
		socket.once("error", failed).once("connect", connected);
		signal.addEventListener("abort", abort, { once: true });
	});
}
