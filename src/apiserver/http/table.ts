/** Tables: what `kubectl get` prints is computed here (api-protocol, "Table"). */
import { apiVersionOf, type Cell, type Column, type ResourceType, type Table } from "../../api/resource.ts";
import { badRequest } from "../../api/status.ts";
import type { KubeObject } from "../../api/types/meta.ts";

/** What a row carries beside its cells. */
export type IncludeObject = "Metadata" | "Object" | "None";

/** @throws {ApiError} `BadRequest` */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
	const asked = query.get("includeObject");
	switch (asked) {
		case null:
		case "":
		case "Metadata":
			return "Metadata";
		case "Object":
		case "None":
			return asked;
		default:
			throw badRequest(
				`Unable to convert to Table as requested: unrecognized includeObject value: ${JSON.stringify(asked)}: ` +
					'must be "Metadata", "Object" or "None"',
			);
	}
}

export interface TableOptions {
	readonly table: Pick<Table<KubeObject>, "columns" | "cells" | "rowConditions">;
	readonly version: "v1" | "v1beta1";
	readonly include: IncludeObject;
	readonly nowMs: number;
	/** Watches repeat the columns only in their first event. */
	readonly withColumns: boolean;
	readonly metadata: Readonly<Record<string, unknown>>;
}

export function tableOf(objects: readonly KubeObject[], options: TableOptions): object {
	return {
		kind: "Table",
		apiVersion: `meta.k8s.io/${options.version}`,
		metadata: options.metadata,
		columnDefinitions: options.withColumns ? options.table.columns.map(columnOf) : null,
		rows: objects.map((object) => rowOf(object, options)),
	};
}

function columnOf({ name, type, format, description, priority }: Column): object {
	return { name, type, format: format ?? "", description, priority: priority ?? 0 };
}

function rowOf(object: KubeObject, { table, include, version, nowMs }: TableOptions): object {
	const cells: readonly Cell[] = table.cells(object, nowMs);
	const conditions = table.rowConditions?.(object) ?? [];
	return {
		cells,
		...(conditions.length > 0 ? { conditions } : {}),
		object: include === "None" ? null : include === "Object" ? object : partialOf(object, version),
	};
}

export function partialOf(object: KubeObject, version: "v1" | "v1beta1"): object {
	return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

export function listKindOf(type: ResourceType): { readonly kind: string; readonly apiVersion: string } {
	return { kind: type.custom?.listKind ?? `${type.kind}List`, apiVersion: apiVersionOf(type) };
}
