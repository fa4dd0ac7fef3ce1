/** `apiextensions.k8s.io/v1`. @see https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/ */
import type { SchemaProps } from "../structural/schema-props.ts";
import type { Condition, KubeObject } from "./meta.ts";

export interface CustomResourceNames {
	readonly plural: string;
	readonly singular?: string;
	readonly shortNames?: readonly string[];
	readonly kind: string;
	readonly listKind?: string;
	readonly categories?: readonly string[];
}

export interface PrinterColumn {
	readonly name: string;
	readonly type: string;
	readonly format?: string;
	readonly description?: string;
	readonly priority?: number;
	readonly jsonPath: string;
}

export interface ScalePaths {
	readonly specReplicasPath: string;
	readonly statusReplicasPath: string;
	readonly labelSelectorPath?: string;
}

export interface CustomResourceVersion {
	readonly name: string;
	readonly served: boolean;
	readonly storage: boolean;
	readonly schema?: { readonly openAPIV3Schema?: SchemaProps };
	readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
	readonly additionalPrinterColumns?: readonly PrinterColumn[];
	readonly selectableFields?: readonly { readonly jsonPath: string }[];
	readonly deprecated?: boolean;
	readonly deprecationWarning?: string;
}

export interface CustomResourceDefinitionSpec {
	readonly group: string;
	readonly names: CustomResourceNames;
	readonly scope: "Cluster" | "Namespaced";
	readonly versions: readonly CustomResourceVersion[];
	readonly conversion?: { readonly strategy: string; readonly webhook?: object };
	readonly preserveUnknownFields?: boolean;
}

export interface CustomResourceDefinitionStatus {
	readonly conditions?: readonly Condition[];
	readonly acceptedNames?: CustomResourceNames;
	readonly storedVersions?: readonly string[];
}

export interface CustomResourceDefinition extends KubeObject {
	readonly spec: CustomResourceDefinitionSpec;
	readonly status?: CustomResourceDefinitionStatus;
}
