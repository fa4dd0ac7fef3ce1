/** What clients need to know of a definition to reach its objects. */
import type { Resource } from "../resource.ts";
import type { CustomResourceDefinition } from "../types/apiextensions.ts";
import { hasCondition } from "./custom-type.ts";
import { byPriority } from "./version-priority.ts";

/** The resource of a definition in its preferred version; none until its names are accepted. */
export function customResources(definition: CustomResourceDefinition): readonly Resource[] {
	if (!hasCondition(definition, "Established")) return [];
	const { group, names, scope, versions } = definition.spec;
	const [version] = versions
		.filter(({ served }) => served)
		.map(({ name }) => name)
		.sort(byPriority);
	if (version === undefined) return [];
	return [{ group, version, kind: names.kind, plural: names.plural, namespaced: scope === "Namespaced" }];
}

/** Whether a definition serves this kind. */
export function servesKind({ spec }: CustomResourceDefinition, apiVersion: string, kind: string): boolean {
	return (
		spec.names.kind === kind &&
		spec.versions.some(({ name, served }) => served && `${spec.group}/${name}` === apiVersion)
	);
}
