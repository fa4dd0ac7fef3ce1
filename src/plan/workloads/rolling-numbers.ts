/** The arithmetic of a rolling update. */
import type { Deployment } from "../../api/types/apps.ts";
import type { IntOrString } from "../../api/types/meta.ts";

export interface RollingNumbers {
	readonly replicas: number;
	/** Pods that may be there beside `replicas`; percentages round up. */
	readonly maxSurge: number;
	/** Pods of `replicas` that may be missing; percentages round down. */
	readonly maxUnavailable: number;
}

/** Recreate has no such numbers: it counts as available only when every Pod is. */
export function rollingNumbers({ spec }: Deployment): RollingNumbers {
	const replicas = spec.replicas ?? 1;
	if (spec.strategy?.type === "Recreate") return { replicas, maxSurge: 0, maxUnavailable: 0 };
	const { maxSurge = "25%", maxUnavailable = "25%" } = spec.strategy?.rollingUpdate ?? {};
	const surge = absolute(maxSurge, replicas, Math.ceil);
	const unavailable = absolute(maxUnavailable, replicas, Math.floor);
	// Both 0 would never move.
	const moving = surge === 0 && unavailable === 0 ? 1 : unavailable;
	return { replicas, maxSurge: surge, maxUnavailable: Math.min(moving, replicas) };
}

function absolute(value: IntOrString, replicas: number, round: (x: number) => number): number {
	if (typeof value === "number") return value;
	return round((Number.parseInt(value, 10) * replicas) / 100);
}
