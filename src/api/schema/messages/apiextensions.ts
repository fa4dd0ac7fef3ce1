/** Messages of the group apiextensions.k8s.io. For the notation see `../notation.ts`. */

export const APIEXTENSIONS = `
CustomResourceDefinition kind
	1 metadata meta.ObjectMeta; 2 spec CustomResourceDefinitionSpec*; 3 status CustomResourceDefinitionStatus
CustomResourceDefinitionSpec
	1 group string?*; 3 names CustomResourceDefinitionNames*; 4 scope string?*;
	7 versions CustomResourceDefinitionVersion[]*; 9 conversion CustomResourceConversion?;
	10 preserveUnknownFields bool
CustomResourceDefinitionNames
	1 plural string?*; 2 singular string; 3 shortNames string[]; 4 kind string?*; 5 listKind string;
	6 categories string[]
CustomResourceDefinitionVersion
	1 name string?*; 2 served bool?*; 3 storage bool?*; 4 schema CustomResourceValidation?;
	5 subresources CustomResourceSubresources?; 6 additionalPrinterColumns CustomResourceColumnDefinition[];
	7 deprecated bool; 8 deprecationWarning string?; 9 selectableFields SelectableField[]
CustomResourceValidation
	1 openAPIV3Schema RawExtension
CustomResourceSubresources
	1 status RawExtension; 2 scale CustomResourceSubresourceScale?
CustomResourceSubresourceScale
	1 specReplicasPath string?*; 2 statusReplicasPath string?*; 3 labelSelectorPath string?
CustomResourceColumnDefinition
	1 name string?*; 2 type string?*; 3 format string; 4 description string; 5 priority int32; 6 jsonPath string?*
SelectableField
	1 jsonPath string?*
CustomResourceConversion
	1 strategy string?*; 2 webhook WebhookConversion?
WebhookConversion
	2 clientConfig WebhookClientConfig?; 3 conversionReviewVersions string[]*
WebhookClientConfig
	1 service ServiceReference?; 2 caBundle bytes; 3 url string?
ServiceReference
	1 namespace string?*; 2 name string?*; 3 path string?; 4 port int32?
CustomResourceDefinitionStatus
	1 conditions CustomResourceDefinitionCondition[] map(type); 2 acceptedNames CustomResourceDefinitionNames;
	3 storedVersions string[]
CustomResourceDefinitionCondition
	1 type string?*; 2 status string?*; 3 lastTransitionTime Time; 4 reason string; 5 message string
`;
