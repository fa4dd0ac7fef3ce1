/** How a program in a Pod reaches the API of its own cluster: what the kubelet puts there for every ServiceAccount. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ServerAccess } from "./http-exchange.ts";
import { KubeconfigError } from "./kubeconfig-reader.ts";
import { systemReason } from "./system-reason.ts";
import { TokenFile } from "./token-file.ts";

export interface PodSurroundings {
	/** `KUBERNETES_SERVICE_HOST` */
	readonly host?: string | undefined;
	/** `KUBERNETES_SERVICE_PORT` */
	readonly port?: string | undefined;
	/** Of the files `token` and `ca.crt`. */
	readonly folder: string;
}

/** Where every container with a ServiceAccount finds its token. */
const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

export function podSurroundings(): PodSurroundings {
	return {
		host: process.env["KUBERNETES_SERVICE_HOST"],
		port: process.env["KUBERNETES_SERVICE_PORT"],
		folder: FOLDER,
	};
}

/**
 * As client-go: both variables say that this is a Pod; the token is read again once a minute, for it is replaced.
 *
 * Undefined: this is no Pod. Rejects with a KubeconfigError when it is one and has no token or authority.
 */
export async function inClusterAccess({ host, port, folder }: PodSurroundings): Promise<ServerAccess | undefined> {
	if (host === undefined || host === "" || port === undefined || port === "") return undefined;
	const tokens = new TokenFile(path.join(folder, "token"));
	await tokens.read().catch(unreadable("the token of the ServiceAccount", folder));
	const ca = await readFile(path.join(folder, "ca.crt"), "utf8").catch(unreadable("ca.crt", folder));
	return {
		server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
		ca,
		token: () => tokens.read(),
	};
}

function unreadable(what: string, folder: string): (error: unknown) => never {
	return (error) => {
		throw new KubeconfigError(
			`KUBERNETES_SERVICE_HOST says that this is a Pod, but ${what} cannot be read in ${folder}: ${systemReason(error)}; ` +
				"let the Pod have its token (automountServiceAccountToken), or give a --kubeconfig",
			{ cause: error },
		);
	};
}
