/** Messages of a Pod as it is. For the notation see `../notation.ts`. */

export const CORE_POD_STATUS = `
PodStatus
	1 phase string; 2 conditions PodCondition[] merge(type) map(type); 3 message string; 4 reason string;
	5 hostIP string; 6 podIP string; 7 startTime Time?; 8 containerStatuses ContainerStatus[]; 9 qosClass string;
	10 initContainerStatuses ContainerStatus[]; 11 nominatedNodeName string; 12 podIPs PodIP[] merge(ip) map(ip);
	13 ephemeralContainerStatuses ContainerStatus[]; 14 resize string;
	15 resourceClaimStatuses PodResourceClaimStatus[] merge(name) retainKeys map(name);
	16 hostIPs HostIP[] merge(ip); 17 observedGeneration int64;
	18 extendedResourceClaimStatus PodExtendedResourceClaimStatus?; 19 allocatedResources map<Quantity>;
	20 resources ResourceRequirements?;
	21 nodeAllocatableResourceClaimStatuses NodeAllocatableResourceClaimStatus[]
PodCondition
	1 type string?*; 2 status string?*; 3 lastProbeTime Time null; 4 lastTransitionTime Time; 5 reason string;
	6 message string; 7 observedGeneration int64
ContainerStatus
	1 name string?*; 2 state ContainerState; 3 lastState ContainerState; 4 ready bool?*; 5 restartCount int32?*;
	6 image string?*; 7 imageID string?*; 8 containerID string; 9 started bool?;
	10 allocatedResources map<Quantity>; 11 resources ResourceRequirements?;
	12 volumeMounts VolumeMountStatus[] merge(mountPath) map(mountPath); 13 user ContainerUser?;
	14 allocatedResourcesStatus ResourceStatus[] merge(name) map(name); 15 stopSignal string?
ContainerState
	1 waiting ContainerStateWaiting?; 2 running ContainerStateRunning?; 3 terminated ContainerStateTerminated?
ContainerStateWaiting
	1 reason string; 2 message string
ContainerStateRunning
	1 startedAt Time
ContainerStateTerminated
	1 exitCode int32?*; 2 signal int32; 3 reason string; 4 message string; 5 startedAt Time; 6 finishedAt Time;
	7 containerID string
VolumeMountStatus
	1 name string?*; 2 mountPath string?*; 3 readOnly bool; 4 recursiveReadOnly string?;
	5 volumeStatus VolumeStatus?
VolumeStatus
	1 image ImageVolumeStatus?
ImageVolumeStatus
	1 imageRef string
ContainerUser
	1 linux LinuxContainerUser?
LinuxContainerUser
	1 uid int64?*; 2 gid int64?*; 3 supplementalGroups int64[]
ResourceStatus
	1 name string?*; 2 resources ResourceHealth[] map(resourceID)
ResourceHealth
	1 resourceID string?*; 2 health string; 6 message string?
PodIP
	1 ip string?*
PodResourceClaimStatus
	1 name string?*; 2 resourceClaimName string?
HostIP
	1 ip string?*
PodExtendedResourceClaimStatus
	1 requestMappings ContainerExtendedResourceRequest[]*; 2 resourceClaimName string?*
ContainerExtendedResourceRequest
	1 containerName string?*; 2 resourceName string?*; 3 requestName string?*
NodeAllocatableResourceClaimStatus
	1 resourceClaimName string?*; 2 containers string[]; 3 resources map<Quantity>
`;
