/** What `kubectl get` prints of a custom resource: the columns of its definition, or its age. */
import { age } from "../age.ts";
import type { Cell, Column, Table } from "../resource.ts";
import type { PrinterColumn } from "../types/apiextensions.ts";
import type { KubeObject } from "../types/meta.ts";
import { findAll, type JsonPath, parseJsonPath } from "./json-path.ts";

const NAME: Column = {
	name: "Name",
	type: "string",
	format: "name",
	description: "The name, unique among objects of its kind in its namespace. It never changes.",
};

const AGE: PrinterColumn = {
	name: "Age",
	type: "date",
	description: "When the server created the object.",
	jsonPath: ".metadata.creationTimestamp",
};

export function customTable(given: readonly PrinterColumn[]): Table<KubeObject> {
	const columns = given.length === 0 ? [AGE] : given;
	const paths = columns.map(({ jsonPath }) => pathOf(jsonPath));
	return {
		columns: [NAME, ...columns.map(columnOf)],
		cells: (object, nowMs) => [
			object.metadata.name,
			...columns.map(({ type }, index) => {
				const path = paths[index];
				const [value] = path === undefined ? [] : findAll(path, object);
				return cellOf(type, value, nowMs);
			}),
		],
	};
}

function pathOf(text: string): JsonPath | undefined {
	const parsed = parseJsonPath(text);
	return parsed.kind === "path" ? parsed.path : undefined;
}

function columnOf({ name, type, format, description, priority, jsonPath }: PrinterColumn): Column {
	return {
		name,
		type: type as Column["type"],
		...(format === undefined ? {} : { format }),
		description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
		...(priority === undefined ? {} : { priority }),
	};
}

/** null where there is nothing, or not what the column promises. */
function cellOf(type: string, value: unknown, nowMs: number): Cell {
	if (value === undefined || value === null) return null;
	switch (type) {
		case "integer":
			return typeof value === "number" ? Math.trunc(value) : null;
		case "number":
			return typeof value === "number" ? value : null;
		case "boolean":
			return typeof value === "boolean" ? value : null;
		case "date":
			if (typeof value !== "string") return null;
			return Number.isNaN(Date.parse(value)) ? "<invalid>" : age(nowMs, value);
		default:
			return typeof value === "object" ? JSON.stringify(value) : String(value);
	}
}
