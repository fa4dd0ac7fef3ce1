/** Messages of Services and Endpoints. For the notation see `../notation.ts`. */

export const CORE_SERVICE = `
Service kind
	1 metadata meta.ObjectMeta; 2 spec ServiceSpec; 3 status ServiceStatus
ServiceSpec
	1 ports ServicePort[] merge(port) map(port,protocol=TCP); 2 selector map<string> atomic; 3 clusterIP string;
	4 type string; 5 externalIPs string[]; 7 sessionAffinity string; 8 loadBalancerIP string;
	9 loadBalancerSourceRanges string[]; 10 externalName string; 11 externalTrafficPolicy string;
	12 healthCheckNodePort int32; 13 publishNotReadyAddresses bool;
	14 sessionAffinityConfig SessionAffinityConfig?; 17 ipFamilyPolicy string?; 18 clusterIPs string[];
	19 ipFamilies string[]; 20 allocateLoadBalancerNodePorts bool?; 21 loadBalancerClass string?;
	22 internalTrafficPolicy string?; 23 trafficDistribution string?
ServicePort
	1 name string; 2 protocol string; 3 port int32?*; 4 targetPort IntOrString; 5 nodePort int32;
	6 appProtocol string?
SessionAffinityConfig
	1 clientIP ClientIPConfig?
ClientIPConfig
	1 timeoutSeconds int32?
ServiceStatus
	1 loadBalancer LoadBalancerStatus; 2 conditions meta.Condition[] merge(type) map(type)
LoadBalancerStatus
	1 ingress LoadBalancerIngress[]
LoadBalancerIngress
	1 ip string; 2 hostname string; 3 ipMode string?; 4 ports PortStatus[]
PortStatus
	1 port int32?*; 2 protocol string?*; 3 error string?
Endpoints kind
	1 metadata meta.ObjectMeta; 2 subsets EndpointSubset[]
EndpointSubset
	1 addresses EndpointAddress[]; 2 notReadyAddresses EndpointAddress[]; 3 ports EndpointPort[]
EndpointAddress atomic
	1 ip string?*; 2 targetRef ObjectReference?; 3 hostname string; 4 nodeName string?
EndpointPort atomic
	1 name string; 2 port int32?*; 3 protocol string; 4 appProtocol string?
`;
