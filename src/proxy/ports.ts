/** What the proxy needs of the machine it runs on. `S` is a stream of bytes both ways; only the edge looks inside. */
import type { Protocol } from "../api/types/meta.ts";
import type { HealthAnswer } from "../plan/service-map/health-check.ts";
import type { Target } from "../plan/service-map/service-table.ts";

export interface ListenAddress {
	readonly host: string;
	readonly port: number;
	readonly protocol: Protocol;
}

/** `127.0.0.1:30080/TCP` */
export function addressText({ host, port, protocol }: ListenAddress): string {
	return `${host.includes(":") ? `[${host}]` : host}:${port}/${protocol}`;
}

export type ListenProblem = "address-in-use" | "address-not-available" | "permission-denied" | "other";

export type OpenResult =
	| { readonly kind: "open"; readonly listener: Listener }
	| { readonly kind: "failed"; readonly problem: ListenProblem; readonly message: string };

export interface Listener {
	/** That was taken, when any free one was asked for. */
	readonly port: number;
	/** Takes no more connections and frees the address at once. Connections that were accepted live on. */
	close(): void;
}

/** A client that was accepted; nothing has been read from it. */
export interface Accepted<S> {
	readonly stream: S;
	/** The client's address; undefined when it is gone already. */
	readonly ip: string | undefined;
}

export interface Listeners<S> {
	open(address: ListenAddress, onConnection: (client: Accepted<S>) => void): Promise<OpenResult>;
}

export type DialResult<S> =
	| { readonly kind: "connected"; readonly stream: S }
	/** `isUnknownHost`: its name stands for no address. */
	| { readonly kind: "failed"; readonly message: string; readonly isUnknownHost?: true };

export interface Dialer<S> {
	/** Gives up when `signal` aborts, with `failed`. Never rejects. */
	dial(target: Target, signal: AbortSignal): Promise<DialResult<S>>;
}

/** Answers HTTP itself: what health checks ask. */
export interface HealthChecks<S> {
	/** The client's end of a new connection. */
	connectTo(answer: () => HealthAnswer): S;
	/** Takes over a client that was accepted. `answer` is asked anew for each request. */
	serve(stream: S, answer: () => HealthAnswer): void;
}

export interface Streams<S> {
	/**
	 * Joins two streams: bytes both ways under backpressure, the end of one side as the end of the other,
	 * a failure of one side as a reset of the other. `ended` is called once, when both are closed.
	 */
	splice(client: S, upstream: S, ended: () => void): void;
	/** Breaks the connection so that the peer takes it for a failure, not for an end. */
	reset(stream: S): void;
}
