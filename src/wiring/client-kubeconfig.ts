/** A kubeconfig for another user of a plane that runs: one with a certificate that the plane's authority has signed. */
import { homedir } from "node:os";
import path from "node:path";
import { type ClientIdentity, clientCertificate, keptCertificates } from "../edge/certificates.ts";
import { kubeconfigText } from "../edge/kubeconfig-file.ts";
import { readKubeconfig } from "../edge/kubeconfig-reader.ts";
import { SystemClock } from "../edge/system-clock.ts";
import type { ClusterChoice } from "./cluster-client.ts";

/**
 * The text of the file.
 *
 * Rejects, with a sentence for people, when the plane's authority is not one of this user and machine.
 */
export async function clientKubeconfig(
	{ kubeconfig, context, files }: ClusterChoice,
	identity: ClientIdentity,
	cacheFolder: string,
): Promise<string> {
	const defaultFile = path.join(homedir(), ".kube", "config");
	const { server, ca } = await readKubeconfig({ file: kubeconfig, context, files, defaultFile });
	const kept = await keptCertificates(cacheFolder);
	if (kept === undefined || kept.ca.trim() !== ca?.trim()) {
		throw new Error(
			`the key of the authority behind ${server} is not in ${cacheFolder}: ` +
				"ask as the user, and on the machine, that the plane was started by",
		);
	}
	const user = await clientCertificate(kept, identity, new SystemClock().wallMs());
	return kubeconfigText({ server, ca: kept.ca, user });
}
