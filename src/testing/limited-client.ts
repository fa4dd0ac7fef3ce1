/** A client of a plane's own program that may do no more than the roles of every cluster give it. */
import type { RoleBinding } from "../api/types/rbac.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { BOOTSTRAP_BINDINGS, BOOTSTRAP_ROLES } from "../plan/access/bootstrap-roles.ts";
import { CONTROLLER_BINDINGS, CONTROLLER_ROLES } from "../plan/access/controller-roles.ts";
import { type AccessWorld, decide, grantsFor } from "../plan/access/grants.ts";
import { meta } from "./builders.ts";
import { type ClientCall, FaultyClient } from "./faulty-client.ts";

const ROLES = new Map(
	[...BOOTSTRAP_ROLES, ...CONTROLLER_ROLES].map(({ metadata, rules }) => [metadata.name, rules ?? []]),
);
const BINDINGS = [...BOOTSTRAP_BINDINGS, ...CONTROLLER_BINDINGS].map((draft): RoleBinding => {
	const kind = "ClusterRoleBinding";
	return { apiVersion: "rbac.authorization.k8s.io/v1", kind, ...draft, metadata: meta(draft.metadata.name) };
});
const WORLD: AccessWorld = {
	clusterRole: (name) => ROLES.get(name),
	role: () => undefined,
	clusterBindings: BINDINGS,
	bindings: () => [],
};

/** @param refused Told what the user asked for and may not do, such as `update pods/status`. */
export function limitedClient(client: ApiClient, userName: string, refused: (right: string) => void): ApiClient {
	const grants = grantsFor(WORLD, { name: userName, groups: ["system:authenticated"] }, "");
	return new FaultyClient(client, {
		call(about, send) {
			if (decide(grants, { kind: "resource", ...questionOf(about) }).allowed) return send();
			refused(rightOf(about));
			return Promise.reject(new Error(`${userName} may not ${rightOf(about)}`));
		},
	});
}

function questionOf({ verb, resource, subresource, namespace, name }: ClientCall) {
	const { group, plural } = resource;
	return { verb: verb === "post" ? "create" : verb, group, plural, subresource, namespace, name };
}

function rightOf(about: ClientCall): string {
	const { verb, plural, subresource } = questionOf(about);
	return `${verb} ${plural}${subresource === undefined ? "" : `/${subresource}`}`;
}
