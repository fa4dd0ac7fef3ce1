/** Health check node ports of a proxy whose traffic is in the kernel: one listener for each, at each node address. */
import { compareStrings } from "../kernel/order.ts";
import { healthAnswer, healthCheckPortOf } from "../plan/service-map/health-check.ts";
import type { ServiceTable } from "../plan/service-map/service-table.ts";
import { addressText, type HealthChecks, type ListenAddress, type Listener, type Listeners } from "./ports.ts";

export interface HealthCheckPortsOptions<S> {
	readonly listeners: Listeners<S>;
	readonly healthChecks: HealthChecks<S>;
	/** Where they are listened on. */
	readonly hosts: readonly string[];
	readonly tables: ReadonlyMap<string, ServiceTable>;
	readonly isProxyHealthy: () => boolean;
	/** The address could not be taken; told once, until it can be. */
	failed(serviceKey: string, address: ListenAddress, message: string): void;
}

interface Opened {
	readonly serviceKey: string;
	readonly listener: Listener | undefined;
}

export class HealthCheckPorts<S> {
	readonly #options: HealthCheckPortsOptions<S>;
	/** By address. Without a listener: it could not be taken. */
	readonly #opened = new Map<string, Opened>();

	constructor(options: HealthCheckPortsOptions<S>) {
		this.#options = options;
	}

	/** Opens and closes what changed, and tries again what failed. */
	async sync(): Promise<void> {
		const wanted = this.#wanted();
		for (const [text, { serviceKey, listener }] of this.#opened) {
			if (wanted.get(text)?.serviceKey === serviceKey) continue;
			listener?.close();
			this.#opened.delete(text);
		}
		for (const [text, { serviceKey, address }] of wanted) {
			if (this.#opened.get(text)?.listener === undefined) await this.#open(text, serviceKey, address);
		}
	}

	close(): void {
		for (const { listener } of this.#opened.values()) listener?.close();
		this.#opened.clear();
	}

	#wanted(): ReadonlyMap<string, { readonly serviceKey: string; readonly address: ListenAddress }> {
		const { tables, hosts } = this.#options;
		const sorted = [...tables.values()].sort((a, b) => compareStrings(a.key, b.key));
		return new Map(
			sorted.flatMap((table) => {
				const port = healthCheckPortOf(table);
				if (port === 0) return [];
				return hosts.map((host) => {
					const address: ListenAddress = { host, port, protocol: "TCP" };
					return [addressText(address), { serviceKey: table.key, address }] as const;
				});
			}),
		);
	}

	async #open(text: string, serviceKey: string, address: ListenAddress): Promise<void> {
		const { listeners, healthChecks, tables, isProxyHealthy, failed } = this.#options;
		const answer = () => healthAnswer(serviceKey, tables.get(serviceKey), isProxyHealthy());
		const result = await listeners.open(address, ({ stream }) => healthChecks.serve(stream, answer));
		if (result.kind === "failed" && !this.#opened.has(text)) failed(serviceKey, address, result.message);
		this.#opened.set(text, { serviceKey, listener: result.kind === "open" ? result.listener : undefined });
	}
}
