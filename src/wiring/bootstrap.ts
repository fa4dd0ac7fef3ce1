/** What every cluster has from the start. */
import { NAMESPACES } from "../api/resource-names.ts";
import type { ApiClient } from "../machinery/api-client.ts";
import { ignoreAlreadyExists } from "../machinery/expected-errors.ts";

const NAMESPACE_NAMES = ["default", "kube-system", "kube-public", "kube-node-lease"] as const;

/** Makes the namespaces that are not there yet. */
export async function bootstrap(client: ApiClient): Promise<void> {
	for (const name of NAMESPACE_NAMES) {
		await ignoreAlreadyExists(client.create(NAMESPACES, "", { metadata: { name } }));
	}
}
