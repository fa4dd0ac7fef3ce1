/** What `explain` looks at in a live cluster. */
import type { Resource } from "../api/resource.ts";
import { EVENTS, LEASES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { keptFields } from "../explain/kept-fields.ts";
import { type ClusterSnapshot, LOOKED_AT, snapshotOf } from "../explain/snapshot.ts";
import type { ApiClient, ListOptions } from "../machinery/api-client.ts";

export interface ReadOptions {
	/** Read alone where the whole cluster may not be. */
	readonly namespace?: string;
	/** The time now, wall milliseconds. */
	readonly nowMs?: number;
}

/** Who leads among the controllers that make slices; clusters that hide their control plane may have none. */
const LEADER = { namespace: "kube-system", name: "kube-controller-manager" };

/**
 * Lists what there is, read-only. A kind that may not be listed is missing in the snapshot, not an error.
 *
 * @param client Wants the rights that docs/explain.md lists.
 */
export async function readCluster(client: ApiClient, { namespace, nowMs }: ReadOptions = {}): Promise<ClusterSnapshot> {
	const missing: string[] = [];
	const list = async (resource: Resource): Promise<readonly KubeObject[]> => {
		const options = resource === EVENTS ? { fieldSelector: "involvedObject.kind=Pod" } : {};
		const all = await allowed(client, resource, options);
		if (all !== undefined) return all;
		const own =
			namespace === undefined || !resource.namespaced
				? undefined
				: await allowed(client, resource, { ...options, namespace });
		missing.push(own === undefined ? resource.kind : `${resource.kind} of namespaces but ${namespace}`);
		return own ?? [];
	};
	const listed = await Promise.all(LOOKED_AT.map(async (resource) => [resource, await list(resource)] as const));
	const lists = new Map(listed);
	const leases = await leaderLease(client);
	if (leases === undefined) missing.push("Lease");
	const found = snapshotOf((resource) => lists.get(resource) ?? [], missing);
	return { ...found, leases: leases ?? [], ...(nowMs === undefined ? {} : { takenMs: nowMs }) };
}

/** Undefined: that is forbidden, or the server does not know the kind. */
async function allowed(
	client: ApiClient,
	resource: Resource,
	options: ListOptions,
): Promise<readonly KubeObject[] | undefined> {
	try {
		return await inPages(client, resource, options);
	} catch (error) {
		if (hasReason(error, "Forbidden") || hasReason(error, "NotFound")) return undefined;
		// The past that the pages are of is gone: what is there now is taken at once.
		if (hasReason(error, "Expired")) return (await client.list(resource, options)).items.map(abridged);
		throw error;
	}
}

/** As kubectl asks. Of each page only what is looked at stays: a large cluster's Pods are hundreds of megabytes. */
const PAGE = 500;

async function inPages(client: ApiClient, resource: Resource, options: ListOptions): Promise<readonly KubeObject[]> {
	const found: KubeObject[] = [];
	let next: string | undefined;
	do {
		const page = await client.list(resource, {
			...options,
			limit: PAGE,
			...(next === undefined ? {} : { continue: next }),
		});
		for (const item of page.items) found.push(abridged(item));
		next = page.continue;
	} while (next !== undefined);
	return found;
}

function abridged(object: KubeObject): KubeObject {
	const kept: object | undefined = keptFields({ ...object });
	return (kept as KubeObject | undefined) ?? object;
}

async function leaderLease(client: ApiClient): Promise<readonly Lease[] | undefined> {
	try {
		return [await client.get(LEASES, LEADER)];
	} catch (error) {
		if (hasReason(error, "NotFound")) return [];
		if (hasReason(error, "Forbidden")) return undefined;
		throw error;
	}
}
