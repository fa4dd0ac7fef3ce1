/** Flags of the controllers, with upstream's names, and of the API's limits: of `up`, and of the parts alone. */
import type { PlaneOptions } from "../wiring/plane-options.ts";
import type { ControllersOptions } from "../wiring/start-controllers.ts";
import type { Row } from "./flag-rows.ts";
import { durationMs, graceMs, whole } from "./flag-values.ts";

export interface ControllerFlags {
	readonly maxEndpointsPerSlice: number;
	readonly concurrentServiceEndpointSyncs: number;
	readonly endpointsliceUpdatesBatchPeriod: number;
	readonly concurrentEndpointSyncs: number;
	readonly endpointUpdatesBatchPeriod: number;
	readonly mirroringMaxEndpointsPerSubset: number;
	readonly mirroringConcurrentServiceEndpointSyncs: number;
	readonly mirroringEndpointsliceUpdatesBatchPeriod: number;
	readonly retryBudget: number;
	readonly nodeMonitorGracePeriod: number;
}

export const CONTROLLER_ROWS: readonly Row[] = [
	["--max-endpoints-per-slice <n>", "endpoints in one EndpointSlice", whole(1, 1000), "100"],
	["--concurrent-service-endpoint-syncs <n>", "Services that are synced at once", whole(1, 50), "5"],
	["--endpointslice-updates-batch-period <duration>", "wait after a pod changed, such as 500ms", durationMs, "0s"],
	["--concurrent-endpoint-syncs <n>", "Services whose Endpoints are synced at once", whole(1, 1000), "5"],
	["--endpoint-updates-batch-period <duration>", "as above, for Endpoints instead of EndpointSlices", durationMs, "0s"],
	["--mirroring-max-endpoints-per-subset <n>", "addresses mirrored from one subset", whole(1, 1000), "1000"],
	["--mirroring-concurrent-service-endpoint-syncs <n>", "Endpoints that are mirrored at once", whole(1, 50), "5"],
	[
		"--mirroring-endpointslice-updates-batch-period <duration>",
		"wait after somebody changed a mirrored slice",
		durationMs,
		"0s",
	],
	[
		"--retry-budget <n>",
		"retries of a failing Service before it waits for an event; 0: no end",
		whole(0, 10_000),
		"15",
	],
	["--node-monitor-grace-period <duration>", "silence after which a node is lost", graceMs, "50s"],
];

type ControllerOptions = Omit<ControllersOptions, "controllers" | "rootCA" | "api" | "fieldManager">;

export function controllerOptionsOf(flags: ControllerFlags): ControllerOptions {
	return {
		maxEndpointsPerSlice: flags.maxEndpointsPerSlice,
		concurrentServiceEndpointSyncs: flags.concurrentServiceEndpointSyncs,
		endpointSliceUpdatesBatchPeriodMs: flags.endpointsliceUpdatesBatchPeriod,
		concurrentEndpointSyncs: flags.concurrentEndpointSyncs,
		endpointUpdatesBatchPeriodMs: flags.endpointUpdatesBatchPeriod,
		mirroringMaxEndpointsPerSubset: flags.mirroringMaxEndpointsPerSubset,
		mirroringConcurrentServiceEndpointSyncs: flags.mirroringConcurrentServiceEndpointSyncs,
		mirroringEndpointSliceUpdatesBatchPeriodMs: flags.mirroringEndpointsliceUpdatesBatchPeriod,
		retryBudget: flags.retryBudget,
		nodeMonitorGracePeriodMs: flags.nodeMonitorGracePeriod,
	};
}

export interface RequestLimitFlags {
	readonly maxRequestsInflight: number;
	readonly maxMutatingRequestsInflight: number;
	readonly maxClientRequestsPerSecond: number;
}

export const REQUEST_LIMIT_ROWS: readonly Row[] = [
	["--max-requests-inflight <n>", "reads that are answered at once, before 429", whole(1, 100_000), "400"],
	["--max-mutating-requests-inflight <n>", "writes that are answered at once, before 429", whole(1, 100_000), "200"],
	["--max-client-requests-per-second <n>", "requests that one client may make, before 429", whole(1, 1e6), "1000"],
];

export function requestLimitsOf(
	flags: RequestLimitFlags,
): Pick<PlaneOptions, "requestsInFlight" | "clientRequestsPerSecond"> {
	return {
		requestsInFlight: { readOnly: flags.maxRequestsInflight, mutating: flags.maxMutatingRequestsInflight },
		clientRequestsPerSecond: flags.maxClientRequestsPerSecond,
	};
}
