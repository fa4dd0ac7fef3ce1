/**
 * Which `Host` a request may name. A page of the web can make a browser send requests to any address under a name of
 * its own (DNS rebinding), but not under another's: who asks for us by a name that is none of ours does not mean us.
 */
import { isIP } from "node:net";
import { ApiError } from "../api/status.ts";

/** @throws {ApiError} 421 for a name that is not among `names`. Addresses cannot be rebound, so all of them pass. */
export function requireOurHost(header: string | undefined, names: ReadonlySet<string>): void {
	if (header === undefined) return;
	const host = hostOf(header).toLowerCase();
	if (isIP(host) !== 0 || names.has(host.replace(/\.$/, ""))) return;
	const known = [...names].join(", ");
	throw new ApiError("", `the host ${JSON.stringify(host)} is none of this server's: ask by its address, or ${known}`, {
		code: 421,
		details: {},
	});
}

/** Without the port, and without the brackets of IPv6. */
function hostOf(header: string): string {
	const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(header)?.[1];
	return bracketed ?? header.replace(/:\d*$/, "");
}
