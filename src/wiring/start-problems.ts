/** What stands in the way of a start, in sentences that say what to do. */
import { answeringServer } from "../edge/answering-server.ts";
import type { PlaneOptions } from "./plane-options.ts";

export function placeText({ host, port }: PlaneOptions["listen"]): string {
	return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Of a server at the port that was asked for, the attempt to listen says more. */
export async function refuseSharedFile({
	kubeconfig,
	listen,
}: Pick<PlaneOptions, "kubeconfig" | "listen">): Promise<void> {
	const server = await answeringServer(kubeconfig);
	if (server === undefined || Number(server.port) === listen.port) return;
	throw new Error(
		`kubeconfig ${kubeconfig} is of a plane that runs at ${server.origin}: ` +
			"stop that one, or choose another place with --kubeconfig",
	);
}

/** What the system says of an address, in words that say what to do. */
export function explained(flag: string, { host, port }: PlaneOptions["listen"]): (error: unknown) => never {
	return (error) => {
		const { code = "", message = "" } = error instanceof Error ? (error as Error & { code?: string }) : {};
		const why: Readonly<Record<string, string>> = {
			EADDRINUSE: `the port is taken: stop what listens there, or take another with ${flag} (port 0 is any free one)`,
			EACCES: `not allowed: ports below 1024 need rights, take a higher one with ${flag}`,
			EADDRNOTAVAIL: `this machine does not have that address: take one of its own with ${flag}`,
			ENOTFOUND: `no such host: give an address of this machine with ${flag}`,
			EAI_AGAIN: `no such host: give an address of this machine with ${flag}`,
		};
		// From a worker only the message comes over, which begins with the code.
		const known = why[code] ?? Object.entries(why).find(([name]) => message.includes(name))?.[1];
		if (known === undefined) throw error;
		throw new Error(`cannot listen on ${placeText({ host, port })}: ${known}`, { cause: error });
	};
}
