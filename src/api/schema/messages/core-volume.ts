/** Messages of volumes and volume claims. For the notation see `../notation.ts`. */

export const CORE_VOLUME = `
PersistentVolumeClaim kind
	1 metadata meta.ObjectMeta; 2 spec PersistentVolumeClaimSpec; 3 status PersistentVolumeClaimStatus
PersistentVolumeClaimSpec
	1 accessModes string[]; 2 resources VolumeResourceRequirements; 3 volumeName string;
	4 selector meta.LabelSelector?; 5 storageClassName string?; 6 volumeMode string?;
	7 dataSource TypedLocalObjectReference?; 8 dataSourceRef TypedObjectReference?;
	9 volumeAttributesClassName string?
VolumeResourceRequirements
	1 limits map<Quantity>; 2 requests map<Quantity>
TypedLocalObjectReference atomic
	1 apiGroup string?; 2 kind string?*; 3 name string?*
TypedObjectReference
	1 apiGroup string?; 2 kind string?*; 3 name string?*; 4 namespace string?
PersistentVolumeClaimStatus
	1 phase string; 2 accessModes string[]; 3 capacity map<Quantity>;
	4 conditions PersistentVolumeClaimCondition[] merge(type) map(type); 5 allocatedResources map<Quantity>;
	7 allocatedResourceStatuses map<string>; 8 currentVolumeAttributesClassName string?;
	9 modifyVolumeStatus ModifyVolumeStatus?
PersistentVolumeClaimCondition
	1 type string?*; 2 status string?*; 3 lastProbeTime Time; 4 lastTransitionTime Time; 5 reason string;
	6 message string
ModifyVolumeStatus
	1 targetVolumeAttributesClassName string; 2 status string?*
Volume
	1 name string?*; 2 volumeSource VolumeSource inline
VolumeSource
	1 hostPath HostPathVolumeSource?; 2 emptyDir EmptyDirVolumeSource?;
	3 gcePersistentDisk GCEPersistentDiskVolumeSource?; 4 awsElasticBlockStore AWSElasticBlockStoreVolumeSource?;
	5 gitRepo GitRepoVolumeSource?; 6 secret SecretVolumeSource?; 7 nfs NFSVolumeSource?;
	8 iscsi ISCSIVolumeSource?; 9 glusterfs GlusterfsVolumeSource?;
	10 persistentVolumeClaim PersistentVolumeClaimVolumeSource?; 11 rbd RBDVolumeSource?;
	12 flexVolume FlexVolumeSource?; 13 cinder CinderVolumeSource?; 14 cephfs CephFSVolumeSource?;
	15 flocker FlockerVolumeSource?; 16 downwardAPI DownwardAPIVolumeSource?; 17 fc FCVolumeSource?;
	18 azureFile AzureFileVolumeSource?; 19 configMap ConfigMapVolumeSource?;
	20 vsphereVolume VsphereVirtualDiskVolumeSource?; 21 quobyte QuobyteVolumeSource?;
	22 azureDisk AzureDiskVolumeSource?; 23 photonPersistentDisk PhotonPersistentDiskVolumeSource?;
	24 portworxVolume PortworxVolumeSource?; 25 scaleIO ScaleIOVolumeSource?; 26 projected ProjectedVolumeSource?;
	27 storageos StorageOSVolumeSource?; 28 csi CSIVolumeSource?; 29 ephemeral EphemeralVolumeSource?;
	30 image ImageVolumeSource?
HostPathVolumeSource
	1 path string?*; 2 type string?
EmptyDirVolumeSource
	1 medium string; 2 sizeLimit Quantity?
GCEPersistentDiskVolumeSource
	1 pdName string?*; 2 fsType string; 3 partition int32; 4 readOnly bool
AWSElasticBlockStoreVolumeSource
	1 volumeID string?*; 2 fsType string; 3 partition int32; 4 readOnly bool
GitRepoVolumeSource
	1 repository string?*; 2 revision string; 3 directory string
SecretVolumeSource
	1 secretName string; 2 items KeyToPath[]; 3 defaultMode int32?; 4 optional bool?
KeyToPath
	1 key string?*; 2 path string?*; 3 mode int32?
NFSVolumeSource
	1 server string?*; 2 path string?*; 3 readOnly bool
ISCSIVolumeSource
	1 targetPortal string?*; 2 iqn string?*; 3 lun int32?*; 4 iscsiInterface string; 5 fsType string;
	6 readOnly bool; 7 portals string[]; 8 chapAuthDiscovery bool; 10 secretRef LocalObjectReference?;
	11 chapAuthSession bool; 12 initiatorName string?
GlusterfsVolumeSource
	1 endpoints string?*; 2 path string?*; 3 readOnly bool
PersistentVolumeClaimVolumeSource
	1 claimName string?*; 2 readOnly bool
RBDVolumeSource
	1 monitors string[]*; 2 image string?*; 3 fsType string; 4 pool string; 5 user string; 6 keyring string;
	7 secretRef LocalObjectReference?; 8 readOnly bool
FlexVolumeSource
	1 driver string?*; 2 fsType string; 3 secretRef LocalObjectReference?; 4 readOnly bool; 5 options map<string>
CinderVolumeSource
	1 volumeID string?*; 2 fsType string; 3 readOnly bool; 4 secretRef LocalObjectReference?
CephFSVolumeSource
	1 monitors string[]*; 2 path string; 3 user string; 4 secretFile string; 5 secretRef LocalObjectReference?;
	6 readOnly bool
FlockerVolumeSource
	1 datasetName string; 2 datasetUUID string
DownwardAPIVolumeSource
	1 items DownwardAPIVolumeFile[]; 2 defaultMode int32?
DownwardAPIVolumeFile
	1 path string?*; 2 fieldRef ObjectFieldSelector?; 3 resourceFieldRef ResourceFieldSelector?; 4 mode int32?
FCVolumeSource
	1 targetWWNs string[]; 2 lun int32?; 3 fsType string; 4 readOnly bool; 5 wwids string[]
AzureFileVolumeSource
	1 secretName string?*; 2 shareName string?*; 3 readOnly bool
ConfigMapVolumeSource
	1 localObjectReference LocalObjectReference inline; 2 items KeyToPath[]; 3 defaultMode int32?;
	4 optional bool?
VsphereVirtualDiskVolumeSource
	1 volumePath string?*; 2 fsType string; 3 storagePolicyName string; 4 storagePolicyID string
QuobyteVolumeSource
	1 registry string?*; 2 volume string?*; 3 readOnly bool; 4 user string; 5 group string; 6 tenant string
AzureDiskVolumeSource
	1 diskName string?*; 2 diskURI string?*; 3 cachingMode string?; 4 fsType string?; 5 readOnly bool?;
	6 kind string?
PhotonPersistentDiskVolumeSource
	1 pdID string?*; 2 fsType string
PortworxVolumeSource
	1 volumeID string?*; 2 fsType string; 3 readOnly bool
ScaleIOVolumeSource
	1 gateway string?*; 2 system string?*; 3 secretRef LocalObjectReference?*; 4 sslEnabled bool;
	5 protectionDomain string; 6 storagePool string; 7 storageMode string; 8 volumeName string; 9 fsType string;
	10 readOnly bool
ProjectedVolumeSource
	1 sources VolumeProjection[]; 2 defaultMode int32?
VolumeProjection
	1 secret SecretProjection?; 2 downwardAPI DownwardAPIProjection?; 3 configMap ConfigMapProjection?;
	4 serviceAccountToken ServiceAccountTokenProjection?; 5 clusterTrustBundle ClusterTrustBundleProjection?;
	6 podCertificate PodCertificateProjection?
SecretProjection
	1 localObjectReference LocalObjectReference inline; 2 items KeyToPath[]; 4 optional bool?
DownwardAPIProjection
	1 items DownwardAPIVolumeFile[]
ConfigMapProjection
	1 localObjectReference LocalObjectReference inline; 2 items KeyToPath[]; 4 optional bool?
ServiceAccountTokenProjection
	1 audience string; 2 expirationSeconds int64?; 3 path string?*
ClusterTrustBundleProjection
	1 name string?; 2 signerName string?; 3 labelSelector meta.LabelSelector?; 4 path string?*; 5 optional bool?
PodCertificateProjection
	1 signerName string*; 2 keyType string*; 3 maxExpirationSeconds int32?; 4 credentialBundlePath string;
	5 keyPath string; 6 certificateChainPath string; 7 userAnnotations map<string>
StorageOSVolumeSource
	1 volumeName string; 2 volumeNamespace string; 3 fsType string; 4 readOnly bool;
	5 secretRef LocalObjectReference?
CSIVolumeSource
	1 driver string?*; 2 readOnly bool?; 3 fsType string?; 4 volumeAttributes map<string>;
	5 nodePublishSecretRef LocalObjectReference?
EphemeralVolumeSource
	1 volumeClaimTemplate PersistentVolumeClaimTemplate?
PersistentVolumeClaimTemplate
	1 metadata meta.ObjectMeta; 2 spec PersistentVolumeClaimSpec?*
ImageVolumeSource
	1 reference string; 2 pullPolicy string
`;
