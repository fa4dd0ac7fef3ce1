import type { ResourceType } from "../api/resource.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { deepEqual } from "../kernel/json.ts";

/** Whether an update is of the kind that makes `metadata.generation` rise. */
export function raisesGeneration(type: ResourceType, next: KubeObject, stored: KubeObject): boolean {
	const differs = (field: string): boolean => !deepEqual(partOf(next, field), partOf(stored, field));
	switch (type.generation) {
		case "never":
			return false;
		case "spec":
			return differs("spec");
		case "spec-or-annotations":
			return differs("spec") || !deepEqual(next.metadata.annotations ?? {}, stored.metadata.annotations ?? {});
		case "all-but-metadata":
			return !deepEqual({ ...next, metadata: undefined }, { ...stored, metadata: undefined });
		case "all-but-metadata-or-labels":
			return (
				!deepEqual({ ...next, metadata: undefined }, { ...stored, metadata: undefined }) ||
				!deepEqual(next.metadata.labels ?? {}, stored.metadata.labels ?? {})
			);
	}
}

function partOf(object: KubeObject, field: string): unknown {
	return Object.hasOwn(object, field) ? (object as KubeObject & Record<string, unknown>)[field] : undefined;
}
