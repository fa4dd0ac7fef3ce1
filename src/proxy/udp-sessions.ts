/**
 * Carries datagrams: each client, by address and port, has a flow to one endpoint for as long as it keeps sending.
 *
 * A flow to an endpoint that is gone is closed at once: the client would never notice, for it makes no connection anew.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Gauge, Metrics } from "../kernel/metrics.ts";
import { BoundedMap } from "../machinery/bounded-map.ts";
import type { Target } from "../plan/service-map/service-table.ts";
import { endpointText } from "../plan/service-map/slice-endpoints.ts";
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
	/** Told of every new flow, and of clients that get none, when somebody wants to know. */
	decided?(client: Peer, attempt: Attempt, target: Target | undefined): void;
}

/** Linux forgets a flow after 30 s without an answer, after 120 s with one. */
const UNANSWERED_MS = 30_000;
const ANSWERED_MS = 120_000;
const SWEEP_EVERY_MS = 10_000;
/** Flows of one address; more close the one that was silent longest. Spoofed senders cost no more than these. */
const SESSIONS_MAX = 65_536;

/** Clients whose last outcome is remembered, so that one that repeats itself is told of once in a while. */
const TOLD_MAX = 4_096;

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
	/** By client: what was told of it, and when. */
	readonly #told = new BoundedMap<string, { readonly outcome: string; readonly atMs: number }>(TOLD_MAX);
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
		this.#tell(key, from, attempt, target);
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

	/** A client that is refused, or whose endpoint is, begins anew with each datagram: that is no news for a while. */
	#tell(key: string, client: Peer, attempt: Attempt, target: Target | undefined): void {
		const { clock, decided } = this.#ports;
		// Without a Service there was no decision: its listener is just being closed.
		if (decided === undefined || attempt.route.kind === "absent") return;
		const outcome = target === undefined ? attempt.route.kind : endpointText(target);
		const before = this.#told.get(key);
		const atMs = clock.monotonicMs();
		if (before?.outcome === outcome && atMs - before.atMs < UNANSWERED_MS) return;
		this.#told.set(key, { outcome, atMs });
		decided(client, attempt, target);
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
