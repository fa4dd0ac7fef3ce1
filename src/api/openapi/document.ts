/**
 * OpenAPI v3: an index, and a document per group-version, made when they are asked for.
 *
 * kubectl reads them for `explain`, and before every create, apply, replace and edit to learn whether the server
 * checks fields itself.
 *
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
 */
import { apiVersionOf } from "../resource.ts";
import { messageNameOf } from "../schema/schema.ts";
import { customModels } from "./custom-models.ts";
import { type DocumentedResource, pathsOf } from "./paths.ts";
import { schemaName } from "./schema-names.ts";
import { listSchema, type Schema, schemasOf } from "./schemas.ts";

export type { DocumentedResource } from "./paths.ts";

export interface OpenApiIndex {
	readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

export interface OpenApiDocument {
	readonly openapi: "3.0.0";
	readonly info: { readonly title: string; readonly version: string };
	readonly paths: Readonly<Record<string, unknown>>;
	readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Where the document of a group-version (`v1`, `apps/v1`) is, below `/openapi/v3/`. */
export function openApiKey(groupVersion: string): string {
	return groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
}

/** @param documents Each with the hash of its content, by which clients keep what they have read for ever. */
export function openApiIndex(
	documents: readonly { readonly groupVersion: string; readonly hash: string }[],
): OpenApiIndex {
	const entries = documents.map(({ groupVersion, hash }) => {
		const key = openApiKey(groupVersion);
		return [key, { serverRelativeURL: `/openapi/v3/${key}?hash=${hash}` }] as const;
	});
	return { paths: Object.fromEntries(entries) };
}

/** @param resources Of any group-version; those of others are left out. */
export function openApiV3Document(groupVersion: string, resources: readonly DocumentedResource[]): OpenApiDocument {
	const served = resources.filter((resource) => apiVersionOf(resource) === groupVersion);
	const kinds = new Set(served.filter(({ custom }) => custom === undefined).map((resource) => resource.schema));
	const subresourceKinds = served.flatMap((resource) =>
		resource.subresources.flatMap(({ kind }) =>
			kind === undefined ? [] : (messageNameOf(kind.group, kind.kind) ?? []),
		),
	);
	const lists = [...kinds].map((name) => [`${schemaName(name)}List`, listSchema(name)]);
	return {
		openapi: "3.0.0",
		info: { title: "Kubernetes", version: "unversioned" },
		paths: pathsOf(`/${openApiKey(groupVersion)}`, served),
		components: {
			schemas: {
				...schemasOf([...kinds, ...subresourceKinds, ...META]),
				...Object.fromEntries(lists),
				...customModels(served),
			},
		},
	};
}

const META = ["meta.Status", "meta.ListMeta", "meta.DeleteOptions", "meta.ObjectMeta"] as const;

/**
 * A name for a document's content: 128 bits of FNV-1a, in upper-case hexadecimal. It tells documents of the same
 * server apart; nothing depends on its being hard to forge.
 */
export function openApiHash(text: string): string {
	const lanes = [0x811c9dc5, 0x01000193, 0x9e3779b9, 0x85ebca6b].map((seed) => fnv1a(text, seed));
	return lanes
		.map((lane) => lane.toString(16).padStart(8, "0"))
		.join("")
		.toUpperCase();
}

function fnv1a(text: string, seed: number): number {
	let hash = seed;
	for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	return hash >>> 0;
}
