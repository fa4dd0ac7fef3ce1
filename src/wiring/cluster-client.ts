/** A client for a cluster that is there already: the one that kubectl would talk to, or that this Pod runs in. */
import { homedir } from "node:os";
import path from "node:path";
import { CryptoRandom } from "../edge/crypto-random.ts";
import { HttpClient, type HttpClientOptions } from "../edge/http-client.ts";
import type { ServerAccess } from "../edge/http-exchange.ts";
import { inClusterAccess, podSurroundings } from "../edge/in-cluster.ts";
import { NoKubeconfig, readKubeconfig } from "../edge/kubeconfig-reader.ts";
import { type Part, refusalTeller } from "./refused-rights.ts";

export interface ClusterChoice {
	/** `--kubeconfig` */
	readonly kubeconfig?: string | undefined;
	/** `--context` */
	readonly context?: string | undefined;
	/** The variable KUBECONFIG. */
	readonly files?: string | undefined;
}

/** As client-go: only where there is no kubeconfig at all, and none was asked for, is it the cluster around this Pod. */
export async function clusterAccess({ kubeconfig, context, files }: ClusterChoice): Promise<ServerAccess> {
	const defaultFile = path.join(homedir(), ".kube", "config");
	try {
		return await readKubeconfig({ file: kubeconfig, context, files, defaultFile });
	} catch (error) {
		const inCluster = error instanceof NoKubeconfig ? await inClusterAccess(podSurroundings()) : undefined;
		if (inCluster === undefined) throw error;
		return inCluster;
	}
}

export interface ClientWishes
	extends Pick<HttpClientOptions, "received" | "refused" | "mayWrite" | "limits" | "userAgent"> {
	/** Who asks: what this part may not do is told on stderr, once each, with where the right is given. */
	readonly part?: Part;
}

/** Whoever asked for it closes it. */
export function clientFor(access: ServerAccess, { part, ...wishes }: ClientWishes = {}): HttpClient {
	const refused = part === undefined ? {} : { refused: refusalTeller(part) };
	const userAgent = part === undefined ? {} : { userAgent: `sliceplane-${part}` };
	return new HttpClient({ ...access, ...userAgent, ...refused, ...wishes, random: new CryptoRandom() });
}

/**
 * Whoever asked for it closes it.
 *
 * Rejects with a KubeconfigError, which names the file and what is missing in it.
 */
export async function clusterClient(choice: ClusterChoice, wishes: ClientWishes = {}): Promise<HttpClient> {
	return clientFor(await clusterAccess(choice), wishes);
}
