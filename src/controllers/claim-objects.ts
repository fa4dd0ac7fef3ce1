/** Takes over what a workload may claim, and lets go of what its selector no longer matches. */
import { keyOf, type Resource, splitKey } from "../api/resource.ts";
import type { KubeObject, LabelSelector } from "../api/types/meta.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { claimsOf } from "../plan/workloads/claims.ts";
import { controllerReference } from "../plan/workloads/owned-by.ts";

export interface Claimant<O extends KubeObject> {
	readonly client: ApiClient;
	readonly resource: Resource<O>;
	readonly owner: O;
	readonly selector: LabelSelector;
	/** Told of every write, with the resourceVersion that it made. */
	wrote(resourceVersion: string | undefined): void;
}

/** Resolves with the objects that are the workload's now, as they are now. */
export async function claimObjects<O extends KubeObject, T extends KubeObject>(
	claimant: Claimant<O>,
	resource: Resource<T>,
	candidates: readonly T[],
): Promise<readonly T[]> {
	const { kept, adopted, released } = claimsOf(claimant.owner, claimant.selector, candidates);
	for (const object of released) await release(claimant, resource, object);
	if (adopted.length === 0 || !(await isStillThere(claimant))) return kept;
	const taken: T[] = [];
	for (const object of adopted) taken.push(...(await adopt(claimant, resource, object)));
	return [...kept, ...taken];
}

/**
 * The cache may be behind: an owner that is being deleted, such as one that orphans its dependents, must not
 * take them back, or they would be deleted with it.
 */
async function isStillThere<O extends KubeObject>({ client, resource, owner }: Claimant<O>): Promise<boolean> {
	const { uid, namespace = "", name } = owner.metadata;
	const live = await ignoreNotFound(client.get(resource, { namespace, name }));
	return live?.metadata.uid === uid && live.metadata.deletionTimestamp === undefined;
}

async function adopt<O extends KubeObject, T extends KubeObject>(
	claimant: Claimant<O>,
	resource: Resource<T>,
	object: T,
): Promise<readonly T[]> {
	const ownerReferences = [controllerReference(claimant.resource, claimant.owner)];
	const adopted = await patchOwners(claimant, resource, object, ownerReferences);
	return adopted === undefined ? [] : [adopted];
}

async function release<O extends KubeObject, T extends KubeObject>(
	claimant: Claimant<O>,
	resource: Resource<T>,
	object: T,
): Promise<void> {
	await patchOwners(claimant, resource, object, [{ $patch: "delete", uid: claimant.owner.metadata.uid }]);
}

/** The uid makes sure that it is this object, and not another one that has taken its name. */
async function patchOwners<O extends KubeObject, T extends KubeObject>(
	{ client, wrote }: Claimant<O>,
	resource: Resource<T>,
	object: T,
	ownerReferences: readonly object[],
): Promise<T | undefined> {
	const body = { metadata: { uid: object.metadata.uid, ownerReferences } };
	const patched = await ignoreNotFound(client.patch(resource, splitKey(keyOf(object)), { type: "strategic", body }));
	wrote(patched?.metadata.resourceVersion);
	return patched;
}
