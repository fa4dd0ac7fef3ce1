/** Roles and bindings that every cluster has: made when they are missing, mended when rights were lost. */
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES } from "../api/resource-names.ts";
import type { ClusterRole, RoleBinding } from "../api/types/rbac.ts";
import { deepEqual } from "../kernel/json.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ignoreAlreadyExists } from "../machinery/expected-errors.ts";
import { aggregatedRules } from "../plan/access/aggregate.ts";
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from "../plan/access/bootstrap-roles.ts";
import { CONTROLLER_BINDINGS, CONTROLLER_ROLES } from "../plan/access/controller-roles.ts";
import type { BindingDraft, RoleDraft } from "../plan/access/drafts.ts";
import { mendedBinding, mendedRole } from "../plan/access/mended-role.ts";

/** Roles come first, so that no binding names one that is not there; all of a kind at once, for a store on disk. */
export async function bootstrapAccess(client: ApiClient): Promise<void> {
	const roles = await client.list(CLUSTER_ROLES, {});
	const storedRoles = new Map(roles.items.map((role) => [role.metadata.name, role]));
	const wanted = [...BOOTSTRAP_ROLES, ...CONTROLLER_ROLES];
	await Promise.all(wanted.map((role) => keepRole(client, role, storedRoles.get(role.metadata.name))));
	await fillAggregated(client);
	const bindings = await client.list(CLUSTER_ROLE_BINDINGS, {});
	const storedBindings = new Map(bindings.items.map((binding) => [binding.metadata.name, binding]));
	await Promise.all(
		[...BOOTSTRAP_BINDINGS, ...CONTROLLER_BINDINGS].map((binding) =>
			keepBinding(client, binding, storedBindings.get(binding.metadata.name)),
		),
	);
}

async function keepRole(client: ApiClient, wanted: RoleDraft, stored: ClusterRole | undefined): Promise<void> {
	if (stored === undefined) {
		await ignoreAlreadyExists(client.create(CLUSTER_ROLES, "", wanted));
		return;
	}
	const mended = mendedRole(stored, wanted);
	if (mended !== undefined) await client.update(CLUSTER_ROLES, mended);
}

/** So that nobody has to wait for the controller that does this from then on. */
async function fillAggregated(client: ApiClient): Promise<void> {
	// In their order: `admin` takes from `edit`, which takes from `view`.
	for (const name of ["view", "edit", "admin"]) {
		const { items } = await client.list(CLUSTER_ROLES, {});
		const role = items.find(({ metadata }) => metadata.name === name);
		const rules = role === undefined ? undefined : aggregatedRules(role, items);
		if (role === undefined || rules === undefined || deepEqual(rules, role.rules ?? [])) continue;
		await client.update(CLUSTER_ROLES, { ...role, rules });
	}
}

async function keepBinding(client: ApiClient, wanted: BindingDraft, stored: RoleBinding | undefined): Promise<void> {
	const mended = stored === undefined ? undefined : mendedBinding(stored, wanted);
	if (stored !== undefined && mended === undefined) return;
	if (mended?.kind === "update") {
		await client.update(CLUSTER_ROLE_BINDINGS, mended.binding);
		return;
	}
	if (mended !== undefined) await client.delete(CLUSTER_ROLE_BINDINGS, { namespace: "", name: wanted.metadata.name });
	await ignoreAlreadyExists(client.create(CLUSTER_ROLE_BINDINGS, "", wanted));
}
