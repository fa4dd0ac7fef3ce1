/**
 * One address that the proxy listens on, for as long as there is a target behind it: without one the
 * listener is closed, so that clients are refused at once instead of waiting for an answer. A health check
 * always has somebody who answers.
 */
import type { Clock } from "../kernel/clock.ts";
import type { ListenAddress, Listener, ListenProblem, OpenResult } from "./ports.ts";

/** `service-port`: a load balancer's own port, which is a convenience beside the node port. */
export type FrontUse = "node-port" | "service-port" | "health-check";

/** The port of a Service that an address belongs to. */
export interface FrontOwner {
	readonly use: FrontUse;
	/** `namespace/name` of the Service. */
	readonly serviceKey: string;
	readonly portName: string;
}

export interface FrontPorts {
	readonly clock: Clock;
	/** Takes the address. */
	open(): Promise<OpenResult>;
	/** The address could not be taken; told when the trouble begins, and when it becomes another. */
	failed(failure: ListenFailure): void;
	/** Listeners open, more or less than before. */
	counted(by: 1 | -1): void;
}

export interface ListenFailure extends FrontOwner {
	readonly address: ListenAddress;
	readonly problem: ListenProblem;
	readonly message: string;
}

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;

interface Claim {
	readonly owner: FrontOwner;
	/** Whether there is a target behind the address. */
	readonly isServed: boolean;
}

export class Front {
	readonly #address: ListenAddress;
	readonly #ports: FrontPorts;
	/** By Service, the oldest first: it has the address. Two claim it only while an address changes hands. */
	readonly #claims = new Map<string, Claim>();
	#listener: Listener | undefined;
	#opening: Promise<void> | undefined;
	#retry: AbortController | undefined;
	#failures = 0;
	#told: ListenProblem | undefined;

	constructor(address: ListenAddress, ports: FrontPorts) {
		this.#address = address;
		this.#ports = ports;
	}

	/** Whether no Service wants the address any more. */
	get isUnclaimed(): boolean {
		return this.#claims.size === 0;
	}

	/** Resolves when the listener is as the targets want it, or waits for its next try. */
	async settled(): Promise<void> {
		while (this.#opening !== undefined) await this.#opening;
	}

	claim(owner: FrontOwner, isServed: boolean): void {
		this.#claims.set(owner.serviceKey, { owner, isServed });
		this.#reconcile();
	}

	release(serviceKey: string): void {
		this.#claims.delete(serviceKey);
		this.#reconcile();
	}

	/** The claim that clients are served by; undefined when they are to be refused. */
	#served(): Claim | undefined {
		for (const claim of this.#claims.values()) return claim.isServed ? claim : undefined;
		return undefined;
	}

	#reconcile(): void {
		const isWanted = this.#served() !== undefined;
		if (!isWanted) this.#close();
		else if (this.#listener === undefined && this.#opening === undefined && this.#retry === undefined) this.#start();
	}

	#start(): void {
		this.#opening = this.#open().finally(() => {
			this.#opening = undefined;
			this.#reconcile();
		});
	}

	async #open(): Promise<void> {
		const result = await this.#ports.open();
		if (result.kind === "failed") return this.#failed(result.problem, result.message);
		this.#failures = 0;
		this.#told = undefined;
		this.#listener = result.listener;
		this.#ports.counted(1);
	}

	#close(): void {
		this.#retry?.abort();
		this.#retry = undefined;
		this.#failures = 0;
		this.#told = undefined;
		if (this.#listener === undefined) return;
		this.#listener.close();
		this.#listener = undefined;
		this.#ports.counted(-1);
	}

	#failed(problem: ListenProblem, message: string): void {
		const claim = this.#served();
		if (claim === undefined) return;
		if (this.#told !== problem) this.#ports.failed({ ...claim.owner, address: this.#address, problem, message });
		this.#told = problem;
		const delayMs = Math.min(RETRY_MS_MIN * 2 ** this.#failures++, RETRY_MS_MAX);
		const retry = new AbortController();
		this.#retry = retry;
		void this.#ports.clock.sleep(delayMs, retry.signal).then(
			() => {
				if (this.#retry === retry) this.#retry = undefined;
				this.#reconcile();
			},
			() => undefined,
		);
	}
}
