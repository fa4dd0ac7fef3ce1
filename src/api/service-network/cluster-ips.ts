/** Gives a Service its cluster IPs, one for each of its families. */
import { assertDefined } from "../../kernel/assert.ts";
import { invalid } from "../field-error.ts";
import { formatIP, networkOf, parseLenientIP } from "../ip.ts";
import { isHeadless } from "../kinds/service-rules.ts";
import type { Service, ServiceSpec } from "../types/core.ts";
import type { IPFamily } from "../types/meta.ts";
import { isLeftAlone } from "./families.ts";
import { chooseIP, rangeOf, requestProblem } from "./ip-pool.ts";
import type { Refusal, ServiceNetworkInput, Step } from "./plan.ts";

/** Expects families to be decided. */
export function withClusterIPs(input: ServiceNetworkInput): Step {
	const { service, stored } = input;
	const { spec } = service;
	const isFixed = spec.type === "ExternalName" || isHeadless(spec) || isLeftAlone(service, stored);
	if (isFixed) return { kind: "ok", service };
	// From nothing to something: every family needs an address. Later only a second one is added.
	const isNew = stored === undefined || stored.spec.type === "ExternalName";
	if (!isNew && !isUpgraded(spec, stored.spec)) return { kind: "ok", service };
	return allocated(input, isNew ? 0 : 1);
}

function isUpgraded(spec: ServiceSpec, old: ServiceSpec): boolean {
	return !isHeadless(old) && (old.ipFamilies ?? []).length === 1 && (spec.ipFamilies ?? []).length === 2;
}

/** Addresses for the families from the one at `from` on. */
function allocated(input: ServiceNetworkInput, from: number): Step {
	const { service } = input;
	const families = service.spec.ipFamilies ?? [];
	const asked = families.map((_, index) => service.spec.clusterIPs?.[index] ?? "");
	const clusterIPs = [...asked];
	for (const [index, family] of families.entries()) {
		if (index < from) continue;
		const answer = addressFor(input, family, { ip: asked[index] ?? "", list: asked });
		if (typeof answer !== "string") return answer;
		clusterIPs[index] = answer;
	}
	const [clusterIP = ""] = clusterIPs;
	return { kind: "ok", service: { ...service, spec: { ...service.spec, clusterIP, clusterIPs } } };
}

interface Asked {
	/** "" for any. */
	readonly ip: string;
	/** All that was asked for: what an error shows. */
	readonly list: readonly string[];
}

function addressFor(input: ServiceNetworkInput, family: IPFamily, { ip, list }: Asked): string | Refusal {
	const range = rangeOf(input.ranges, family);
	if (ip !== "") {
		const address = assertDefined(parseLenientIP(ip), "an address that was checked before");
		const problem = requestProblem(address, range, input.isIPTaken);
		if (problem === undefined) return ip;
		return { kind: "invalid", errors: [invalid("spec.clusterIPs", list, `failed to allocate IP ${ip}: ${problem}`)] };
	}
	const known = assertDefined(range, `range of ${family}`);
	if (input.isDryRun === true) return formatIP(networkOf(known));
	const name = JSON.stringify(input.service.metadata.name);
	return (
		chooseIP(known, input.random, input.isIPTaken) ?? {
			kind: "full",
			message: `failed to allocate a serviceIP for Service ${name}: range is full`,
		}
	);
}

/** The addresses that a Service holds, in canonical form. */
export function heldIPs({ spec }: Service): readonly string[] {
	if (spec.type === "ExternalName" || isHeadless(spec)) return [];
	return (spec.clusterIPs ?? []).flatMap((text) => {
		const ip = parseLenientIP(text);
		return ip === undefined ? [] : [formatIP(ip)];
	});
}
