/** Whether the server that a kubeconfig names is running: two planes must not write one file. */
import { connect } from "node:net";
import { readKubeconfig } from "./kubeconfig-reader.ts";

/** Loopback answers, or refuses, at once. */
const CONNECT_MS_MAX = 1_000;

/** The URL of the file's server, when it is one of this machine and takes connections. */
export async function answeringServer(file: string): Promise<URL | undefined> {
	const access = await readKubeconfig({ file, defaultFile: file }).catch(() => undefined);
	if (access === undefined || !URL.canParse(access.server)) return undefined;
	const url = new URL(access.server);
	const host = url.hostname.replace(/^\[|\]$/g, "");
	if (!/^(127\..*|::1|localhost)$/.test(host)) return undefined;
	return (await takesConnections(host, Number(url.port))) ? url : undefined;
}

function takesConnections(host: string, port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect({ host, port, timeout: CONNECT_MS_MAX });
		const answer = (isOpen: boolean): void => {
			socket.destroy();
			resolve(isOpen);
		};
		socket.once("connect", () => answer(true));
		socket.once("timeout", () => answer(false));
		socket.once("error", () => answer(false));
	});
}
