/** `coordination.k8s.io/v1`: heartbeats of nodes and locks of leaders. */
import type { KubeObject } from "./meta.ts";

export interface Lease extends KubeObject {
	readonly spec?: {
		readonly holderIdentity?: string;
		readonly leaseDurationSeconds?: number;
		/** MicroTime: six decimals. */
		readonly acquireTime?: string;
		readonly renewTime?: string;
		readonly leaseTransitions?: number;
		readonly strategy?: string;
		readonly preferredHolder?: string;
	};
}
