/** Roles and bindings that every cluster has: made when they are missing, mended when rights were lost. */
import type { Resource } from "../api/resource.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { Draft, KubeObject } from "../api/types/meta.ts";
import type { ClusterRole, RoleBinding } from "../api/types/rbac.ts";
import { deepEqual } from "../kernel/json.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ignoreNotFound } from "../machinery/expected-errors.ts";
import { aggregatedRules } from "../plan/access/aggregate.ts";
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from "../plan/access/bootstrap-roles.ts";
import { CONTROLLER_BINDINGS, CONTROLLER_ROLES } from "../plan/access/controller-roles.ts";
import type { BindingDraft, BootstrapMetadata, RoleDraft } from "../plan/access/drafts.ts";
import { mendedBinding, mendedRole } from "../plan/access/mended-role.ts";

/** How often one object may be written by others between a look at it and the write. */
const TRIES_MAX = 20;

/** Roles come first, so that no binding names one that is not there; all of a kind at once, for a store on disk. */
export async function bootstrapAccess(client: ApiClient): Promise<void> {
	const roles = await client.list(CLUSTER_ROLES, {});
	const storedRoles = new Map(roles.items.map((role) => [role.metadata.name, role]));
	await Promise.all(
		[...BOOTSTRAP_ROLES, ...CONTROLLER_ROLES].map((wanted) =>
			kept(client, CLUSTER_ROLES, wanted, storedRoles.get(wanted.metadata.name), keepRole),
		),
	);
	// In their order: `admin` takes from `edit`, which takes from `view`.
	for (const name of ["view", "edit", "admin"]) await untilDone(() => fillAggregated(client, name));
	const bindings = await client.list(CLUSTER_ROLE_BINDINGS, {});
	const storedBindings = new Map(bindings.items.map((binding) => [binding.metadata.name, binding]));
	await Promise.all(
		[...BOOTSTRAP_BINDINGS, ...CONTROLLER_BINDINGS].map((wanted) =>
			kept(client, CLUSTER_ROLE_BINDINGS, wanted, storedBindings.get(wanted.metadata.name), keepBinding),
		),
	);
}

/** @param listed What a list has shown; after a try that came too late the object itself is looked at. */
function kept<T extends KubeObject, D extends Draft<T> & BootstrapMetadata>(
	client: ApiClient,
	resource: Resource<T>,
	wanted: D,
	listed: T | undefined,
	keep: (client: ApiClient, wanted: D, stored: T | undefined) => Promise<void>,
): Promise<void> {
	const { name } = wanted.metadata;
	return untilDone(async (tries) => {
		const stored = tries === 0 ? listed : await ignoreNotFound(client.get(resource, { namespace: "", name }));
		await keep(client, wanted, stored);
	});
}

/** Servers that start at once on one store do the same: whoever comes too late looks anew at what is left to do. */
async function untilDone(attempt: (tries: number) => Promise<void>): Promise<void> {
	for (let tries = 0; ; tries++) {
		try {
			return await attempt(tries);
		} catch (error) {
			const isLate = LATE.some((reason) => hasReason(error, reason));
			if (!isLate || tries === TRIES_MAX) throw error;
		}
	}
}

const LATE = ["Conflict", "AlreadyExists", "NotFound"] as const;

async function keepRole(client: ApiClient, wanted: RoleDraft, stored: ClusterRole | undefined): Promise<void> {
	if (stored === undefined) {
		await client.create(CLUSTER_ROLES, "", wanted);
		return;
	}
	const mended = mendedRole(stored, wanted);
	if (mended !== undefined) await client.update(CLUSTER_ROLES, mended);
}

/** So that nobody has to wait for the controller that does this from then on. */
async function fillAggregated(client: ApiClient, name: string): Promise<void> {
	const { items } = await client.list(CLUSTER_ROLES, {});
	const role = items.find(({ metadata }) => metadata.name === name);
	const rules = role === undefined ? undefined : aggregatedRules(role, items);
	if (role === undefined || rules === undefined || deepEqual(rules, role.rules ?? [])) return;
	await client.update(CLUSTER_ROLES, { ...role, rules });
}

async function keepBinding(client: ApiClient, wanted: BindingDraft, stored: RoleBinding | undefined): Promise<void> {
	const mended = stored === undefined ? undefined : mendedBinding(stored, wanted);
	if (stored !== undefined && mended === undefined) return;
	if (mended?.kind === "update") {
		await client.update(CLUSTER_ROLE_BINDINGS, mended.binding);
		return;
	}
	if (stored !== undefined) {
		const { name, uid, resourceVersion } = stored.metadata;
		// Only what was looked at: another server may have replaced it already.
		await client.delete(CLUSTER_ROLE_BINDINGS, { namespace: "", name }, { preconditions: { uid, resourceVersion } });
	}
	await client.create(CLUSTER_ROLE_BINDINGS, "", wanted);
}
