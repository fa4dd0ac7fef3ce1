/** Messages of the small groups around services. For the notation see `../notation.ts`. */

export const DISCOVERY = `
EndpointSlice kind
	1 metadata meta.ObjectMeta; 2 endpoints Endpoint[]* null; 3 ports EndpointPort[] null; 4 addressType string?*
Endpoint
	1 addresses string[]*; 2 conditions EndpointConditions; 3 hostname string?; 4 targetRef core.ObjectReference?;
	5 deprecatedTopology map<string>; 6 nodeName string?; 7 zone string?; 8 hints EndpointHints?
EndpointConditions
	1 ready bool?; 2 serving bool?; 3 terminating bool?
EndpointHints
	1 forZones ForZone[]; 2 forNodes ForNode[]
ForZone
	1 name string?*
ForNode
	1 name string?*
EndpointPort atomic
	1 name string?; 2 protocol string?; 3 port int32?; 4 appProtocol string?
`;

export const NETWORKING = `
IPAddress kind
	1 metadata meta.ObjectMeta; 2 spec IPAddressSpec
IPAddressSpec
	1 parentRef ParentReference?*
ParentReference
	1 group string; 2 resource string*; 3 namespace string; 4 name string*
ServiceCIDR kind
	1 metadata meta.ObjectMeta; 2 spec ServiceCIDRSpec; 3 status ServiceCIDRStatus
ServiceCIDRSpec
	1 cidrs string[]
ServiceCIDRStatus
	1 conditions meta.Condition[] merge(type) map(type)
`;

export const COORDINATION = `
Lease kind
	1 metadata meta.ObjectMeta; 2 spec LeaseSpec
LeaseSpec
	1 holderIdentity string?; 2 leaseDurationSeconds int32?; 3 acquireTime MicroTime?; 4 renewTime MicroTime?;
	5 leaseTransitions int32?; 6 strategy string?; 7 preferredHolder string?
`;

export const EVENTS = `
Event kind
	1 metadata meta.ObjectMeta?; 2 eventTime MicroTime?*; 3 series EventSeries?; 4 reportingController string;
	5 reportingInstance string; 6 action string; 7 reason string; 8 regarding core.ObjectReference;
	9 related core.ObjectReference?; 10 note string; 11 type string; 12 deprecatedSource core.EventSource;
	13 deprecatedFirstTimestamp Time; 14 deprecatedLastTimestamp Time; 15 deprecatedCount int32
EventSeries
	1 count int32?*; 2 lastObservedTime MicroTime?*
`;

export const AUTOSCALING = `
Scale kind
	1 metadata meta.ObjectMeta; 2 spec ScaleSpec; 3 status ScaleStatus
ScaleSpec
	1 replicas int32
ScaleStatus
	1 replicas int32?*; 2 selector string
`;

export const POLICY = `
Eviction kind
	1 metadata meta.ObjectMeta; 2 deleteOptions meta.DeleteOptions?
`;
