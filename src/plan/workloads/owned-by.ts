/** References from what a workload makes to the workload. */
import { apiVersionOf, type Resource } from "../../api/resource.ts";
import type { KubeObject, OwnerReference } from "../../api/types/meta.ts";

export function controllerReference(resource: Resource, owner: KubeObject): OwnerReference {
	return {
		apiVersion: apiVersionOf(resource),
		kind: resource.kind,
		name: owner.metadata.name,
		uid: owner.metadata.uid,
		controller: true,
		blockOwnerDeletion: true,
	};
}
