/** Where a resource is on a server: paths and queries of requests. */
import type { Resource } from "../api/resource.ts";

export interface ResourcePlace {
	/** "" for cluster-scoped resources, and for reads over all namespaces. */
	readonly namespace: string;
	/** "" names the collection. */
	readonly name?: string;
	readonly subresource?: string;
}

/** `/apis/apps/v1/namespaces/default/deployments/web/scale` */
export function resourcePath(
	{ group, version, plural, namespaced }: Resource,
	{ namespace, name = "", subresource = "" }: ResourcePlace,
): string {
	const root = group === "" ? ["api", version] : ["apis", group, version];
	const scope = namespaced && namespace !== "" ? ["namespaces", namespace] : [];
	const segments = [...root, ...scope, plural, name, subresource].filter((segment) => segment !== "");
	return `/${segments.map(encodeURIComponent).join("/")}`;
}

/** `?a=1&b=2`, or "" when every value is undefined. */
export function queryText(values: Readonly<Record<string, string | undefined>>): string {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, value);
	const text = query.toString();
	return text === "" ? "" : `?${text}`;
}
