/** Whose API server this is: defaults that suit a plane of one's own may be wrong for a cluster of others. */
import type { HttpClient } from "../edge/http-client.ts";
import { isObject } from "../kernel/json.ts";

/** Rejects with a TransportError when the server cannot be asked. */
export async function isOwnServer(client: HttpClient): Promise<boolean> {
	const answer = await client.version();
	const version = isObject(answer) ? answer["gitVersion"] : undefined;
	return typeof version === "string" && version.endsWith("+sliceplane");
}
