/** The rules of a Service's cluster IPs and families. They are checked before anything is allocated. */
import { repeatedIndexes } from "../../kernel/order.ts";
import { duplicate, errorsOf, type FieldError, invalid, notSupported, required } from "../field-error.ts";
import { familyOf } from "../ip.ts";
import { validateLegacyIP } from "../ip-validation.ts";
import type { Service, ServiceSpec } from "../types/core.ts";
import { isHeadless } from "./service-rules.ts";

const FAMILIES: readonly string[] = ["IPv4", "IPv6"];
const POLICIES: readonly string[] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const CLUSTER_IPS_MAX = 2;

export function validateClusterIPFields({ spec }: Service, stored?: Service): readonly FieldError[] {
	if (spec.type === "ExternalName") return [];
	const formats = validateFormats(spec, stored?.spec.clusterIPs ?? []);
	return [
		...validateSingular(spec),
		...validateFamilies(spec.ipFamilies ?? []),
		...(spec.ipFamilyPolicy === undefined || POLICIES.includes(spec.ipFamilyPolicy)
			? []
			: [notSupported("spec.ipFamilyPolicy", spec.ipFamilyPolicy, POLICIES)]),
		...formats,
		...((spec.clusterIPs ?? []).length > CLUSTER_IPS_MAX
			? [invalid("spec.clusterIPs", spec.clusterIPs, "may only hold up to 2 values")]
			: []),
		// What is no address has no family: more errors would only mislead.
		...(formats.length > 0 ? [] : [...validateDualStack(spec), ...validateFamilyMatch(spec)]),
	];
}

/** `clusterIP` is the older, single form of `clusterIPs[0]`. */
function validateSingular({ clusterIP = "", clusterIPs = [] }: ServiceSpec): readonly FieldError[] {
	if (clusterIP === "") {
		return clusterIPs.length === 0
			? []
			: [invalid("spec.clusterIPs", clusterIPs, "must be empty when `clusterIP` is not specified")];
	}
	if (clusterIPs.length === 0) return [required("spec.clusterIPs", "")];
	return clusterIPs[0] === clusterIP
		? []
		: [invalid("spec.clusterIPs", clusterIPs, "first value must match `clusterIP`")];
}

function validateFamilies(families: readonly string[]): readonly FieldError[] {
	const repeated = repeatedIndexes(families, (family) => family);
	return errorsOf(families, (family, index) => [
		...(FAMILIES.includes(family) ? [] : [notSupported(`spec.ipFamilies[${index}]`, family, FAMILIES)]),
		...(repeated.has(index) ? [duplicate(`spec.ipFamilies[${index}]`, family)] : []),
	]);
}

function validateFormats({ clusterIPs = [] }: ServiceSpec, stored: readonly string[]): readonly FieldError[] {
	return errorsOf(clusterIPs, (ip, index) => {
		if (index > 0 || ip !== "None") return validateLegacyIP(`spec.clusterIPs[${index}]`, ip, stored);
		return clusterIPs.length === 1
			? []
			: [invalid("spec.clusterIPs", clusterIPs, "'None' must be the first and only value")];
	});
}

function validateDualStack({ clusterIPs = [] }: ServiceSpec): readonly FieldError[] {
	const isDualStack = new Set(clusterIPs.map(familyOf)).size === 2;
	return clusterIPs.length < 2 || isDualStack
		? []
		: [invalid("spec.clusterIPs", clusterIPs, "may specify no more than one IP for each IP family")];
}

function validateFamilyMatch(spec: ServiceSpec): readonly FieldError[] {
	const { clusterIPs = [], ipFamilies = [] } = spec;
	if (isHeadless(spec)) return [];
	return errorsOf(clusterIPs, (ip, index) => {
		const family = ipFamilies[index];
		if (family === undefined || !FAMILIES.includes(family) || familyOf(ip) === family) return [];
		const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
		return [invalid(`spec.clusterIPs[${index}]`, ip, detail)];
	});
}

/**
 * Addresses, once given, stay. Only the second one may come and go, and the whole pair when the
 * type changes from or to ExternalName.
 */
export function validateClusterIPUpdate({ spec }: Service, { spec: old }: Service): readonly FieldError[] {
	if (spec.type === "ExternalName" || old.type === "ExternalName") return [];
	return [...validateAddressChange(spec, old), ...validateFamilyChange(spec, old)];
}

const FIXED = "may not change once set";

function validateAddressChange(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
	if (isHeadless(spec) && isHeadless(old)) return [];
	const { clusterIPs = [] } = spec;
	const stored = old.clusterIPs ?? [];
	const fixed = (index: number): FieldError => invalid(`spec.clusterIPs[${index}]`, clusterIPs, FIXED);
	if (clusterIPs.length === stored.length) {
		return errorsOf(stored, (ip, index) => (ip === clusterIPs[index] ? [] : [fixed(index)]));
	}
	const isFirstChanged = stored.length > 0 && clusterIPs.length > 0 && clusterIPs[0] !== stored[0];
	if (clusterIPs.length > stored.length) return isFirstChanged ? [fixed(0)] : [];
	return [
		...(clusterIPs.length === 0 ? [invalid("spec.clusterIPs[0]", null, "primary clusterIP can not be unset")] : []),
		...(isFirstChanged ? [fixed(0)] : []),
		...(clusterIPs.length === 1 ? validateRelease(spec, "clusterIP") : []),
	];
}

function validateFamilyChange(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
	if (isHeadless(spec) || isHeadless(old)) return [];
	const { ipFamilies = [] } = spec;
	const stored = old.ipFamilies ?? [];
	const fixed = invalid("spec.ipFamilies[0]", ipFamilies, FIXED);
	if (ipFamilies.length === stored.length) {
		return stored.some((family, index) => family !== ipFamilies[index]) ? [fixed] : [];
	}
	const isFirstChanged = stored.length > 0 && ipFamilies.length > 0 && ipFamilies[0] !== stored[0];
	if (ipFamilies.length > stored.length) return isFirstChanged ? [fixed] : [];
	return [
		...(ipFamilies.length === 0 ? [invalid("spec.ipFamilies[0]", null, "primary ipFamily can not be unset")] : []),
		...(isFirstChanged ? [fixed] : []),
		...(ipFamilies.length === 1 ? validateRelease(spec, "ipFamily") : []),
	];
}

function validateRelease({ ipFamilyPolicy }: ServiceSpec, what: string): readonly FieldError[] {
	if (ipFamilyPolicy === "SingleStack") return [];
	const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`;
	return [invalid("spec.ipFamilyPolicy", ipFamilyPolicy, detail)];
}
