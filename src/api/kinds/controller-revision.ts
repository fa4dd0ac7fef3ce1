/** ControllerRevision: a state that a workload once had, kept to go back to. */
import { deepEqual } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { dns1123SubdomainName } from "../names.ts";
import { ALL_VERBS, controllerOf, defineResource, type ResourceType } from "../resource.ts";
import type { ControllerRevision } from "../types/apps.ts";
import { AGE_COLUMN, column, NAME_COLUMN } from "./cells.ts";
import { validateNonNegative } from "./workload-validation.ts";

export const CONTROLLER_REVISION: ResourceType = defineResource<ControllerRevision>({
	group: "apps",
	version: "v1",
	kind: "ControllerRevision",
	plural: "controllerrevisions",
	singular: "controllerrevision",
	namespaced: true,
	shortNames: [],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/controllerrevisions/",
	schema: "apps.ControllerRevision",
	nameProblems: dns1123SubdomainName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	table: {
		columns: [
			NAME_COLUMN,
			column("Controller", "The object that this was a state of."),
			column("Revision", "Its number: higher is newer."),
			AGE_COLUMN,
		],
		cells: (revision, nowMs) => [
			revision.metadata.name,
			controllerCell(revision),
			revision.revision,
			age(nowMs, revision.metadata.creationTimestamp),
		],
	},
	withDefaults: (revision) => ({ ...revision, revision: revision.revision ?? 0 }),
	prepareCreate: (revision) => revision,
	prepareUpdate: (next) => next,
	validate,
	validateUpdate: (next, stored) => [
		...validate(next),
		...(deepEqual(next.data, stored.data) ? [] : [invalid("data", next.data, "field is immutable")]),
	],
	warnings: () => [],
	fields: () => ({}),
});

function validate({ data, revision }: ControllerRevision): readonly FieldError[] {
	return [
		...(data === undefined || data === null ? [required("data", "data is mandatory")] : []),
		...validateNonNegative("revision", revision),
	];
}

/** `statefulset.apps/web`. */
function controllerCell(revision: ControllerRevision): string {
	const owner = controllerOf(revision);
	if (owner === undefined) return "<none>";
	const slash = owner.apiVersion.indexOf("/");
	const group = slash < 0 ? "" : `.${owner.apiVersion.slice(0, slash)}`;
	return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
