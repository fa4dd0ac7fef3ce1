/** From a path to what it names. */

export interface ResourcePath {
	readonly kind: "resource";
	readonly group: string;
	readonly version: string;
	readonly plural: string;
	/** "" for cluster-scoped resources and for reads over all namespaces. */
	readonly namespace: string;
	/** "" names the collection. */
	readonly name: string;
	readonly subresource: string | undefined;
	/** Of a proxy: what follows the subresource, with its leading slash. */
	readonly rest: string;
}

export type Route = ResourcePath | { readonly kind: "path"; readonly path: string } | { readonly kind: "bad-name" };

/** Subresources of the Namespace itself: any other word there is a plural. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

export function routeOf(path: string): Route {
	const segments = decodedSegments(path);
	if (segments === undefined) return { kind: "bad-name" };
	const [root] = segments;
	if (root === "api" && segments.length > 2) return resourcePath("", segments[1] ?? "", segments.slice(2));
	if (root === "apis" && segments.length > 3) {
		return resourcePath(segments[1] ?? "", segments[2] ?? "", segments.slice(3));
	}
	return { kind: "path", path };
}

/** undefined when a segment is no percent-encoding, or would mean another place once decoded. */
function decodedSegments(path: string): string[] | undefined {
	const segments: string[] = [];
	for (const raw of path.split("/").filter((segment) => segment !== "")) {
		try {
			segments.push(decodeURIComponent(raw));
		} catch {
			return undefined;
		}
	}
	return segments;
}

function resourcePath(group: string, version: string, rest: readonly string[]): Route {
	const [first = "", second, third, ...others] = rest;
	if (first === "namespaces" && second !== undefined && third !== undefined && !isOfNamespace(third, others)) {
		return resource(group, version, third, second, others);
	}
	return resource(group, version, first, "", rest.slice(1));
}

function isOfNamespace(word: string, others: readonly string[]): boolean {
	return NAMESPACE_SUBRESOURCES.has(word) && others.length === 0;
}

function resource(group: string, version: string, plural: string, namespace: string, rest: readonly string[]): Route {
	const [name = "", subresource, ...more] = rest;
	if (isBadName(name) || isBadName(namespace)) return { kind: "bad-name" };
	if (more.length > 0 && subresource !== "proxy") return { kind: "path", path: rest.join("/") };
	const tail = more.length > 0 ? `/${more.join("/")}` : "/";
	return { kind: "resource", group, version, plural, namespace, name, subresource, rest: tail };
}

function isBadName(segment: string): boolean {
	return segment === "." || segment === ".." || segment.includes("/") || segment.includes("%");
}
