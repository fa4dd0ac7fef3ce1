/** `pods/eviction`: a delete that asks politely. PodDisruptionBudgets are not served, so nothing says no. */
import { badRequest, type Status } from "../../api/status.ts";
import { isObject, ownValue } from "../../kernel/json.ts";
import type { ServerPorts, Target } from "../ports.ts";
import { type DeleteFlags, deleteObject } from "../verbs/delete.ts";

export async function evictPod(
	ports: ServerPorts,
	target: Target,
	body: unknown,
	deletion: (options: unknown) => DeleteFlags,
): Promise<Status> {
	const metadata = isObject(body) ? ownValue(body, "metadata") : undefined;
	const name = isObject(metadata) ? ownValue(metadata, "name") : undefined;
	if (name !== target.name) throw badRequest("name in URL does not match name in Eviction object");
	await deleteObject(ports, target, deletion(isObject(body) ? ownValue(body, "deleteOptions") : undefined));
	return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}
