/** The controllers that were asked for, over one client and one set of caches. */

import type { Resource } from "../api/resource.ts";
import { RESOURCE_TYPES } from "../api/resource-table.ts";
import { DeploymentController } from "../controllers/deployment-controller.ts";
import { EndpointsController } from "../controllers/endpoints-controller.ts";
import { EndpointSliceController } from "../controllers/endpointslice-controller.ts";
import { EndpointSliceMirroringController } from "../controllers/endpointslicemirroring-controller.ts";
import { GarbageCollector } from "../controllers/garbage-collector.ts";
import { NamespaceController } from "../controllers/namespace-controller.ts";
import type { Controller, ControllerPorts } from "../controllers/ports.ts";
import { ReplicaSetController } from "../controllers/replicaset-controller.ts";
import { Scheduler } from "../controllers/scheduler.ts";
import { StatefulSetController } from "../controllers/statefulset-controller.ts";
import { selectedControllers } from "./controller-selection.ts";
import type { PlaneOptions } from "./plane-options.ts";

type Options = Pick<
	PlaneOptions,
	| "controllers"
	| "maxEndpointsPerSlice"
	| "concurrentServiceEndpointSyncs"
	| "endpointSliceUpdatesBatchPeriodMs"
	| "mirroringMaxEndpointsPerSubset"
>;

type Make = (ports: ControllerPorts, options: Options) => Controller;

/** Each stored object once: of resources that share their objects, the one that stores them. */
const STORED: readonly Resource[] = RESOURCE_TYPES.filter(({ storedForm }) => storedForm === undefined);

/** Objects that own, or are owned: everything but Events, which expire by themselves. */
const COLLECTED: readonly Resource[] = STORED.filter(({ plural }) => plural !== "events");

/** By upstream's names. The scheduler is a program of its own upstream. */
const MAKERS: Readonly<Record<string, Make>> = {
	"endpointslice-controller": (ports, options) =>
		new EndpointSliceController(ports, {
			maxEndpointsPerSlice: options.maxEndpointsPerSlice,
			concurrentSyncs: options.concurrentServiceEndpointSyncs,
			batchPeriodMs: options.endpointSliceUpdatesBatchPeriodMs,
		}),
	"endpointslicemirroring-controller": (ports, { mirroringMaxEndpointsPerSubset }) =>
		new EndpointSliceMirroringController(ports, { maxEndpointsPerSubset: mirroringMaxEndpointsPerSubset }),
	"endpoints-controller": (ports) => new EndpointsController(ports),
	"deployment-controller": (ports) => new DeploymentController(ports),
	"replicaset-controller": (ports) => new ReplicaSetController(ports),
	"statefulset-controller": (ports) => new StatefulSetController(ports),
	"garbage-collector-controller": (ports) => new GarbageCollector(ports, COLLECTED),
	"namespace-controller": (ports) => new NamespaceController(ports, STORED),
	scheduler: (ports) => new Scheduler(ports),
};

/** @throws {RangeError} For a name in `--controllers` that no controller has. */
export function madeControllers(ports: ControllerPorts, options: Options): readonly Controller[] {
	const selected = selectedControllers(Object.keys(MAKERS), options.controllers);
	return Object.entries(MAKERS)
		.filter(([name]) => selected.has(name))
		.map(([, make]) => make(ports, options));
}
