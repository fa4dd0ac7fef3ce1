/**
 * Decides the families of a Service's addresses: from what was asked, from the addresses that were
 * asked for, and from what the cluster has.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/dual-stack/
 */
import { deepEqual } from "../../kernel/json.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { familyOf } from "../ip.ts";
import { validateClusterIPFields } from "../kinds/service-ip-validation.ts";
import { hasClusterIP, isHeadless } from "../kinds/service-rules.ts";
import type { Service, ServiceSpec } from "../types/core.ts";
import type { IPFamily } from "../types/meta.ts";
import type { Step } from "./plan.ts";

export interface FamilyInput {
	readonly service: Service;
	readonly stored?: Service | undefined;
	/** The families of the cluster's ranges, primary first. */
	readonly configured: readonly IPFamily[];
}

export function withFamilies({ service, stored, configured }: FamilyInput): Step {
	if (service.spec.type === "ExternalName" || isLeftAlone(service, stored)) return { kind: "ok", service };
	const next = { ...service, spec: withPolicy(service.spec, stored?.spec) };
	const malformed = validateClusterIPFields(next, stored);
	if (malformed.length > 0) return { kind: "invalid", errors: malformed };

	const spec = truncated(next.spec, stored?.spec);
	const inferred = withInferredFamilies(spec, configured);
	const errors = [...reductionErrors(spec, stored?.spec), ...singleStackErrors(spec), ...inferred.errors];
	if (errors.length > 0) return { kind: "invalid", errors };
	return completed({ ...next, spec: inferred.spec }, configured);
}

/** A PreferDualStack Service keeps its families when the cluster becomes, or ceases to be, dual-stack. */
export function isLeftAlone({ spec }: Service, stored: Service | undefined): boolean {
	if (stored === undefined || !hasClusterIP(spec) || spec.type !== stored.spec.type) return false;
	const arePreferred = [spec, stored.spec].every(({ ipFamilyPolicy }) => ipFamilyPolicy === "PreferDualStack");
	return arePreferred && isSame(spec, stored.spec, "clusterIPs") && isSame(spec, stored.spec, "ipFamilies");
}

function isSame(spec: ServiceSpec, old: ServiceSpec | undefined, key: "clusterIPs" | "ipFamilies"): boolean {
	return deepEqual(spec[key] ?? [], old?.[key] ?? []);
}

/** On update silence keeps the old policy: never a change of stacks that nobody asked for. */
function withPolicy(spec: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
	if (spec.ipFamilyPolicy !== undefined) return spec;
	const isFree = spec.clusterIP === "None" && Object.keys(spec.selector ?? {}).length === 0;
	return { ...spec, ipFamilyPolicy: old?.ipFamilyPolicy ?? (isFree ? "RequireDualStack" : "SingleStack") };
}

/** Only the policy became SingleStack: then the second address and family go. */
function truncated(spec: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
	if (old === undefined || spec.ipFamilyPolicy !== "SingleStack") return spec;
	const { clusterIPs = [], ipFamilies = [] } = spec;
	return {
		...spec,
		...(clusterIPs.length > 1 && isSame(spec, old, "clusterIPs") ? { clusterIPs: clusterIPs.slice(0, 1) } : {}),
		...(ipFamilies.length > 1 && isSame(spec, old, "ipFamilies") ? { ipFamilies: ipFamilies.slice(0, 1) } : {}),
	};
}

function reductionErrors(spec: ServiceSpec, old: ServiceSpec | undefined): readonly FieldError[] {
	if (old === undefined || spec.ipFamilyPolicy === "SingleStack") return [];
	const isReduced = (key: "clusterIPs" | "ipFamilies"): boolean => {
		const count = (spec[key] ?? []).length;
		return count > 0 && count < (old[key] ?? []).length;
	};
	const error = (what: string): FieldError =>
		invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
	return [
		...(isReduced("clusterIPs") ? [error("cluster IP")] : []),
		...(isReduced("ipFamilies") ? [error("IP family")] : []),
	];
}

function singleStackErrors(spec: ServiceSpec): readonly FieldError[] {
	if (spec.ipFamilyPolicy !== "SingleStack") return [];
	const error = (what: string): FieldError =>
		invalid(
			"spec.ipFamilyPolicy",
			spec.ipFamilyPolicy,
			`must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
		);
	return [
		...((spec.clusterIPs ?? []).length === 2 ? [error("cluster IPs")] : []),
		...((spec.ipFamilies ?? []).length === 2 ? [error("IP families")] : []),
	];
}

interface Inferred {
	readonly spec: ServiceSpec;
	readonly errors: readonly FieldError[];
}

/** An address that was asked for says its family. */
function withInferredFamilies(spec: ServiceSpec, configured: readonly IPFamily[]): Inferred {
	const { clusterIPs = [], ipFamilies = [] } = spec;
	if (isHeadless(spec)) return { spec, errors: [] };
	const families = [...ipFamilies];
	const errors: FieldError[] = [];
	for (const [index, ip] of clusterIPs.entries()) {
		const family = familyOf(ip);
		if (index < families.length || family === undefined) continue;
		if (configured.includes(family)) families.push(family);
		else errors.push(invalid(`spec.clusterIPs[${index}]`, clusterIPs, `${family} is not configured on this cluster`));
	}
	return { spec: { ...spec, ipFamilies: families }, errors };
}

function completed(service: Service, configured: readonly IPFamily[]): Step {
	const { spec } = service;
	const { ipFamilies: asked = [], ipFamilyPolicy } = spec;
	const isFree = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
	const errors = isFree ? [] : clusterErrors(spec, configured);
	if (errors.length > 0) return { kind: "invalid", errors };

	const families = asked.length === 0 ? configured.slice(0, 1) : asked;
	// Endpoints that someone else writes may be of a family that the cluster does not know.
	const isSecondPossible = isFree || configured.length === 2;
	const wantsSecond = ipFamilyPolicy !== "SingleStack" && families.length === 1 && isSecondPossible;
	const ipFamilies = wantsSecond ? [...families, otherFamily(families[0])] : families;
	return { kind: "ok", service: { ...service, spec: { ...spec, ipFamilies } } };
}

function otherFamily(family: IPFamily | undefined): IPFamily {
	return family === "IPv4" ? "IPv6" : "IPv4";
}

function clusterErrors(spec: ServiceSpec, configured: readonly IPFamily[]): readonly FieldError[] {
	const { ipFamilies = [], ipFamilyPolicy } = spec;
	const field = "spec.ipFamilyPolicy";
	return [
		...(ipFamilyPolicy === "RequireDualStack" && configured.length < 2
			? [invalid(field, ipFamilyPolicy, "this cluster is not configured for dual-stack services")]
			: []),
		...ipFamilies.flatMap((family, index) =>
			configured.includes(family)
				? []
				: [invalid(`spec.ipFamilies[${index}]`, family, "not configured on this cluster")],
		),
	];
}
