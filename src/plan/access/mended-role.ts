/** What a start does to the roles and bindings that every cluster has: lost rights come back, added ones stay. */
import type { ClusterRole, PolicyRule, RoleBinding } from "../../api/types/rbac.ts";
import { deepEqual } from "../../kernel/json.ts";
import type { BindingDraft, BootstrapMetadata, RoleDraft } from "./drafts.ts";
import { holdsAll } from "./missing-rights.ts";

export const AUTOUPDATE: string = "rbac.authorization.kubernetes.io/autoupdate";

/** Undefined: nothing is to be written. */
export function mendedRole(stored: ClusterRole, wanted: RoleDraft): ClusterRole | undefined {
	if (!isKept(stored)) return undefined;
	const selectors = stored.aggregationRule?.clusterRoleSelectors ?? [];
	const lost = (wanted.aggregationRule?.clusterRoleSelectors ?? []).filter(
		(selector) => !selectors.some((known) => deepEqual(known, selector)),
	);
	const rules = wanted.aggregationRule === undefined ? lostRules(stored.rules ?? [], wanted.rules ?? []) : [];
	const metadata = withMarks(stored.metadata, wanted.metadata);
	if (lost.length === 0 && rules.length === 0 && metadata === stored.metadata) return undefined;
	return {
		...stored,
		metadata,
		...(rules.length === 0 ? {} : { rules: [...(stored.rules ?? []), ...rules] }),
		...(lost.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...selectors, ...lost] } }),
	};
}

/** Undefined: nothing is to be written. A binding to another role is `replace`d, since no update can change that. */
export function mendedBinding(
	stored: RoleBinding,
	wanted: BindingDraft,
): { readonly kind: "update"; readonly binding: RoleBinding } | { readonly kind: "replace" } | undefined {
	if (!isKept(stored)) return undefined;
	if (!deepEqual(stored.roleRef, wanted.roleRef)) return { kind: "replace" };
	const subjects = stored.subjects ?? [];
	const lost = (wanted.subjects ?? []).filter((subject) => !subjects.some((known) => deepEqual(known, subject)));
	const metadata = withMarks(stored.metadata, wanted.metadata);
	if (lost.length === 0 && metadata === stored.metadata) return undefined;
	return {
		kind: "update",
		binding: { ...stored, metadata, ...(lost.length === 0 ? {} : { subjects: [...subjects, ...lost] }) },
	};
}

/** Who does not want it mended says so on the object. */
function isKept({ metadata }: Pick<ClusterRole, "metadata">): boolean {
	return metadata.annotations?.[AUTOUPDATE] !== "false";
}

function lostRules(stored: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
	return wanted.filter((rule) => !holdsAll(stored, [rule]));
}

/** With the labels and annotations that are missing; the same object if none is. */
function withMarks(
	stored: ClusterRole["metadata"],
	{ labels, annotations }: BootstrapMetadata["metadata"],
): ClusterRole["metadata"] {
	const isMissing = (
		have: Readonly<Record<string, string>> | undefined,
		want: Readonly<Record<string, string>>,
	): boolean => Object.keys(want).some((key) => have?.[key] === undefined);
	if (!isMissing(stored.labels, labels) && !isMissing(stored.annotations, annotations)) return stored;
	return {
		...stored,
		labels: { ...labels, ...stored.labels },
		annotations: { ...annotations, ...stored.annotations },
	};
}
