/** Roles and bindings that every cluster has, as they are wanted. */
import type { ClusterRole, RoleBinding } from "../../api/types/rbac.ts";

/** What a start makes, or mends: without what the server fills in. */
export type RoleDraft = Pick<ClusterRole, "rules" | "aggregationRule"> & BootstrapMetadata;
export type BindingDraft = Pick<RoleBinding, "subjects" | "roleRef"> & BootstrapMetadata;

export interface BootstrapMetadata {
	readonly metadata: {
		readonly name: string;
		readonly labels: Readonly<Record<string, string>>;
		readonly annotations: Readonly<Record<string, string>>;
	};
}
