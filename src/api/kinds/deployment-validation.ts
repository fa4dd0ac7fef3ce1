/** The rules of a Deployment. */
import { type FieldError, forbidden, invalid, notSupported } from "../field-error.ts";
import { invalids } from "../metadata-validation.ts";
import type { Deployment, DeploymentStrategy } from "../types/apps.ts";
import type { IntOrString } from "../types/meta.ts";
import {
	validateNonNegative,
	validateSelectorKept,
	validateWorkloadSelector,
	validateWorkloadTemplate,
} from "./workload-validation.ts";

export function validateDeployment({ spec }: Deployment): readonly FieldError[] {
	return [
		...validateNonNegative("spec.replicas", spec.replicas),
		...validateWorkloadSelector(spec),
		...validateWorkloadTemplate(spec),
		...validateStrategy(spec.strategy ?? {}),
		...validateNonNegative("spec.minReadySeconds", spec.minReadySeconds),
		...validateNonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
		...validateDeadline(spec.progressDeadlineSeconds, spec.minReadySeconds ?? 0),
	];
}

export function validateDeploymentUpdate(next: Deployment, stored: Deployment): readonly FieldError[] {
	return [...validateDeployment(next), ...validateSelectorKept(next.spec, stored.spec)];
}

export function validateDeploymentStatus({ status }: Deployment): readonly FieldError[] {
	const keys = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"] as const;
	return keys.flatMap((key) => validateNonNegative(`status.${key}`, status?.[key]));
}

function validateDeadline(seconds: number | undefined, minReadySeconds: number): readonly FieldError[] {
	const field = "spec.progressDeadlineSeconds";
	if (seconds === undefined) return [];
	return [
		...validateNonNegative(field, seconds),
		...(seconds <= minReadySeconds ? [invalid(field, seconds, "must be greater than minReadySeconds")] : []),
	];
}

function validateStrategy(strategy: DeploymentStrategy): readonly FieldError[] {
	const field = "spec.strategy";
	switch (strategy.type) {
		case "Recreate":
			return strategy.rollingUpdate === undefined
				? []
				: [forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
		case "RollingUpdate":
			return validateRollingUpdate(`${field}.rollingUpdate`, strategy.rollingUpdate ?? {});
		default:
			return [notSupported(field, strategy, ["Recreate", "RollingUpdate"])];
	}
}

function validateRollingUpdate(
	field: string,
	{ maxUnavailable = 0, maxSurge = 0 }: NonNullable<DeploymentStrategy["rollingUpdate"]>,
): readonly FieldError[] {
	const isStuck = amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0;
	const isTooMuch = typeof maxUnavailable === "string" && amountOf(maxUnavailable) > 100;
	return [
		...validateCountOrPercent(`${field}.maxUnavailable`, maxUnavailable),
		...validateCountOrPercent(`${field}.maxSurge`, maxSurge),
		...(isStuck ? [invalid(`${field}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : []),
		...(isTooMuch ? [invalid(`${field}.maxUnavailable`, maxUnavailable, "must not be greater than 100%")] : []),
	];
}

const PERCENT_PROBLEM =
	"a valid percent string must be a numeric string followed by an ending '%'" +
	" (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function isPercent(text: string): boolean {
	return /^[0-9]+%$/.test(text);
}

export function validateCountOrPercent(field: string, value: IntOrString): readonly FieldError[] {
	if (typeof value === "number") return validateNonNegative(field, value);
	return invalids(field, value, isPercent(value) ? [] : [PERCENT_PROBLEM]);
}

/** The number, or the number before the percent sign. */
function amountOf(value: IntOrString): number {
	if (typeof value === "number") return value;
	return isPercent(value) ? Number.parseInt(value, 10) : 0;
}
