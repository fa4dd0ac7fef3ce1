/** Names of addresses: `1.0.96.10.in-addr.arpa.`, and IPv6 nibble by nibble below `ip6.arpa.` */
import { canonicalIP } from "../../api/ip.ts";

const IPV4 = ".in-addr.arpa.";
const IPV6 = ".ip6.arpa.";

export function isReverse(name: string): boolean {
	return name.endsWith(IPV4) || name.endsWith(IPV6);
}

/** Undefined when the name does not stand for one whole address. */
export function addressOfReverse(name: string): string | undefined {
	if (name.endsWith(IPV4)) {
		const labels = name.slice(0, -IPV4.length).split(".");
		return labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label))
			? canonicalIP(labels.reverse().join("."))
			: undefined;
	}
	const nibbles = name.slice(0, -IPV6.length).split(".");
	if (nibbles.length !== 32 || !nibbles.every((nibble) => /^[0-9a-f]$/.test(nibble))) return undefined;
	const digits = nibbles.reverse().join("");
	return canonicalIP((digits.match(/.{4}/g) ?? []).join(":"));
}
