/**
 * Discovery documents: what the server serves, in both encodings that clients read. They are made
 * from the table of resources, so that nothing is announced that is not there.
 */
import { groupBy, sortedBy } from "../kernel/order.ts";
import { apiVersionOf, type ResourceType, type Subresource } from "./resource.ts";

interface Kinded {
	readonly group: string;
	readonly version: string;
	readonly kind: string;
}

interface AggregatedSubresource {
	readonly subresource: string;
	readonly responseKind: Kinded;
	readonly verbs: readonly string[];
}

interface AggregatedResource {
	readonly resource: string;
	readonly responseKind: Kinded;
	readonly scope: "Namespaced" | "Cluster";
	readonly singularResource: string;
	readonly verbs: readonly string[];
	readonly shortNames?: readonly string[];
	readonly categories?: readonly string[];
	readonly subresources?: readonly AggregatedSubresource[];
}

interface AggregatedGroup {
	readonly metadata: { readonly name?: string; readonly creationTimestamp: null };
	readonly versions: readonly {
		readonly version: string;
		readonly freshness: "Current";
		readonly resources: readonly AggregatedResource[];
	}[];
}

export interface ApiGroupDiscoveryList {
	readonly kind: "APIGroupDiscoveryList";
	readonly apiVersion: string;
	readonly metadata: Readonly<Record<string, never>>;
	readonly items: readonly AggregatedGroup[];
}

/** Of a ResourceType, what discovery tells. */
export type DiscoveredType = Pick<
	ResourceType,
	| "group"
	| "version"
	| "kind"
	| "plural"
	| "singular"
	| "namespaced"
	| "shortNames"
	| "categories"
	| "verbs"
	| "subresources"
	| "schema"
	| "custom"
>;

/** `core` is the document at /api, `named` the one at /apis. The two versions have one shape. */
export function aggregatedDiscovery(
	types: readonly DiscoveredType[],
	groups: "core" | "named",
	version: "v2" | "v2beta1",
): ApiGroupDiscoveryList {
	const chosen = types.filter((type) => (type.group === "") === (groups === "core"));
	return {
		kind: "APIGroupDiscoveryList",
		apiVersion: `apidiscovery.k8s.io/${version}`,
		metadata: {},
		items: [...groupBy(chosen, (type) => type.group)].map(([name, members]) => ({
			metadata: { ...(name === "" ? {} : { name }), creationTimestamp: null },
			versions: [...groupBy(members, (type) => type.version)].map(([group, resources]) => ({
				version: group,
				resources: sortedBy(resources, ({ plural }) => plural).map(aggregatedResource),
				freshness: "Current",
			})),
		})),
	};
}

function aggregatedResource(type: DiscoveredType): AggregatedResource {
	return {
		resource: type.plural,
		responseKind: kindOf(type),
		scope: type.namespaced ? "Namespaced" : "Cluster",
		singularResource: type.singular,
		verbs: type.verbs,
		...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
		...(type.categories.length === 0 ? {} : { categories: type.categories }),
		...(type.subresources.length === 0
			? {}
			: { subresources: sortedSubresources(type).map((subresource) => aggregatedSubresource(type, subresource)) }),
	};
}

function kindOf({ group, version, kind }: Kinded): Kinded {
	return { group, version, kind };
}

function sortedSubresources(type: DiscoveredType): readonly Subresource[] {
	return sortedBy(type.subresources, ({ name }) => name);
}

function aggregatedSubresource(type: DiscoveredType, subresource: Subresource): AggregatedSubresource {
	return {
		subresource: subresource.name,
		responseKind: subresource.kind ?? kindOf(type),
		verbs: subresource.verbs,
	};
}

/** The legacy document at /api. `serverAddress` is `host:port`, where clients reach the server. */
export function apiVersions(serverAddress: string): object {
	return {
		kind: "APIVersions",
		versions: ["v1"],
		serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
	};
}

export interface ApiGroup {
	readonly name: string;
	readonly versions: readonly { readonly groupVersion: string; readonly version: string }[];
	readonly preferredVersion: { readonly groupVersion: string; readonly version: string };
}

/** The legacy document at /apis. */
export function apiGroupList(types: readonly DiscoveredType[]): object {
	return { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(types) };
}

/** The legacy document at /apis/<group>; undefined when nothing of the group is served. */
export function apiGroup(types: readonly DiscoveredType[], group: string): object | undefined {
	const found = groupsOf(types).find(({ name }) => name === group);
	return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...found };
}

function groupsOf(types: readonly DiscoveredType[]): readonly ApiGroup[] {
	const named = types.filter(({ group }) => group !== "");
	return [...groupBy(named, ({ group }) => group)].flatMap(([name, members]) => {
		const versions = [...new Set(members.map(({ version }) => version))].map((version) => ({
			groupVersion: `${name}/${version}`,
			version,
		}));
		const [preferredVersion] = versions;
		return preferredVersion === undefined ? [] : [{ name, versions, preferredVersion }];
	});
}

interface LegacyResource {
	readonly name: string;
	readonly singularName: string;
	readonly namespaced: boolean;
	readonly group?: string;
	readonly version?: string;
	readonly kind: string;
	readonly verbs: readonly string[];
	readonly shortNames?: readonly string[];
	readonly categories?: readonly string[];
}

export interface ApiResourceList {
	readonly kind: "APIResourceList";
	readonly apiVersion?: "v1";
	readonly groupVersion: string;
	readonly resources: readonly LegacyResource[];
}

/** The legacy document at /api/v1 and /apis/<group>/<version>; undefined when nothing of it is served. */
export function apiResourceList(
	types: readonly DiscoveredType[],
	group: string,
	version: string,
): ApiResourceList | undefined {
	const members = types.filter((type) => type.group === group && type.version === version);
	if (members.length === 0) return undefined;
	return {
		kind: "APIResourceList",
		// The core document of a real server has no apiVersion.
		...(group === "" ? {} : { apiVersion: "v1" as const }),
		groupVersion: apiVersionOf({ group, version }),
		resources: sortedBy(members, ({ plural }) => plural).flatMap((type) => [
			legacyResource(type),
			...sortedSubresources(type).map((subresource) => legacySubresource(type, subresource)),
		]),
	};
}

function legacyResource(type: DiscoveredType): LegacyResource {
	return {
		name: type.plural,
		singularName: type.singular,
		namespaced: type.namespaced,
		kind: type.kind,
		verbs: type.verbs,
		...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
		...(type.categories.length === 0 ? {} : { categories: type.categories }),
	};
}

/** The group of its kind is said only when it is another one. */
function legacySubresource(type: DiscoveredType, { name, kind, verbs }: Subresource): LegacyResource {
	const { group, version, kind: kindName } = kind ?? type;
	const isForeign = group !== type.group || version !== type.version;
	return {
		name: `${type.plural}/${name}`,
		singularName: "",
		namespaced: type.namespaced,
		...(isForeign ? { group, version } : {}),
		kind: kindName,
		verbs,
	};
}
