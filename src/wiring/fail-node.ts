/** Makes a simulated node fall silent, or brings it back. */
import { NODES } from "../api/resource-names.ts";
import { FAILED_ANNOTATION } from "../kubelet/heartbeats.ts";
import { SIMULATED_RUNTIME } from "../kubelet/node-pool.ts";
import type { ApiClient } from "../machinery/api-client.ts";

/** @throws {Error} For a node that no plane simulates: what is written on it would change nothing. */
export async function setNodeFailed(client: ApiClient, name: string, isFailed: boolean): Promise<void> {
	const key = { namespace: "", name };
	const { status } = await client.get(NODES, key);
	if (status?.nodeInfo?.["containerRuntimeVersion"] !== SIMULATED_RUNTIME) {
		throw new Error(`node/${name} is not a simulated node: only those can be told to fail`);
	}
	const body = { metadata: { annotations: { [FAILED_ANNOTATION]: isFailed ? "true" : null } } };
	await client.patch(NODES, key, { type: "merge", body });
}
