/** Labels and annotations with a meaning of their own. @see https://kubernetes.io/docs/reference/labels-annotations-taints/ */

/** On an EndpointSlice: the Service it belongs to. */
export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
/** On an EndpointSlice: who keeps it. */
export const SLICE_MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";
/** On EndpointSlices and Endpoints, with value "": the Service has no cluster IP. */
export const HEADLESS_LABEL = "service.kubernetes.io/headless";
/** On Services and their EndpointSlices: another proxy than the cluster's own serves them. */
export const SERVICE_PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name";
/** On Endpoints: who keeps them. */
export const ENDPOINTS_MANAGED_BY_LABEL = "endpoints.kubernetes.io/managed-by";
/** On Endpoints: with the value "true" they are not copied into slices. */
export const SKIP_MIRROR_LABEL = "endpointslice.kubernetes.io/skip-mirror";
/** On Nodes. */
export const ZONE_LABEL = "topology.kubernetes.io/zone";

/** On objects that kubectl applied: what it applied last. */
export const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
/** When the change happened that a write answers to: RFC 3339. */
export const TRIGGER_TIME_ANNOTATION = "endpoints.kubernetes.io/last-change-trigger-time";
/** On Endpoints: `truncated` when only 1,000 addresses are listed. */
export const OVER_CAPACITY_ANNOTATION = "endpoints.kubernetes.io/over-capacity";
/** On objects that old clients elect a leader with. */
export const LEADER_ANNOTATION = "control-plane.alpha.kubernetes.io/leader";
/** On Services: `Auto` asks for zone hints by CPU. The first is the older name, and wins when both are there. */
export const TOPOLOGY_AWARE_HINTS_ANNOTATION = "service.kubernetes.io/topology-aware-hints";
export const TOPOLOGY_MODE_ANNOTATION = "service.kubernetes.io/topology-mode";

/** Values of {@link SLICE_MANAGED_BY_LABEL} that the control plane itself writes. */
export const ENDPOINTSLICE_CONTROLLER = "endpointslice-controller.k8s.io";
export const ENDPOINTSLICEMIRRORING_CONTROLLER = "endpointslicemirroring-controller.k8s.io";
/** Value of {@link ENDPOINTS_MANAGED_BY_LABEL} that the Endpoints controller writes. */
export const ENDPOINTS_CONTROLLER = "endpoint-controller";
