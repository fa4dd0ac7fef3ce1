/** A client for a cluster that is there already: the one that kubectl would talk to. */
import { homedir } from "node:os";
import path from "node:path";
import { CryptoRandom } from "../edge/crypto-random.ts";
import { HttpClient, type HttpClientOptions } from "../edge/http-client.ts";
import { readKubeconfig } from "../edge/kubeconfig-reader.ts";

export interface ClusterChoice {
	/** `--kubeconfig` */
	readonly kubeconfig?: string | undefined;
	/** `--context` */
	readonly context?: string | undefined;
	/** The variable KUBECONFIG. */
	readonly files?: string | undefined;
}

/**
 * Whoever asked for it closes it.
 *
 * Rejects with a KubeconfigError, which names the file and what is missing in it.
 */
export async function clusterClient(
	{ kubeconfig, context, files }: ClusterChoice,
	more: Pick<HttpClientOptions, "received"> = {},
): Promise<HttpClient> {
	const defaultFile = path.join(homedir(), ".kube", "config");
	const access = await readKubeconfig({ file: kubeconfig, context, files, defaultFile });
	return new HttpClient({ ...access, ...more, random: new CryptoRandom() });
}
