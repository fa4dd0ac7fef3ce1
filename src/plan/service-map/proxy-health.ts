/**
 * Whether a proxy keeps up: what `/healthz` and `/livez` say.
 *
 * `/healthz` is for load balancers, and says no, too, when the node is about to go; `/livez` is for whoever restarts
 * the proxy, which would help nobody then.
 *
 * @see KEP-3836
 */
import type { Node } from "../../api/types/core.ts";
import type { HealthAnswer } from "./health-check.ts";

export interface ProxyState {
	/** Monotonic milliseconds of the last run that ended well; undefined before the first. */
	readonly lastSyncedMs: number | undefined;
	/** Since when a change waits; undefined when none does. */
	readonly pendingSinceMs: number | undefined;
	readonly nowMs: number;
	/** Wall time of `nowMs`, milliseconds. */
	readonly wallMs: number;
	/** A change that waits longer is a proxy that hangs. */
	readonly timeoutMs: number;
}

/** The autoscaler's word for a node that it is about to take away. */
const TO_BE_DELETED_TAINT = "ToBeDeletedByClusterAutoscaler";

/** Load balancers should send nothing new to a node that is on its way out, or that nobody knows. */
export function isNodeEligible(node: Node | undefined): boolean {
	if (node === undefined || node.metadata.deletionTimestamp !== undefined) return false;
	return !(node.spec?.taints ?? []).some(({ key }) => key === TO_BE_DELETED_TAINT);
}

/** @param isEligible Of `/healthz`; absent for `/livez`. */
export function proxyHealth(state: ProxyState, isEligible?: boolean): HealthAnswer {
	const { lastSyncedMs, pendingSinceMs, nowMs, wallMs, timeoutMs } = state;
	const isHealthy = pendingSinceMs === undefined || nowMs - pendingSinceMs <= timeoutMs;
	const currentTime = new Date(wallMs).toISOString();
	const sinceMs = nowMs - (lastSyncedMs ?? nowMs);
	const lastUpdated = isHealthy ? currentTime : new Date(wallMs - sinceMs).toISOString();
	const body = {
		lastUpdated,
		currentTime,
		...(isEligible === undefined ? {} : { nodeEligible: isEligible }),
		healthy: isHealthy && isEligible !== false,
	};
	return {
		status: isHealthy && isEligible !== false ? 200 : 503,
		headers: { "content-type": "application/json", "x-content-type-options": "nosniff" },
		body: JSON.stringify(body),
	};
}
