/** Namespace: the scope of names. It lives on while its content is being removed. */
import { age } from "../age.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import { dns1123LabelName, qualifiedNameProblems } from "../names.ts";
import { ALL_VERBS, defineResource, type ResourceType, STATUS_SUBRESOURCE, type Table } from "../resource.ts";
import type { Namespace } from "../types/core.ts";
import { AGE_COLUMN, column, NAME_COLUMN } from "./cells.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";

export const NAMESPACE: ResourceType = defineResource<Namespace>({
	group: "",
	version: "v1",
	kind: "Namespace",
	plural: "namespaces",
	singular: "namespace",
	namespaced: false,
	shortNames: ["ns"],
	categories: [],
	verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
	subresources: [{ name: "finalize", verbs: ["update"] }, STATUS_SUBRESOURCE],
	storagePrefix: "/registry/namespaces/",
	schema: "core.Namespace",
	nameProblems: dns1123LabelName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "object",
	fieldLabels: ["status.phase"],
	table: namespaceTable(),
	withDefaults,
	prepareCreate(namespace) {
		const finalizers = namespace.spec?.finalizers ?? [];
		return {
			// Once more: a generated name is known only now.
			...withDefaults(namespace),
			spec: { finalizers: finalizers.includes("kubernetes") ? finalizers : [...finalizers, "kubernetes"] },
			status: { phase: "Active" },
		};
	},
	/** `spec.finalizers` changes through `/finalize` only. */
	prepareUpdate(next, stored) {
		return { ...next, spec: stored.spec ?? {}, status: stored.status ?? {} };
	},
	prepareStatusUpdate(next, stored) {
		return { ...next, spec: stored.spec ?? {} };
	},
	validate,
	validateUpdate: validate,
	validateStatusUpdate,
	warnings: () => [],
	fields: (namespace) => ({ "status.phase": namespace.status?.phase ?? "" }),
});

/** The name as a label, so that selectors can name a namespace. */
function withDefaults(namespace: Namespace): Namespace {
	const { name, labels } = namespace.metadata;
	const label = (name ?? "") === "" ? {} : { labels: { ...labels, [NAME_LABEL]: name } };
	return {
		...namespace,
		metadata: { ...namespace.metadata, ...label },
		spec: namespace.spec ?? {},
		status: namespace.status ?? {},
	};
}

function validate(namespace: Namespace): readonly FieldError[] {
	return (namespace.spec?.finalizers ?? []).flatMap((finalizer, index) => {
		const field = `spec.finalizers[${index}]`;
		const format = invalids(field, finalizer, qualifiedNameProblems(finalizer));
		if (finalizer.includes("/") || ["kubernetes", "orphan", "foregroundDeletion"].includes(finalizer)) return format;
		return [
			...format,
			invalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified"),
		];
	});
}

function validateStatusUpdate(next: Namespace): readonly FieldError[] {
	const phase = next.status?.phase ?? "";
	if (next.metadata.deletionTimestamp === undefined) {
		if (phase === "Active") return [];
		return [invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")];
	}
	if (phase === "Terminating") return [];
	return [invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

function namespaceTable(): Table<Namespace> {
	return {
		columns: [NAME_COLUMN, column("Status", "The status of the namespace"), AGE_COLUMN],
		cells: ({ metadata, status }, nowMs) => [
			metadata.name,
			status?.phase ?? "",
			age(nowMs, metadata.creationTimestamp),
		],
	};
}
