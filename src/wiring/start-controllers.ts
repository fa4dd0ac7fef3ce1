/** The controllers that were asked for, over one client and one set of caches. */
import { parseCIDR } from "../api/ip.ts";
import type { Resource } from "../api/resource.ts";
import { RESOURCE_TYPES } from "../api/resource-table.ts";
import { ClusterRoleAggregationController } from "../controllers/clusterrole-aggregation-controller.ts";
import { DeploymentController } from "../controllers/deployment-controller.ts";
import { EndpointsController } from "../controllers/endpoints-controller.ts";
import { EndpointSliceController } from "../controllers/endpointslice-controller.ts";
import { EndpointSliceMirroringController } from "../controllers/endpointslicemirroring-controller.ts";
import { GarbageCollector } from "../controllers/garbage-collector.ts";
import { KubernetesServiceController } from "../controllers/kubernetes-service-controller.ts";
import { NamespaceController } from "../controllers/namespace-controller.ts";
import { NodeLifecycleController } from "../controllers/node-lifecycle-controller.ts";
import { PodGarbageCollector } from "../controllers/pod-garbage-collector.ts";
import type { Controller, ControllerPorts } from "../controllers/ports.ts";
import { ReplicaSetController } from "../controllers/replicaset-controller.ts";
import { rootCACertificatePublisher } from "../controllers/root-ca-certificate-publisher.ts";
import { Scheduler } from "../controllers/scheduler.ts";
import { ServiceLoadBalancerController } from "../controllers/service-lb-controller.ts";
import { serviceAccountController } from "../controllers/serviceaccount-controller.ts";
import { StatefulSetController } from "../controllers/statefulset-controller.ts";
import { TaintEvictionController } from "../controllers/taint-eviction-controller.ts";
import { assertDefined } from "../kernel/assert.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { asManager } from "../machinery/as-manager.ts";
import { serviceAccountName } from "../plan/access/grants.ts";
import type { ApiPlace } from "../plan/api-service/api-service.ts";
import { selectedControllers } from "./controller-selection.ts";
import type { PlaneOptions } from "./plane-options.ts";

export interface ControllersOptions
	extends Pick<
		PlaneOptions,
		| "controllers"
		| "maxEndpointsPerSlice"
		| "concurrentServiceEndpointSyncs"
		| "endpointSliceUpdatesBatchPeriodMs"
		| "concurrentEndpointSyncs"
		| "endpointUpdatesBatchPeriodMs"
		| "mirroringMaxEndpointsPerSubset"
		| "mirroringConcurrentServiceEndpointSyncs"
		| "mirroringEndpointSliceUpdatesBatchPeriodMs"
		| "retryBudget"
		| "nodeMonitorGracePeriodMs"
	> {
	/** PEM of the authority that signed the API's certificate. Default "": the API speaks no TLS. */
	readonly rootCA?: string;
	/** Of the API; its port is the one that it really listens on. Absent: nobody keeps the Service `kubernetes`. */
	readonly api?: Pick<PlaneOptions, "listen" | "serviceCIDRs"> & { readonly isOneOfMany?: boolean };
	/** Owns what all of them write. Default: the program that has the part upstream. */
	readonly fieldManager?: string;
}

type Make = (ports: ControllerPorts, options: ControllersOptions) => Controller;

/** Each stored object once: of resources that share their objects, the one that stores them. */
const STORED: readonly Resource[] = RESOURCE_TYPES.filter(({ storedForm }) => storedForm === undefined);

/** Objects that own, or are owned: everything but Events, which expire by themselves. */
const COLLECTED: readonly Resource[] = STORED.filter(({ plural }) => plural !== "events");

/** By upstream's names. The scheduler is a program of its own upstream, the Service `kubernetes` the API's own. */
const MAKERS: Readonly<Record<string, Make>> = {
	"endpointslice-controller": (ports, options) =>
		new EndpointSliceController(ports, {
			maxEndpointsPerSlice: options.maxEndpointsPerSlice,
			concurrentSyncs: options.concurrentServiceEndpointSyncs,
			batchPeriodMs: options.endpointSliceUpdatesBatchPeriodMs,
			retriesMax: options.retryBudget,
		}),
	"endpointslice-mirroring-controller": (ports, options) =>
		new EndpointSliceMirroringController(ports, {
			maxEndpointsPerSubset: options.mirroringMaxEndpointsPerSubset,
			concurrentSyncs: options.mirroringConcurrentServiceEndpointSyncs,
			batchPeriodMs: options.mirroringEndpointSliceUpdatesBatchPeriodMs,
			retriesMax: options.retryBudget,
		}),
	"endpoints-controller": (ports, options) =>
		new EndpointsController(ports, {
			concurrentSyncs: options.concurrentEndpointSyncs,
			batchPeriodMs: options.endpointUpdatesBatchPeriodMs,
			retriesMax: options.retryBudget,
		}),
	"deployment-controller": (ports) => new DeploymentController(ports),
	"replicaset-controller": (ports) => new ReplicaSetController(ports),
	"statefulset-controller": (ports) => new StatefulSetController(ports),
	"garbage-collector-controller": (ports) => new GarbageCollector(ports, COLLECTED),
	"namespace-controller": (ports) => new NamespaceController(ports, STORED),
	"node-lifecycle-controller": (ports, { nodeMonitorGracePeriodMs }) =>
		new NodeLifecycleController(ports, { gracePeriodMs: nodeMonitorGracePeriodMs }),
	"taint-eviction-controller": (ports) => new TaintEvictionController(ports),
	"pod-garbage-collector-controller": (ports) => new PodGarbageCollector(ports),
	"serviceaccount-controller": serviceAccountController,
	"root-ca-certificate-publisher-controller": (ports, { rootCA = "" }) => rootCACertificatePublisher(ports, rootCA),
	"clusterrole-aggregation-controller": (ports) => new ClusterRoleAggregationController(ports),
	"service-lb-controller": (ports) => new ServiceLoadBalancerController(ports),
	"kubernetes-service-controller": (ports, options) =>
		new KubernetesServiceController(ports, placeOfApi(options), options.api?.isOneOfMany),
	scheduler: (ports) => new Scheduler(ports),
};

function placeOfApi({ api }: ControllersOptions): ApiPlace {
	const { listen, serviceCIDRs } = assertDefined(api, "the API's place");
	const serviceRange = assertDefined(parseCIDR(serviceCIDRs[0] ?? ""), "range of cluster IPs");
	return { ...listen, serviceRange };
}

export const CONTROLLER_NAMES: readonly string[] = Object.keys(MAKERS);

/** A part of the API server itself. */
const API_CONTROLLER = "kubernetes-service-controller";

/** Those that may run apart from the API. */
export const APART_NAMES: readonly string[] = CONTROLLER_NAMES.filter((name) => name !== API_CONTROLLER);

/**
 * @param clientAs What a user writes through. Default: all share the client of `ports`.
 * @throws {RangeError} For a name in `--controllers` that no controller has.
 */
export function madeControllers(
	ports: ControllerPorts,
	options: ControllersOptions,
	clientAs: (userName: string) => ApiClient = () => ports.client,
): readonly Controller[] {
	const selected = selectedControllers(CONTROLLER_NAMES, options.controllers);
	const portsOf = portsByManager(ports, options.fieldManager);
	return Object.entries(MAKERS)
		.filter(([name]) => selected.has(name) && (options.api !== undefined || name !== API_CONTROLLER))
		.map(([name, make]) => {
			const userName = userOf(name);
			const client = userName === undefined ? ports.client : clientAs(userName);
			return make(
				client === ports.client ? portsOf(name) : { ...ports, client: asManager(client, managerOf(name)) },
				options,
			);
		});
}

/** Upstream's accounts that are not called as their controllers are. */
const ACCOUNTS: Readonly<Record<string, string>> = {
	"endpointslice-mirroring-controller": "endpointslicemirroring-controller",
	"endpoints-controller": "endpoint-controller",
	"garbage-collector-controller": "generic-garbage-collector",
	"node-lifecycle-controller": "node-controller",
	"pod-garbage-collector-controller": "pod-garbage-collector",
	"serviceaccount-controller": "service-account-controller",
	"root-ca-certificate-publisher-controller": "root-ca-cert-publisher",
	"service-lb-controller": "service-controller",
};

/** Who a controller is to the API. Undefined: a part of the API server itself. */
function userOf(controller: string): string | undefined {
	if (controller === API_CONTROLLER) return undefined;
	if (controller === "scheduler") return "system:kube-scheduler";
	return serviceAccountName("kube-system", ACCOUNTS[controller] ?? controller);
}

/** The program that has the part upstream owns what the part writes. */
const OTHER_MANAGERS: Readonly<Record<string, string>> = {
	scheduler: "kube-scheduler",
	[API_CONTROLLER]: "kube-apiserver",
};

function managerOf(controller: string): string {
	return OTHER_MANAGERS[controller] ?? "kube-controller-manager";
}

function portsByManager(
	ports: ControllerPorts,
	fieldManager: string | undefined,
): (controller: string) => ControllerPorts {
	const made = new Map<string, ControllerPorts>();
	return (controller) => {
		const manager = fieldManager ?? managerOf(controller);
		const known = made.get(manager) ?? { ...ports, client: asManager(ports.client, manager) };
		made.set(manager, known);
		return known;
	};
}
