/** A pod as the data plane knows it, and whom a connection was made to. */
import type { Protocol, StringMap } from "../api/types/meta.ts";

export interface EchoPod {
	/** `namespace/name`. */
	readonly key: string;
	/** Another pod of the same name has another one. */
	readonly uid: string;
	readonly name: string;
	readonly namespace: string;
	readonly nodeName: string;
	readonly ips: readonly string[];
	readonly labels: StringMap;
	/** That its containers name. */
	readonly ports: readonly PodPort[];
	readonly isReady: boolean;
	/** Deleted, and still running: it drains its connections. */
	readonly isTerminating: boolean;
	/** When it says that it is well; absent: while it is Ready. */
	readonly health?: HealthTimes;
	/** Ports that a process of this machine listens on, by the pod's own ports; absent: no process, all is echo. */
	readonly forwards?: Readonly<Record<number, number>>;
}

export interface PodPort {
	readonly port: number;
	readonly protocol: Protocol;
}

/** Wall milliseconds; undefined is never. */
export interface HealthTimes {
	readonly fromMs: number | undefined;
	readonly untilMs: number | undefined;
}

/** Whom a connection was made to. */
export interface Served {
	/** As it is now. */
	readonly pod: EchoPod;
	readonly ip: string;
	readonly port: number;
	/** Calls back when the pod has changed. Returns how to stop. */
	follow(changed: () => void): () => void;
}

export function isHealthy({ health, isReady }: EchoPod, nowMs: number): boolean {
	if (health === undefined) return isReady;
	const { fromMs, untilMs } = health;
	return fromMs !== undefined && nowMs >= fromMs && (untilMs === undefined || nowMs < untilMs);
}

/** How long until time alone changes its health; undefined when it does not. */
export function healthChangesInMs({ health }: EchoPod, nowMs: number): number | undefined {
	const ahead = [health?.fromMs, health?.untilMs].filter((time) => time !== undefined && time > nowMs);
	return ahead.length === 0 ? undefined : Math.min(...ahead.map(Number)) - nowMs;
}
