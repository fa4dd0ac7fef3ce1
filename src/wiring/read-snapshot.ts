/** What `explain` looks at in a live cluster. */
import { keyOf, type Resource } from "../api/resource.ts";
import { ENDPOINT_SLICES, EVENTS, LEASES, PODS } from "../api/resource-names.ts";
import { type ApiError, hasReason } from "../api/status.ts";
import type { Lease } from "../api/types/coordination.ts";
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import type { KubeObject } from "../api/types/meta.ts";
import { keptFields } from "../explain/kept-fields.ts";
import { type ClusterSnapshot, LOOKED_AT, missingBut, snapshotOf } from "../explain/snapshot.ts";
import type { ApiClient, ListOptions } from "../machinery/api-client.ts";

export interface ReadOptions {
	/** Read alone where the whole cluster may not be. */
	readonly namespace?: string;
	/** The time now, wall milliseconds. */
	readonly nowMs?: number;
	/** Told of each right without which something was not looked at. */
	readonly refused?: (error: ApiError) => void;
}

/** Who leads among the controllers that make slices; clusters that hide their control plane may have none. */
const LEADER = { namespace: "kube-system", name: "kube-controller-manager" };

/**
 * Lists what there is, read-only. A kind that may not be listed is missing in the snapshot, not an error.
 *
 * @param client Wants the rights that docs/explain.md lists.
 */
export async function readCluster(client: ApiClient, options: ReadOptions = {}): Promise<ClusterSnapshot> {
	const reader = new Reader(client, options);
	const slicesRead = reader.list(ENDPOINT_SLICES);
	const others = LOOKED_AT.filter((resource) => resource !== PODS && resource !== ENDPOINT_SLICES);
	// All are waited for together: one that fails while another is waited for would end the program.
	const [slices, pods, leases, read] = await Promise.all([
		slicesRead,
		// Pods come after slices: one that a slice lists and that is not there is gone, and not yet to come.
		slicesRead.then(() => reader.list(PODS)),
		reader.leaderLease(),
		Promise.all(others.map(async (resource) => [resource, await reader.list(resource)] as const)),
	]);
	const lists = new Map<Resource, readonly KubeObject[]>(read);
	lists.set(PODS, pods);
	lists.set(ENDPOINT_SLICES, await settled(reader, slices as readonly EndpointSlice[], pods));
	const found = snapshotOf((resource) => lists.get(resource) ?? [], reader.missing());
	return { ...found, leases, ...(options.nowMs === undefined ? {} : { takenMs: options.nowMs }) };
}

/** Lists take their time: what a slice lists of Pods that are gone counts only if it still does so when asked again. */
async function settled(
	reader: Reader,
	slices: readonly EndpointSlice[],
	pods: readonly KubeObject[],
): Promise<readonly EndpointSlice[]> {
	const there = new Set(pods.map(keyOf));
	const isGone = (endpoint: Endpoint): boolean => {
		const key = podKeyOf(endpoint);
		return key !== undefined && !there.has(key);
	};
	if (reader.isMissing(PODS) || !slices.some((slice) => (slice.endpoints ?? []).some(isGone))) return slices;
	const again = (await reader.list(ENDPOINT_SLICES)) as readonly EndpointSlice[];
	const still = new Set(again.flatMap((slice) => (slice.endpoints ?? []).flatMap((each) => podKeyOf(each) ?? [])));
	return slices.map((slice) => ({
		...slice,
		endpoints: (slice.endpoints ?? []).filter((each) => !isGone(each) || still.has(podKeyOf(each) ?? "")),
	}));
}

function podKeyOf({ targetRef }: Endpoint): string | undefined {
	return targetRef?.kind === "Pod" ? `${targetRef.namespace ?? ""}/${targetRef.name ?? ""}` : undefined;
}

/** What of each kind of object Events are about, in parts: a selector knows no "or". */
const EVENTS_OF: readonly string[] = [
	"involvedObject.kind=Pod",
	"involvedObject.kind=ReplicaSet,reason=FailedCreate",
	"involvedObject.kind=StatefulSet,reason=FailedCreate",
];

/** How much of a kind was looked at. */
type Sight = "all" | "of the namespace" | "none";

class Reader {
	readonly #client: ApiClient;
	readonly #options: ReadOptions;
	readonly #sights = new Map<string, Sight>();

	constructor(client: ApiClient, options: ReadOptions) {
		this.#client = client;
		this.#options = options;
	}

	async list(resource: Resource): Promise<readonly KubeObject[]> {
		if (resource !== EVENTS) return await this.#list(resource, {});
		const found: KubeObject[] = [];
		for (const fieldSelector of EVENTS_OF) found.push(...(await this.#list(resource, { fieldSelector })));
		return found;
	}

	/** All of it, or that of the namespace. */
	async #list(resource: Resource, options: ListOptions): Promise<readonly KubeObject[]> {
		const { namespace, refused = () => undefined } = this.#options;
		const all = await allowed(this.#client, resource, options);
		if (Array.isArray(all)) return this.#saw(resource, "all", all);
		const isNarrower = namespace !== undefined && resource.namespaced;
		const own = isNarrower ? await allowed(this.#client, resource, { ...options, namespace }) : all;
		if (Array.isArray(own)) return this.#saw(resource, "of the namespace", own);
		refused(own as ApiError);
		return this.#saw(resource, "none", []);
	}

	#saw(resource: Resource, sight: Sight, items: readonly KubeObject[]): readonly KubeObject[] {
		this.#sights.set(resource.kind, sight);
		return items;
	}

	async leaderLease(): Promise<readonly Lease[]> {
		try {
			return [await this.#client.get(LEASES, LEADER)];
		} catch (error) {
			if (hasReason(error, "NotFound")) return [];
			if (!hasReason(error, "Forbidden")) throw error;
			this.#options.refused?.(error);
			this.#sights.set(LEASES.kind, "none");
			return [];
		}
	}

	isMissing({ kind }: Resource): boolean {
		return this.#sights.get(kind) !== "all";
	}

	/** In one order, whichever answer came first. */
	missing(): readonly string[] {
		const { namespace = "" } = this.#options;
		return [...LOOKED_AT, LEASES].flatMap(({ kind }) => {
			const sight = this.#sights.get(kind);
			if (sight === "none") return [kind];
			return sight === "of the namespace" ? [missingBut(kind, namespace)] : [];
		});
	}
}

/** The refusal, if that is forbidden, or the server does not know the kind. */
async function allowed(
	client: ApiClient,
	resource: Resource,
	options: ListOptions,
): Promise<readonly KubeObject[] | ApiError> {
	try {
		return await inPages(client, resource, options);
	} catch (error) {
		if (hasReason(error, "Forbidden") || hasReason(error, "NotFound")) return error;
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
