/** What `explain` looks at: a live cluster, or what kubectl printed of one. */

import type { Resource } from "../api/resource.ts";
import { hasReason } from "../api/status.ts";
import type { Endpoints, Node, Pod, Service } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { parseManifests } from "../edge/codec/yaml.ts";
import { type ClusterSnapshot, LOOKED_AT, snapshotOf, type Workload } from "../explain/snapshot.ts";
import { isObject } from "../kernel/json.ts";
import type { ApiClient } from "../machinery/api-client.ts";

/** YAML takes many times its size in memory, and minutes: JSON of the same is read as it is. */
const YAML_BYTES_MAX = 50 * 1024 * 1024;

/**
 * Lists what there is, read-only. A kind that may not be listed is missing in the snapshot, not an error.
 *
 * @param client Wants get and list on services, pods, endpoints, nodes, endpointslices, deployments, replicasets, statefulsets.
 */
export async function readCluster(client: ApiClient): Promise<ClusterSnapshot> {
	const missing: string[] = [];
	const list = async (resource: Resource): Promise<readonly KubeObject[]> => {
		try {
			return (await client.list(resource, {})).items;
		} catch (error) {
			if (!hasReason(error, "Forbidden") && !hasReason(error, "NotFound")) throw error;
			missing.push(resource.kind);
			return [];
		}
	};
	const lists = new Map(
		await Promise.all(LOOKED_AT.map(async (resource) => [resource, await list(resource)] as const)),
	);
	return snapshotOf((resource) => lists.get(resource) ?? [], missing);
}

/**
 * Objects of files: manifests, lists, what `kubectl get -o yaml` or `-o json` prints. A kind of which there is none counts
 * as not looked at. @throws {Error} A sentence that names the file.
 */
export async function readFiles(
	files: readonly { readonly file: string; readonly text: string }[],
): Promise<ClusterSnapshot> {
	const objects: KubeObject[] = [];
	for (const { file, text } of files) objects.push(...(await objectsOf(file, text)));
	const ofKind = <T extends KubeObject>(...kinds: readonly string[]): readonly T[] =>
		objects.filter(({ kind }) => kinds.includes(kind)) as readonly KubeObject[] as readonly T[];
	const snapshot = {
		services: ofKind<Service>("Service"),
		pods: ofKind<Pod>("Pod"),
		endpoints: ofKind<Endpoints>("Endpoints"),
		slices: ofKind<EndpointSlice>("EndpointSlice"),
		nodes: ofKind<Node>("Node"),
		workloads: ofKind<Workload>("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"),
	};
	const looked = {
		Pod: snapshot.pods,
		Endpoints: snapshot.endpoints,
		EndpointSlice: snapshot.slices,
		Node: snapshot.nodes,
	};
	const missing = Object.entries(looked).flatMap(([kind, list]) => (list.length === 0 ? [kind] : []));
	return { ...snapshot, missing };
}

async function objectsOf(file: string, text: string): Promise<readonly KubeObject[]> {
	if (text.trimStart().startsWith("{")) return parsedJson(file, text);
	if (text.length > YAML_BYTES_MAX) {
		throw new Error(
			`${file}: ${Math.round(text.length / 2 ** 20)} MiB of YAML, at most 50 are read: take kubectl get -o json`,
		);
	}
	const parsed = await parseManifests(text);
	if (parsed.kind === "malformed") throw new Error(`${file}: ${parsed.message}`);
	return parsed.documents.flatMap(({ value }) => itemsOf(value));
}

function parsedJson(file: string, text: string): readonly KubeObject[] {
	try {
		return itemsOf(JSON.parse(text));
	} catch (error) {
		throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
	}
}

/** What is no object of Kubernetes is passed over. */
function itemsOf(value: unknown): readonly KubeObject[] {
	if (!isObject(value)) return [];
	const items = value["items"];
	const kind = value["kind"];
	if (Array.isArray(items)) {
		const itemKind = typeof kind === "string" && kind !== "List" ? kind.replace(/List$/, "") : "";
		return items.flatMap((item) =>
			itemsOf(isObject(item) && item["kind"] === undefined ? { kind: itemKind, ...item } : item),
		);
	}
	const metadata = value["metadata"];
	if (typeof kind !== "string" || !isObject(metadata) || typeof metadata["name"] !== "string") return [];
	return [placed({ ...value, kind, metadata } as Readonly<Record<string, unknown>> & Placeable)];
}

interface Placeable {
	readonly kind: string;
	readonly metadata: Readonly<Record<string, unknown>>;
}

/** A manifest that names no namespace is meant for the default one; specs that are left out are empty. */
function placed(object: Readonly<Record<string, unknown>> & Placeable): KubeObject {
	const metadata = object.kind === "Node" ? object.metadata : { namespace: "default", ...object.metadata };
	const spec =
		object.kind === "Service" || object.kind === "Pod"
			? { spec: { containers: [], ...(object["spec"] as object | undefined) } }
			: {};
	// Whatever else is missing, the checks do without.
	const made: object = { ...object, metadata, ...spec };
	return made as KubeObject;
}
