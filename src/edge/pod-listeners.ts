/**
 * Real listeners for pods, for programs that know nothing of a gateway: pod 10.244.a.b answers at 127.244.a.b, on the
 * ports that its containers name.
 *
 *     curl http://127.244.1.7:8080/hostname
 */
import type { Duplex } from "node:stream";
import type { Logger } from "../kernel/logger.ts";
import type { DatagramListeners } from "../proxy/datagrams.ts";
import type { Accepted, Dialer, ListenAddress, Listener, Listeners, OpenResult } from "../proxy/ports.ts";
import { addressText } from "../proxy/ports.ts";
import type { EchoPod } from "./echo-pod.ts";
import { reset, splice } from "./splice.ts";
import type { AnswerDatagram } from "./udp-listeners.ts";

export interface PodListenersPorts {
	readonly listeners: Listeners<Duplex>;
	readonly datagrams: DatagramListeners;
	readonly dialer: Dialer<Duplex>;
	readonly answerDatagram: AnswerDatagram;
	readonly log: Logger;
}

/** Listeners at once; pods beyond are reached by the gateway only. */
const LISTENERS_MAX = 4096;

export class PodListeners {
	readonly #ports: PodListenersPorts;
	/** By key of the pod. */
	readonly #pods = new Map<string, ListeningPod>();
	#count = 0;

	constructor(ports: PodListenersPorts) {
		this.#ports = ports;
	}

	/** A pod with another uid or other addresses is another one. Settles when it listens. */
	async put({ key, uid, ips, ports }: EchoPod): Promise<void> {
		const places = ips.flatMap((ip) => loopbackOf(ip).map((host) => ({ ip, host })));
		const id = [uid, ...places.map(({ host }) => host)].join();
		if (this.#pods.get(key)?.id === id) return;
		this.remove(key);
		const pod: ListeningPod = { id, key, listeners: [], isGone: false };
		this.#pods.set(key, pod);
		const wanted = places.flatMap((place) => ports.map((port) => ({ ...place, ...port })));
		await Promise.all(wanted.map((each) => this.#open(pod, each)));
	}

	/** Frees its addresses at once; what was accepted ends with the pod. */
	remove(key: string): void {
		const pod = this.#pods.get(key);
		if (pod === undefined) return;
		pod.isGone = true;
		for (const listener of pod.listeners) listener.close();
		this.#count -= pod.listeners.length;
		this.#pods.delete(key);
	}

	stop(): void {
		for (const key of [...this.#pods.keys()]) this.remove(key);
	}

	async #open(pod: ListeningPod, { ip, ...address }: ListenAddress & { readonly ip: string }): Promise<void> {
		const told = { pod: pod.key, address: addressText(address) };
		if (this.#count >= LISTENERS_MAX) {
			this.#ports.log.warn("Pod does not listen", { ...told, why: `want at most ${LISTENERS_MAX} listeners` });
			return;
		}
		this.#count++;
		const result = await (address.protocol === "UDP" ? this.#openUdp(ip, address) : this.#openTcp(ip, address));
		if (result.kind === "open" && !pod.isGone) {
			pod.listeners.push(result.listener);
			return;
		}
		this.#count--;
		if (result.kind === "open") result.listener.close();
		else this.#ports.log.warn("Pod does not listen", { ...told, why: result.message });
	}

	#openTcp(ip: string, address: ListenAddress): Promise<OpenResult> {
		return this.#ports.listeners.open(address, (client) => void this.#carry(client, ip, address.port));
	}

	#openUdp(ip: string, address: ListenAddress): Promise<OpenResult> {
		return this.#ports.datagrams.openDatagrams(address, (from, bytes, listener) => {
			const answer = this.#ports.answerDatagram(ip, address.port, bytes);
			if (answer !== undefined) listener.send(from, answer);
		});
	}

	async #carry({ stream }: Accepted<Duplex>, ip: string, port: number): Promise<void> {
		const gone = new AbortController();
		stream.once("close", () => gone.abort());
		const result = await this.#ports.dialer.dial({ ip, port }, gone.signal);
		if (result.kind === "connected") splice(stream, result.stream, () => undefined);
		else reset(stream);
	}
}

interface ListeningPod {
	/** Changes with its uid and addresses. */
	readonly id: string;
	readonly key: string;
	readonly listeners: Listener[];
	isGone: boolean;
}

/** 10.244.1.7 is 127.244.1.7; nothing stands for other addresses, as those of nodes and IPv6. */
function loopbackOf(ip: string): readonly string[] {
	const [, rest] = /^10\.(\d+\.\d+\.\d+)$/.exec(ip) ?? [];
	return rest === undefined ? [] : [`127.${rest}`];
}
