/** `up -f`: what kubectl apply would do with a file, as far as a new plane needs it. */
import { apiVersionOf, type Resource } from "../api/resource.ts";
import { resourceOfKind } from "../api/resource-table.ts";
import { hasReason } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
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
	for (const { line, value } of parsed.documents) {
		const items = value["kind"] === "List" && Array.isArray(value["items"]) ? value["items"] : [value];
		for (const item of items) {
			try {
				progress(await applyOne(client, item));
			} catch (error) {
				throw new Error(`${file}: line ${line}: ${error instanceof Error ? error.message : String(error)}`, {
					cause: error,
				});
			}
		}
	}
}

async function applyOne(client: ApiClient, value: unknown): Promise<string> {
	const { resource, draft } = manifestOf(value);
	const { name = "" } = draft.metadata;
	const namespace = resource.namespaced ? (draft.metadata.namespace ?? "default") : "";
	const shown = `${resource.kind.toLowerCase()}${resource.group === "" ? "" : `.${resource.group}`}/${name}`;
	try {
		await client.create(resource, namespace, draft);
		return `${shown} created`;
	} catch (error) {
		if (!hasReason(error, "AlreadyExists")) throw error;
	}
	await client.patch(resource, { namespace, name }, { type: "strategic", body: draft });
	return `${shown} configured`;
}

interface Manifest {
	readonly resource: Resource;
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
