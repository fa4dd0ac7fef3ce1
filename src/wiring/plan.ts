/** The package's door to the pure planners: what Kubernetes' controllers would decide, as plain data. */
export { type EndpointsPlan, type EndpointsWorld, planEndpoints } from "../plan/endpoints/plan-endpoints.ts";
export {
	planEndpointSlices,
	renderSlicePlan,
	type SliceLimits,
	type SlicePlan,
	type SliceWorld,
} from "../plan/endpointslice/plan-slices.ts";
export { planServiceTable, type ServiceTable } from "../plan/service-map/service-table.ts";
