import { familyOf } from "../../api/ip.ts";
import type { Service } from "../../api/types/core.ts";
import type { IPFamily } from "../../api/types/meta.ts";
import { isHeadless } from "../service-selector.ts";

/** The address families that a Service has slices for, IPv4 first. */
export function familiesOf(service: Service): readonly IPFamily[] {
	const { ipFamilies = [], clusterIP = "" } = service.spec;
	const named = BOTH.filter((family) => ipFamilies.includes(family));
	if (named.length > 0) return named;
	if (isHeadless(service)) return BOTH;
	return [familyOf(clusterIP) ?? "IPv4"];
}

const BOTH: readonly IPFamily[] = ["IPv4", "IPv6"];
