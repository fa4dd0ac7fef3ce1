/** An API of virtual time behind a real socket, for programs that know no other way: kubectl, and clients over HTTP. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { certificatesFor } from "../edge/certificates.ts";
import { type Handler, HttpsServer } from "../edge/https-server.ts";
import { writeKubeconfig } from "../edge/kubeconfig-file.ts";
import { SystemClock } from "../edge/system-clock.ts";
import { ADMIN } from "./test-api.ts";

export interface ServedApi {
	/** `https://127.0.0.1:PORT` */
	readonly url: string;
	/** Path of a kubeconfig of the admin, mode 0600, in a temporary folder of its own. */
	readonly kubeconfig: string;
	/** Cuts every connection and removes the kubeconfig. */
	close(): Promise<void>;
}

/** On a free port of loopback, with TLS. @param cacheFolder Where certificates are kept. */
export async function servedApi(handler: Handler, cacheFolder: string): Promise<ServedApi> {
	// Clients check certificates by the machine's clock.
	const nowMs = new SystemClock().wallMs();
	const certificates = await certificatesFor({ folder: cacheFolder, addresses: [], nowMs });
	const server = new HttpsServer(certificates, handler);
	const port = await server.listen("127.0.0.1", 0);
	const url = `https://127.0.0.1:${port}`;
	const folder = await mkdtemp(path.join(tmpdir(), "sliceplane-test-"));
	const kubeconfig = path.join(folder, "kubeconfig");
	await writeKubeconfig(kubeconfig, { server: url, ca: certificates.ca, user: { token: ADMIN.name } });
	let closed: Promise<void> | undefined;
	return {
		url,
		kubeconfig,
		close() {
			closed ??= server.close(0).then(() => rm(folder, { recursive: true, force: true }));
			return closed;
		},
	};
}
