/**
 * Real listeners for pods, for programs that know nothing of a gateway: pod 10.244.a.b answers at 127.244.a.b, on the
 * ports that its containers name; or, in a network namespace of its node, at its own address.
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
	/** Where the pod with this address listens. */
	readonly hostsOf: (ip: string) => readonly string[];
	/** How long a pod listens after it has terminated: rules may send clients to it until then. Default: not at all. */
	readonly lingerMs?: number;
}

/** Listeners at once; pods beyond are reached by the gateway only. */
const LISTENERS_MAX = 4096;

export class PodListeners {
	readonly #ports: PodListenersPorts;
	/** By key of the pod. */
	readonly #pods = new Map<string, ListeningPod>();
	/** Terminated, and still listening for a moment. */
	readonly #lingering = new Set<ListeningPod>();
	#count = 0;

	constructor(ports: PodListenersPorts) {
		this.#ports = ports;
	}

	/** A pod with another uid or other addresses is another one; ports may be added to it. Settles when it listens. */
	async put({ key, uid, ips, ports, isTerminating }: EchoPod): Promise<void> {
		const places = ips.flatMap((ip) => this.#ports.hostsOf(ip).map((host) => ({ ip, host })));
		const id = [uid, ...places.map(({ host }) => host)].join();
		if (this.#pods.get(key)?.id !== id) this.remove(key);
		const pod = this.#pods.get(key) ?? { id, key, listeners: new Map(), isGone: false, isTerminating };
		pod.isTerminating = isTerminating;
		this.#pods.set(key, pod);
		const wanted = places.flatMap((place) => ports.map((port) => ({ ...place, ...port })));
		await Promise.all(
			wanted.filter((each) => !pod.listeners.has(addressText(each))).map((each) => this.#open(pod, each)),
		);
	}

	/** Frees its addresses; what was accepted ends with the pod. */
	remove(key: string): void {
		const pod = this.#pods.get(key);
		if (pod === undefined) return;
		this.#pods.delete(key);
		const { lingerMs = 0 } = this.#ports;
		if (!pod.isTerminating || lingerMs === 0) {
			this.#close(pod);
			return;
		}
		this.#lingering.add(pod);
		setTimeout(() => this.#close(pod), lingerMs).unref();
	}

	#close(pod: ListeningPod): void {
		pod.isGone = true;
		this.#lingering.delete(pod);
		for (const listener of pod.listeners.values()) listener?.close();
		this.#count -= pod.listeners.size;
		pod.listeners.clear();
	}

	/** Who has the address now needs it more. */
	#evict(text: string): void {
		for (const pod of this.#lingering) if (pod.listeners.has(text)) this.#close(pod);
	}

	stop(): void {
		for (const pod of [...this.#pods.values(), ...this.#lingering]) this.#close(pod);
		this.#pods.clear();
	}

	async #open(pod: ListeningPod, { ip, ...address }: ListenAddress & { readonly ip: string }): Promise<void> {
		const told = { pod: pod.key, address: addressText(address) };
		if (this.#count >= LISTENERS_MAX) {
			this.#ports.log.warn("Pod does not listen", { ...told, why: `want at most ${LISTENERS_MAX} listeners` });
			return;
		}
		this.#count++;
		const text = addressText(address);
		this.#evict(text);
		pod.listeners.set(text, undefined);
		const result = await (address.protocol === "UDP" ? this.#openUdp(ip, address) : this.#openTcp(ip, address));
		if (result.kind === "open" && !pod.isGone) {
			pod.listeners.set(text, result.listener);
			return;
		}
		if (pod.listeners.delete(text)) this.#count--;
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
	/** By address; undefined while it is being opened. */
	readonly listeners: Map<string, Listener | undefined>;
	isGone: boolean;
	isTerminating: boolean;
}

/** 10.244.1.7 is 127.244.1.7; nothing stands for other addresses, as those of nodes and IPv6. */
export function loopbackOf(ip: string): readonly string[] {
	const [, rest] = /^10\.(\d+\.\d+\.\d+)$/.exec(ip) ?? [];
	return rest === undefined ? [] : [`127.${rest}`];
}
