/** What may be made where: the life of namespaces. */

import { CUSTOM_RESOURCE_DEFINITION } from "../api/kinds/custom-resource-definition.ts";
import { NAMESPACES } from "../api/resource-names.ts";
import { ApiError, forbiddenFor, notFound } from "../api/status.ts";
import type { Namespace } from "../api/types/core.ts";
import type { Store } from "../store/store.ts";
import type { ServerPorts, Target } from "./ports.ts";

const NAMESPACE_SPACE = "/registry/namespaces/";

/** @throws {ApiError} `NotFound` without the namespace, `Forbidden` while it is being deleted. */
export function requireActiveNamespace({ store }: Pick<ServerPorts, "store">, target: Target, name: string): void {
	const { type, namespace } = target;
	if (type.custom !== undefined && isGoing(store, type)) throw goingResource(target);
	if (!type.namespaced) return;
	const found = store.space(NAMESPACE_SPACE).get(namespace)?.object as Namespace | undefined;
	if (found === undefined) throw notFound(NAMESPACES, namespace);
	if (found.metadata.deletionTimestamp === undefined && found.status?.phase !== "Terminating") return;
	const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
	throw forbiddenFor(type, name, why, [
		{
			reason: "NamespaceTerminating",
			message: `namespace ${namespace} is being terminated`,
			field: "metadata.namespace",
		},
	]);
}

/** The type of a request is that of its beginning: by now its definition may be on its way out, or gone. */
function isGoing(store: Store, { group, plural }: Target["type"]): boolean {
	const definition = store.space(CUSTOM_RESOURCE_DEFINITION.storagePrefix).get(`${plural}.${group}`)?.object;
	return definition === undefined || definition.metadata.deletionTimestamp !== undefined;
}

/** With its definition all objects of a custom resource go: no new ones come. */
function goingResource({ type }: Target): ApiError {
	return new ApiError("MethodNotAllowed", "create not allowed while custom resource definition is terminating", {
		details: { group: type.group, kind: type.plural },
	});
}

const KEPT_FOR_EVER: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** @throws {ApiError} `Forbidden` for the namespaces that every cluster has. */
export function requireDeletable({ type, name }: Target): void {
	if (type.storagePrefix === NAMESPACE_SPACE && KEPT_FOR_EVER.has(name)) {
		throw forbiddenFor(type, name, "this namespace may not be deleted");
	}
}
