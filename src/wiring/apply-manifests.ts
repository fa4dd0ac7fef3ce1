/** `up -f`: what kubectl apply would do with a file, as far as a new plane needs it. */
import { apiVersionOf, type ResourceType } from "../api/resource.ts";
import { CUSTOM_RESOURCE_DEFINITIONS } from "../api/resource-names.ts";
import { resourceOfKind } from "../api/resource-table.ts";
import { decodeObject } from "../api/schema/decode.ts";
import { hasReason } from "../api/status.ts";
import { customTypes, hasCondition } from "../api/structural/custom-type.ts";
import type { CustomResourceDefinition } from "../api/types/apiextensions.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import { duplicateFields } from "../apiserver/http/duplicate-fields.ts";
import { parseManifests } from "../edge/codec/yaml.ts";
import { isObject } from "../kernel/json.ts";
import type { ApiClient } from "../machinery/api-client.ts";

/**
 * Creates each object, or brings the one of its name in line. Stops at the first that is refused. Definitions of custom
 * resources go first, whatever their place, and are waited for.
 */
export async function applyManifests(
	client: ApiClient,
	file: string,
	text: string,
	progress: (text: string) => void,
): Promise<void> {
	const parsed = await parseManifests(text);
	if (parsed.kind === "malformed") throw new Error(`${file}: ${parsed.message}`);
	// YAML refuses what comes twice; JSON takes the last in silence.
	const duplicates = isJson(text) ? duplicateFields(text) : [];
	const items = parsed.documents.flatMap(({ line, value }) => itemsOf(value).map((item) => ({ line, item })));
	if (items.length === 0) progress(`nothing to apply in ${file}`);
	for (const { line, item } of [...items.filter(isDefinition), ...items.filter((each) => !isDefinition(each))]) {
		try {
			const manifest = await manifestOf(client, item);
			progress(await applyOne(client, manifest, duplicates));
			if (isDefinition({ item })) await established(client, manifest.draft.metadata.name ?? "");
		} catch (error) {
			throw new Error(`${file}: line ${line}: ${error instanceof Error ? error.message : String(error)}`, {
				cause: error,
			});
		}
	}
}

function isDefinition({ item }: { readonly item: unknown }): boolean {
	return isObject(item) && item["kind"] === CUSTOM_RESOURCE_DEFINITIONS.kind;
}

/** Resolves when objects of the definition can be made. */
async function established(client: ApiClient, name: string): Promise<void> {
	const stopping = new AbortController();
	const { items, resourceVersion } = await client.list(CUSTOM_RESOURCE_DEFINITIONS, {});
	const isDone = (object: KubeObject): boolean => {
		if (object.metadata.name !== name) return false;
		const conflict = (object as CustomResourceDefinition).status?.conditions?.find(
			({ type, status }) => type === "NamesAccepted" && status === "False",
		);
		if (conflict !== undefined) throw new Error(`${name} is not served: ${conflict.message ?? conflict.reason}`);
		return hasCondition(object as CustomResourceDefinition, "Established");
	};
	if (items.some(isDone)) return;
	const { signal } = stopping;
	for await (const events of client.watch(CUSTOM_RESOURCE_DEFINITIONS, { resourceVersion, signal })) {
		if (events.some((event) => event.type === "MODIFIED" && isDone(event.object))) stopping.abort();
	}
}

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}

function itemsOf(value: Readonly<Record<string, unknown>>): readonly unknown[] {
	return value["kind"] === "List" && Array.isArray(value["items"]) ? value["items"] : [value];
}

async function applyOne(
	client: ApiClient,
	{ resource, draft }: Manifest,
	duplicates: readonly string[],
): Promise<string> {
	const { name = "" } = draft.metadata;
	const namespace = resource.namespaced ? (draft.metadata.namespace ?? "default") : "";
	const shown = `${resource.kind.toLowerCase()}${resource.group === "" ? "" : `.${resource.group}`}/${name}`;
	const oddities = [...duplicates, ...unknownFields(resource, draft)];
	if (oddities.length > 0) throw new Error(`${shown}: strict decoding error: ${oddities.join(", ")}`);
	try {
		await client.create(resource, namespace, draft);
		return `${shown} created`;
	} catch (error) {
		if (!hasReason(error, "AlreadyExists")) throw error;
	}
	const key = { namespace, name };
	const before = await client.get(resource, key);
	const after = await client.patch(resource, key, {
		type: resource.custom === undefined ? "strategic" : "merge",
		body: draft,
	});
	const isSame = before.metadata.resourceVersion === after.metadata.resourceVersion;
	return `${shown} ${isSame ? "unchanged" : "configured"}`;
}

/** As kubectl's own default: a field with a typing error is better refused than lost. Wrong types are the API's to say. */
function unknownFields(resource: ResourceType, draft: Draft<KubeObject>): readonly string[] {
	const expected = { apiVersion: apiVersionOf(resource), kind: resource.kind };
	const decoded = resource.decode?.(draft, expected) ?? decodeObject(resource.schema, draft, expected);
	return decoded.kind === "ok" ? decoded.unknown : [];
}

interface Manifest {
	readonly resource: ResourceType;
	readonly draft: Draft<KubeObject>;
}

async function manifestOf(client: ApiClient, value: unknown): Promise<Manifest> {
	if (!isObject(value)) throw new Error("want an object with apiVersion, kind and metadata");
	const { apiVersion, kind, metadata } = value;
	if (typeof apiVersion !== "string" || typeof kind !== "string")
		throw new Error("want apiVersion and kind, two strings");
	const resource = resourceOfKind(apiVersion, kind) ?? (await customOfKind(client, apiVersion, kind));
	if (resource === undefined) {
		const what = `no kind ${JSON.stringify(kind)} is served in version ${apiVersion}`;
		throw new Error(`${what}: for a custom resource, apply its CustomResourceDefinition first`);
	}
	if (!isObject(metadata)) throw new Error(`${kind}: want metadata with a name`);
	return { resource, draft: { ...value, apiVersion: apiVersionOf(resource), kind, metadata } };
}

async function customOfKind(client: ApiClient, apiVersion: string, kind: string): Promise<ResourceType | undefined> {
	const { items } = await client.list(CUSTOM_RESOURCE_DEFINITIONS, {});
	const types = items.flatMap((definition) => customTypes(definition, undefined));
	return types.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
}
