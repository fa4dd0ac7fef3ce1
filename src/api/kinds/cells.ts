/** Columns and cells that the tables of several kinds share. */
import { formatRequirements, requirementsOf, requirementsOfLabels, validateLabelSelector } from "../label-selector.ts";
import type { Column } from "../resource.ts";
import type { PodTemplateSpec } from "../types/core.ts";
import type { LabelSelector, StringMap } from "../types/meta.ts";

export const NAME_COLUMN: Column = {
	name: "Name",
	type: "string",
	format: "name",
	description: "Name must be unique within a namespace.",
};

export const AGE_COLUMN: Column = {
	name: "Age",
	type: "string",
	description: "Time since the object was created on the server.",
};

export function column(name: string, description: string): Column {
	return { name, type: "string", description };
}

export function integerColumn(name: string, description: string): Column {
	return { name, type: "integer", description };
}

/** Only shown with `-o wide`. */
export function wideColumn(name: string, description: string): Column {
	return { name, type: "string", description, priority: 1 };
}

/** The first three items, and how many more there are: `a,b,c + 1 more...`. */
export function firstThree(items: readonly string[]): string {
	const shown = items.slice(0, 3).join(",");
	return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}

export function orNone(text: string | undefined): string {
	return text === undefined || text === "" ? "<none>" : text;
}

export function labelsCell(labels: StringMap | undefined): string {
	return orNone(formatRequirements(requirementsOfLabels(labels)));
}

/** undefined when the selector cannot be read; "" when it is empty. */
export function selectorText(selector: LabelSelector | undefined): string | undefined {
	if (selector === undefined) return "";
	return validateLabelSelector("", selector).length > 0 ? undefined : formatRequirements(requirementsOf(selector));
}

export function containerCells(template: PodTemplateSpec | undefined): readonly [names: string, images: string] {
	const containers = template?.spec.containers ?? [];
	return [containers.map(({ name }) => name).join(","), containers.map(({ image }) => image ?? "").join(",")];
}

export const CONTAINER_COLUMNS: readonly Column[] = [
	wideColumn("Containers", "Names of each container in the template."),
	wideColumn("Images", "Images referenced by each container in the template."),
];
