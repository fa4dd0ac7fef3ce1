/** `up -f`: what kubectl apply would do with a file, as far as a new plane needs it. */
import { apiVersionOf, type ResourceType } from "../api/resource.ts";
import { resourceOfKind } from "../api/resource-table.ts";
import { decodeObject } from "../api/schema/decode.ts";
import { hasReason } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import { duplicateFields } from "../apiserver/http/duplicate-fields.ts";
import { parseManifests } from "../edge/codec/yaml.ts";
import { isObject } from "../kernel/json.ts";
import type { ApiClient } from "../machinery/api-client.ts";

/** Creates each object, or brings the one of its name in line. Stops at the first that is refused. */
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
	for (const { line, item } of items) {
		try {
			progress(await applyOne(client, manifestOf(item), duplicates));
		} catch (error) {
			throw new Error(`${file}: line ${line}: ${error instanceof Error ? error.message : String(error)}`, {
				cause: error,
			});
		}
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
	const after = await client.patch(resource, key, { type: "strategic", body: draft });
	const isSame = before.metadata.resourceVersion === after.metadata.resourceVersion;
	return `${shown} ${isSame ? "unchanged" : "configured"}`;
}

/** As kubectl's own default: a field with a typing error is better refused than lost. Wrong types are the API's to say. */
function unknownFields(resource: ResourceType, draft: Draft<KubeObject>): readonly string[] {
	const expected = { apiVersion: apiVersionOf(resource), kind: resource.kind };
	const decoded = decodeObject(resource.schema, draft, expected);
	return decoded.kind === "ok" ? decoded.unknown : [];
}

interface Manifest {
	readonly resource: ResourceType;
	readonly draft: Draft<KubeObject>;
}

function manifestOf(value: unknown): Manifest {
	if (!isObject(value)) throw new Error("want an object with apiVersion, kind and metadata");
	const { apiVersion, kind, metadata } = value;
	if (typeof apiVersion !== "string" || typeof kind !== "string")
		throw new Error("want apiVersion and kind, two strings");
	const resource = resourceOfKind(apiVersion, kind);
	if (resource === undefined) throw new Error(`no kind ${JSON.stringify(kind)} is served in version ${apiVersion}`);
	if (!isObject(metadata)) throw new Error(`${kind}: want metadata with a name`);
	return { resource, draft: { ...value, apiVersion: apiVersionOf(resource), kind, metadata } };
}
