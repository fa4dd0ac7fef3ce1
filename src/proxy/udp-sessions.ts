/**
 * Carries datagrams: each client, by address and port, has a flow to one endpoint for as long as it keeps sending.
 *
 * A flow to an endpoint that is gone is closed at once: the client would never notice, for it makes no connection anew.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Gauge, Metrics } from "../kernel/metrics.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import type { DatagramDialer, DatagramFlow, DatagramListener, Peer } from "./datagrams.ts";
import type { Attempt } from "./node-proxy.ts";

export interface UdpSessionsPorts {
	readonly dialer: DatagramDialer;
	readonly clock: Clock;
	readonly metrics: Metrics;
	/** Picks an endpoint for a client that has none. */
	attempt(client: Peer): Attempt;
	/** Whether the endpoint still serves, terminating or not. */
	serves(target: Target): boolean;
}

/** Linux forgets a flow after 30 s without an answer, after 120 s with one. */
const UNANSWERED_MS = 30_000;
const ANSWERED_MS = 120_000;
const SWEEP_EVERY_MS = 10_000;
/** Flows of one address; more close the one that was silent longest. Spoofed senders cost no more than these. */
const SESSIONS_MAX = 65_536;

interface Session {
	readonly target: Target;
	readonly flow: DatagramFlow;
	usedMs: number;
	isAnswered: boolean;
}

export class UdpSessions {
	readonly #ports: UdpSessionsPorts;
	/** By client; the one that was silent longest first. */
	readonly #sessions = new Map<string, Session>();
	readonly #open: Gauge;
	#sweeping: AbortController | undefined;

	constructor(ports: UdpSessionsPorts) {
		this.#ports = ports;
		this.#open = ports.metrics.gauge({
			name: "sliceplane_proxy_udp_sessions",
			help: "Clients with a flow of datagrams.",
		});
	}

	get size(): number {
		return this.#sessions.size;
	}

	/** A datagram that nobody can take is lost, as datagrams may be. */
	receive(from: Peer, bytes: Uint8Array, listener: DatagramListener): void {
		const key = `${from.ip} ${from.port}`;
		const session = this.#sessions.get(key) ?? this.#begin(key, from, listener);
		if (session === undefined) return;
		this.#touch(key, session);
		session.flow.send(bytes);
	}

	/** Closes flows whose endpoint serves no more. */
	review(): void {
		for (const [key, { target }] of this.#sessions) if (!this.#ports.serves(target)) this.#end(key);
	}

	close(): void {
		for (const key of [...this.#sessions.keys()]) this.#end(key);
	}

	#begin(key: string, from: Peer, listener: DatagramListener): Session | undefined {
		const attempt = this.#ports.attempt(from);
		const target = attempt.take(new Set());
		if (target === undefined) return undefined;
		const flow = this.#ports.dialer.openFlow(target, {
			answered: (bytes) => {
				this.#answered(key);
				listener.send(from, bytes);
			},
			refused: () => {
				attempt.failed();
				this.#end(key);
			},
		});
		attempt.connected(target);
		const session = { target, flow, usedMs: 0, isAnswered: false };
		this.#sessions.set(key, session);
		const [silent] = this.#sessions.keys();
		if (this.#sessions.size > SESSIONS_MAX && silent !== undefined) this.#end(silent);
		this.#open.set(this.#sessions.size);
		this.#sweep();
		return session;
	}

	#answered(key: string): void {
		const session = this.#sessions.get(key);
		if (session === undefined) return;
		session.isAnswered = true;
		this.#touch(key, session);
	}

	#touch(key: string, session: Session): void {
		session.usedMs = this.#ports.clock.monotonicMs();
		this.#sessions.delete(key);
		this.#sessions.set(key, session);
	}

	#end(key: string): void {
		const session = this.#sessions.get(key);
		if (session === undefined) return;
		this.#sessions.delete(key);
		session.flow.close();
		this.#open.set(this.#sessions.size);
		if (this.#sessions.size > 0) return;
		this.#sweeping?.abort();
		this.#sweeping = undefined;
	}

	/** One sleeper while there are flows; none while there are not. */
	#sweep(): void {
		if (this.#sweeping !== undefined) return;
		const stop = new AbortController();
		this.#sweeping = stop;
		void this.#ports.clock.sleep(SWEEP_EVERY_MS, stop.signal).then(
			() => {
				this.#sweeping = undefined;
				this.#endIdle();
				if (this.#sessions.size > 0) this.#sweep();
			},
			() => undefined,
		);
	}

	#endIdle(): void {
		const nowMs = this.#ports.clock.monotonicMs();
		for (const [key, { usedMs, isAnswered }] of this.#sessions) {
			if (nowMs - usedMs >= (isAnswered ? ANSWERED_MS : UNANSWERED_MS)) this.#end(key);
		}
	}
}
