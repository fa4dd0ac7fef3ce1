/** The package's door to the pure planners: what Kubernetes' controllers would decide, as plain data. */
export { type EndpointsPlan, type EndpointsWorld, planEndpoints } from "../plan/endpoints/plan-endpoints.ts";
export { renderEndpointsPlan } from "../plan/endpoints/render.ts";
export {
	planEndpointSlices,
	type SliceLimits,
	type SlicePlan,
	type SliceWorld,
} from "../plan/endpointslice/plan-slices.ts";
export { renderSlicePlan } from "../plan/endpointslice/render.ts";
export { type MirrorLimits, type MirrorPlan, type MirrorWorld, planMirror } from "../plan/mirroring/plan-mirror.ts";
export { renderMirrorPlan } from "../plan/mirroring/render.ts";
export { planServiceTable, type ServiceTable } from "../plan/service-map/service-table.ts";
