/** A machine whose ports open when the test lets them, and endpoints that answer when the test says so. */
import type { HealthAnswer } from "../plan/service-map/health-check.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
import type { DatagramDialer, DatagramFlow, DatagramListeners, Peer } from "../proxy/datagrams.ts";
import {
	type Accepted,
	addressText,
	type Dialer,
	type DialResult,
	type HealthChecks,
	type ListenAddress,
	type Listeners,
	type OpenResult,
	type Streams,
} from "../proxy/ports.ts";

/** Streams are names: clients `c1`, `c2` and on, endpoints by address and port. */
export class FakeNetwork
	implements Listeners<string>, Dialer<string>, Streams<string>, HealthChecks<string>, DatagramListeners, DatagramDialer
{
	/** What happened, in order: `open 127.0.0.1:1/TCP`, `dial 10.0.0.1:80`, `splice c1 10.0.0.1:80`, `reset c1`. */
	readonly told: string[] = [];
	/** Addresses that another program holds. */
	readonly taken: Set<string> = new Set();
	/** Endpoints that refuse. */
	readonly refusing: Set<string> = new Set();
	/** Endpoints that never answer. */
	readonly silent: Set<string> = new Set();
	readonly #listeners = new Map<string, (client: Accepted<string>) => void>();
	readonly #datagrams = new Map<string, (from: Peer, bytes: Uint8Array) => void>();
	readonly #ended = new Map<string, () => void>();
	#clients = 0;

	/** Connects a new client and returns its name; undefined when nobody listens. */
	connect(address: string): string | undefined {
		const accept = this.#listeners.get(address);
		if (accept === undefined) return undefined;
		const stream = `c${++this.#clients}`;
		accept({ stream, ip: "127.0.0.1" });
		return stream;
	}

	/** Both sides of the client's connection are closed. */
	end(client: string): void {
		this.#ended.get(client)?.();
	}

	get listening(): readonly string[] {
		return [...this.#listeners.keys()];
	}

	async open(address: ListenAddress, onConnection: (client: Accepted<string>) => void): Promise<OpenResult> {
		const text = addressText(address);
		await Promise.resolve();
		if (this.taken.has(text) || this.#listeners.has(text)) {
			this.told.push(`taken ${text}`);
			return { kind: "failed", problem: "address-in-use", message: "EADDRINUSE" };
		}
		this.told.push(`open ${text}`);
		this.#listeners.set(text, onConnection);
		return {
			kind: "open",
			listener: {
				port: address.port,
				close: () => {
					this.told.push(`close ${text}`);
					this.#listeners.delete(text);
				},
			},
		};
	}

	openDatagrams(
		address: ListenAddress,
		received: Parameters<DatagramListeners["openDatagrams"]>[1],
	): Promise<OpenResult> {
		const listener = {
			send: ({ ip, port }: Peer, bytes: Uint8Array) => this.told.push(`${ip}:${port} gets ${bytes.join()}`),
		};
		this.#datagrams.set(addressText(address), (from, bytes) => received(from, bytes, listener));
		return this.open(address, () => undefined);
	}

	openFlow(target: Target, { answered }: { answered(bytes: Uint8Array): void }): DatagramFlow {
		const text = endpointText(target);
		this.told.push(`flow ${text}`);
		return { send: (bytes) => answered(bytes), close: () => this.told.push(`close ${text}`) };
	}

	/** A client sends a datagram to an address that is listened on. */
	sendDatagram(address: string, from: Peer, bytes: Uint8Array): void {
		this.#datagrams.get(address)?.(from, bytes);
	}

	dial(target: Target, signal: AbortSignal): Promise<DialResult<string>> {
		const stream = endpointText(target);
		this.told.push(`dial ${stream}`);
		if (this.refusing.has(stream)) return Promise.resolve({ kind: "failed", message: "ECONNREFUSED" });
		if (!this.silent.has(stream)) return Promise.resolve({ kind: "connected", stream });
		return new Promise((resolve) =>
			signal.addEventListener("abort", () => resolve({ kind: "failed", message: "timeout" }), { once: true }),
		);
	}

	/** A stream that is named by what it answers. */
	connectTo(answer: () => HealthAnswer): string {
		return `health ${answer().status}`;
	}

	serve(stream: string, answer: () => HealthAnswer): void {
		this.told.push(`health ${answer().status} for ${stream}`);
	}

	splice(client: string, upstream: string, ended: () => void): void {
		this.told.push(`splice ${client} ${upstream}`);
		this.#ended.set(client, ended);
	}

	reset(stream: string): void {
		this.told.push(`reset ${stream}`);
	}
}
