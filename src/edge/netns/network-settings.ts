/** Settings of the network namespace that this process is in. */
import { writeFileSync } from "node:fs";
import { systemCode } from "../system-reason.ts";

/** By path below /proc/sys/net. */
const NODE_SETTINGS: Readonly<Record<string, string>> = {
	"ipv4/ip_forward": "1",
	"ipv6/conf/all/forwarding": "1",
	// Answers may leave by another way than their requests came.
	"ipv4/conf/all/rp_filter": "0",
	"ipv4/conf/default/rp_filter": "0",
	"ipv4/conf/eth0/rp_filter": "0",
	// Pods listen at addresses that no interface has.
	"ipv4/ip_nonlocal_bind": "1",
	"ipv6/ip_nonlocal_bind": "1",
};

/** A router with pods. @throws {Error} When the system does not let them be changed. */
export function applyNodeSettings(): void {
	for (const [name, value] of Object.entries(NODE_SETTINGS)) {
		try {
			writeFileSync(`/proc/sys/net/${name}`, value);
		} catch (error) {
			// A kernel without IPv6 has no settings of it.
			if (systemCode(error) !== "ENOENT") throw error;
		}
	}
}
