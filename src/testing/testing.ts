/**
 * The package's door for tests, `sliceplane/testing`: scenarios, a whole plane on virtual time, a transport with faults,
 * and what a controller of one's own is made of. Needs no test framework.
 */
export type { ObjectKey, Resource } from "../api/resource.ts";
export { keyOf } from "../api/resource.ts";
export {
	CONFIG_MAPS,
	DEPLOYMENTS,
	ENDPOINT_SLICES,
	ENDPOINTS,
	EVENTS,
	LEASES,
	NAMESPACES,
	NODES,
	PODS,
	REPLICA_SETS,
	SECRETS,
	SERVICE_ACCOUNTS,
	SERVICES,
	STATEFUL_SETS,
} from "../api/resource-names.ts";
export { ApiError, hasReason } from "../api/status.ts";
export type { ConfigMap, Endpoints, Node, Pod, Service } from "../api/types/core.ts";
export type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
export type { KubeObject, ObjectMeta } from "../api/types/meta.ts";
export type { Clock } from "../kernel/clock.ts";
export type { Logger } from "../kernel/logger.ts";
export type { Metrics } from "../kernel/metrics.ts";
export type { Random } from "../kernel/random.ts";
export { type ApiClient, TransportError, type WatchEvent } from "../machinery/api-client.ts";
export { type Outcome, type Reconciler, runWorkers, SETTLED, type WorkerOptions } from "../machinery/controller.ts";
export type { Handlers, Informer, Lister } from "../machinery/informer.ts";
export { Informers } from "../machinery/informers.ts";
export type { WorkQueue } from "../machinery/work-queue.ts";
export { WorkQueues } from "../machinery/work-queues.ts";
export { type Parsed, parseScenario, type Scenario } from "../scenario/format/scenario-file.ts";
export type { FileProblem } from "../scenario/format/yaml-text.ts";
export { scenarioText } from "../scenario/report/text.ts";
export { type RunOptions, runScenario, type ScenarioResult, type StepProblem } from "../scenario/run-scenario.ts";
export { node, type PodTraits, pod, service } from "./builders.ts";
export { type ClientCall, type Faults, FaultyClient } from "./faulty-client.ts";
export { SeededRandom } from "./seeded.ts";
export type { ServedApi } from "./served-api.ts";
export { silentLogger, silentMetrics } from "./silent.ts";
export { startTestPlane, type TestPlane, type TestPlaneOptions } from "./test-plane.ts";
export { VirtualClock } from "./virtual-clock.ts";
