/** Whether this machine and user can have network namespaces. */
import { findProgram } from "../find-program.ts";
import { systemPath } from "./run-ip.ts";

/** Debian's packages, by program. */
const PACKAGES = { ip: "iproute2", nft: "nftables" } as const;

export interface NetnsNeeds {
	readonly platform: string;
	/** undefined where there are no users. */
	readonly userId: number | undefined;
	hasProgram(name: string): boolean;
}

/** Why there can be none, and what to do; undefined when there can. */
export function netnsProblem(needs: NetnsNeeds = thisMachine()): string | undefined {
	if (needs.platform !== "linux") return `want Linux, for network namespaces; this is ${needs.platform}`;
	if (needs.userId !== 0) {
		return (
			"want root, to make network namespaces: run it with sudo, or in namespaces of your own: " +
			"unshare -Urnm sh -c 'ip link set lo up; mount -t tmpfs run /run; exec sliceplane up --network netns'"
		);
	}
	const missing = (Object.keys(PACKAGES) as (keyof typeof PACKAGES)[]).filter((name) => !needs.hasProgram(name));
	if (missing.length === 0) return undefined;
	const packages = missing.map((name) => PACKAGES[name]).join(" ");
	return `want the ${missing.length === 1 ? "program" : "programs"} ${missing.join(" and ")}: apt-get install ${packages}`;
}

function thisMachine(): NetnsNeeds {
	return {
		platform: process.platform,
		userId: process.getuid?.(),
		hasProgram: (name) => findProgram(name, systemPath()) !== undefined,
	};
}
