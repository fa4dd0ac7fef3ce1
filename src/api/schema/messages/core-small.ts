/** Messages of the small kinds of the core group. For the notation see `../notation.ts`. */

export const CORE_SMALL = `
Namespace kind
	1 metadata meta.ObjectMeta; 2 spec NamespaceSpec; 3 status NamespaceStatus
NamespaceSpec
	1 finalizers string[]
NamespaceStatus
	1 phase string; 2 conditions NamespaceCondition[] merge(type) map(type)
NamespaceCondition
	1 type string?*; 2 status string?*; 4 lastTransitionTime Time; 5 reason string; 6 message string
ConfigMap kind
	1 metadata meta.ObjectMeta; 2 data map<string>; 3 binaryData map<bytes>; 4 immutable bool?
Secret kind
	1 metadata meta.ObjectMeta; 2 data map<bytes>; 3 type string; 4 stringData map<string>; 5 immutable bool?
ServiceAccount kind
	1 metadata meta.ObjectMeta; 2 secrets ObjectReference[] merge(name) map(name);
	3 imagePullSecrets LocalObjectReference[]; 4 automountServiceAccountToken bool?
ObjectReference atomic
	1 kind string; 2 namespace string; 3 name string; 4 uid string; 5 apiVersion string; 6 resourceVersion string;
	7 fieldPath string
ReplicationController kind
	1 metadata meta.ObjectMeta; 2 spec ReplicationControllerSpec; 3 status ReplicationControllerStatus
ReplicationControllerSpec
	1 replicas int32?; 2 selector map<string> atomic; 3 template PodTemplateSpec?; 4 minReadySeconds int32
ReplicationControllerStatus
	1 replicas int32?*; 2 fullyLabeledReplicas int32; 3 observedGeneration int64; 4 readyReplicas int32;
	5 availableReplicas int32; 6 conditions ReplicationControllerCondition[] merge(type) map(type)
ReplicationControllerCondition
	1 type string?*; 2 status string?*; 3 lastTransitionTime Time; 4 reason string; 5 message string
Event kind
	1 metadata meta.ObjectMeta?*; 2 involvedObject ObjectReference?*; 3 reason string; 4 message string;
	5 source EventSource; 6 firstTimestamp Time; 7 lastTimestamp Time; 8 count int32; 9 type string;
	10 eventTime MicroTime; 11 series EventSeries?; 12 action string; 13 related ObjectReference?;
	14 reportingComponent string?; 15 reportingInstance string?
EventSource
	1 component string; 2 host string
EventSeries
	1 count int32; 2 lastObservedTime MicroTime
Binding kind
	1 metadata meta.ObjectMeta; 2 target ObjectReference?*
`;
