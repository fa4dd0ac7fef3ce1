/** What of a Pod may change. A running pod is what it is: nearly nothing of its spec. */

import { deepEqual, ownValue } from "../../kernel/json.ts";
import { repeatedIndexes } from "../../kernel/order.ts";
import { duplicate, errorsOf, type FieldError, forbidden, invalid, required } from "../field-error.ts";
import { familyOf } from "../ip.ts";
import { validateLegacyIP } from "../ip-validation.ts";
import type { Container, Pod, PodSpec, Toleration } from "../types/core.ts";

const FIXED_SPEC =
	"pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n";

export function validatePodSpecUpdate(next: PodSpec, stored: PodSpec): readonly FieldError[] {
	const sameCount = next.containers.length === stored.containers.length;
	if (!sameCount) return [forbidden("spec.containers", "pod updates may not add or remove containers")];
	if ((next.initContainers ?? []).length !== (stored.initContainers ?? []).length) {
		return [forbidden("spec.initContainers", "pod updates may not add or remove containers")];
	}
	const errors = [
		...validateImages("containers", next.containers),
		...validateImages("initContainers", next.initContainers ?? []),
		...validateDeadlineChange(next.activeDeadlineSeconds, stored.activeDeadlineSeconds),
		...validateTolerationChange(next.tolerations ?? [], stored.tolerations ?? []),
		...validateGateChange(next, stored),
	];
	const mended = withAllowedOf(next, stored);
	return deepEqual(mended, stored) ? errors : [...errors, forbidden("spec", FIXED_SPEC + difference(stored, mended))];
}

/** The new spec, with everything that may change taken from the old one. */
function withAllowedOf(next: PodSpec, stored: PodSpec): PodSpec {
	const allowed: PodSpec = {
		...next,
		containers: withImagesOf(next.containers, stored.containers),
		...(next.initContainers === undefined
			? {}
			: { initContainers: withImagesOf(next.initContainers, stored.initContainers ?? []) }),
	};
	const isGraceMended = (stored.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1;
	const keys: readonly (keyof PodSpec)[] = [
		"activeDeadlineSeconds",
		"tolerations",
		"schedulingGates",
		...(isGraceMended ? (["terminationGracePeriodSeconds"] as const) : []),
	];
	return { ...allowed, ...Object.fromEntries(keys.map((key) => [key, stored[key]])) };
}

function withImagesOf(next: readonly Container[], stored: readonly Container[]): readonly Container[] {
	return next.map((container, index) => {
		const image = stored[index]?.image;
		return image === undefined ? container : { ...container, image };
	});
}

/** The top-level fields that differ, old above new. */
function difference(stored: PodSpec, next: PodSpec): string {
	const keys = [...new Set([...Object.keys(stored), ...Object.keys(next)])];
	return keys
		.filter((key) => !deepEqual(ownValue(stored, key), ownValue(next, key)))
		.map((key) => `- ${key}: ${shown(stored, key)}\n+ ${key}: ${shown(next, key)}\n`)
		.join("");
}

function shown(spec: PodSpec, key: string): string {
	return JSON.stringify(ownValue(spec, key)) ?? "<unset>";
}

function validateImages(list: string, containers: readonly Container[]): readonly FieldError[] {
	return errorsOf(containers, ({ image = "" }, index) =>
		image === "" ? [required(`spec.${list}[${index}].image`, "")] : [],
	);
}

function validateDeadlineChange(next: number | undefined, stored: number | undefined): readonly FieldError[] {
	const field = "spec.activeDeadlineSeconds";
	if (stored === undefined) return [];
	if (next === undefined) return [invalid(field, next, "must not update from a positive integer to nil value")];
	return next > stored ? [invalid(field, next, "must be less than or equal to previous value")] : [];
}

/** A toleration may be added, and its seconds may change; none may go. */
function validateTolerationChange(next: readonly Toleration[], stored: readonly Toleration[]): readonly FieldError[] {
	const identity = ({ key, operator, value, effect }: Toleration): string =>
		JSON.stringify([key ?? "", operator ?? "", value ?? "", effect ?? ""]);
	const kept = new Set(next.map(identity));
	return stored.every((toleration) => kept.has(identity(toleration)))
		? []
		: [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

function validateGateChange(next: PodSpec, stored: PodSpec): readonly FieldError[] {
	const old = new Set((stored.schedulingGates ?? []).map(({ name }) => name));
	return errorsOf(next.schedulingGates ?? [], ({ name }, index) =>
		old.has(name)
			? []
			: [
					forbidden(
						`spec.schedulingGates[${index}]`,
						`only deletion is allowed, but found new scheduling gate '${name}'`,
					),
				],
	);
}

export function validatePodStatusUpdate(next: Pod, stored: Pod): readonly FieldError[] {
	const podIPs = (next.status?.podIPs ?? []).map(({ ip }) => ip);
	const old = (stored.status?.podIPs ?? []).map(({ ip }) => ip);
	const repeated = repeatedIndexes(podIPs, (ip) => ip);
	const isDual = new Set(podIPs.map(familyOf)).size === podIPs.length;
	return [
		...errorsOf(podIPs, (ip, index) => validateLegacyIP(`status.podIPs[${index}]`, ip, old)),
		...(isDual
			? []
			: [invalid("status.podIPs", next.status?.podIPs, "may specify no more than one IP for each IP family")]),
		...errorsOf(podIPs, (ip, index) => (repeated.has(index) ? [duplicate(`status.podIPs[${index}]`, { ip })] : [])),
		...(stored.status?.qosClass === undefined || next.status?.qosClass === stored.status.qosClass
			? []
			: [invalid("status.qosClass", next.status?.qosClass ?? "", "field is immutable")]),
	];
}
