/** What every cluster has from the start. */
import { NAMESPACES } from "../api/resource-names.ts";
import { hasReason } from "../api/status.ts";
import type { ApiClient } from "../machinery/api-client.ts";

const NAMESPACE_NAMES = ["default", "kube-system", "kube-public", "kube-node-lease"] as const;

/** Makes the namespaces that are not there yet. */
export async function bootstrap(client: ApiClient): Promise<void> {
	for (const name of NAMESPACE_NAMES) {
		await client.create(NAMESPACES, "", { metadata: { name } }).catch((error: unknown) => {
			if (!hasReason(error, "AlreadyExists")) throw error;
		});
	}
}
