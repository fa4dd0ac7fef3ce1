/** Messages of Nodes. For the notation see `../notation.ts`. */

export const CORE_NODE = `
Node kind
	1 metadata meta.ObjectMeta; 2 spec NodeSpec; 3 status NodeStatus
NodeSpec
	1 podCIDR string; 2 externalID string; 3 providerID string; 4 unschedulable bool; 5 taints Taint[];
	6 configSource NodeConfigSource?; 7 podCIDRs string[] merge set
Taint
	1 key string?*; 2 value string; 3 effect string?*; 4 timeAdded Time?
NodeConfigSource
	2 configMap ConfigMapNodeConfigSource?
ConfigMapNodeConfigSource
	1 namespace string?*; 2 name string?*; 3 uid string; 4 resourceVersion string; 5 kubeletConfigKey string?*
NodeStatus
	1 capacity map<Quantity>; 2 allocatable map<Quantity>; 3 phase string;
	4 conditions NodeCondition[] merge(type) map(type); 5 addresses NodeAddress[] merge(type) map(type);
	6 daemonEndpoints NodeDaemonEndpoints; 7 nodeInfo NodeSystemInfo; 8 images ContainerImage[];
	9 volumesInUse string[]; 10 volumesAttached AttachedVolume[]; 11 config NodeConfigStatus?;
	12 runtimeHandlers NodeRuntimeHandler[]; 13 features NodeFeatures?; 14 declaredFeatures string[]
NodeCondition
	1 type string?*; 2 status string?*; 3 lastHeartbeatTime Time; 4 lastTransitionTime Time; 5 reason string;
	6 message string
NodeAddress
	1 type string?*; 2 address string?*
NodeDaemonEndpoints
	1 kubeletEndpoint DaemonEndpoint
DaemonEndpoint
	1 Port int32?*
NodeSystemInfo
	1 machineID string?*; 2 systemUUID string?*; 3 bootID string?*; 4 kernelVersion string?*; 5 osImage string?*;
	6 containerRuntimeVersion string?*; 7 kubeletVersion string?*; 8 kubeProxyVersion string?*;
	9 operatingSystem string?*; 10 architecture string?*; 11 swap NodeSwapStatus?
NodeSwapStatus
	1 capacity int64?
ContainerImage
	1 names string[]; 2 sizeBytes int64
AttachedVolume
	1 name string?*; 2 devicePath string?*
NodeConfigStatus
	1 assigned NodeConfigSource?; 2 active NodeConfigSource?; 3 lastKnownGood NodeConfigSource?; 4 error string
NodeRuntimeHandler
	1 name string?; 2 features NodeRuntimeHandlerFeatures?
NodeRuntimeHandlerFeatures
	1 recursiveReadOnlyMounts bool?; 2 userNamespaces bool?
NodeFeatures
	1 supplementalGroupsPolicy bool?
`;
