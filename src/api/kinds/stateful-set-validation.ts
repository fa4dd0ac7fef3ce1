/** The rules of a StatefulSet. */
import { deepEqual } from "../../kernel/json.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { isEmptySelector, matchesLabels, requirementsOf, validateLabelSelector } from "../label-selector.ts";
import { invalids } from "../metadata-validation.ts";
import { dns1123LabelProblems } from "../names.ts";
import type { StatefulSet, StatefulSetUpdateStrategy } from "../types/apps.ts";
import { validateCountOrPercent } from "./deployment-validation.ts";
import { validatePodTemplate } from "./pod-template-validation.ts";
import { validateNonNegative } from "./workload-validation.ts";

type Spec = StatefulSet["spec"];

export function validateStatefulSet({ spec }: StatefulSet): readonly FieldError[] {
	return [
		...validateManagement(spec.podManagementPolicy ?? ""),
		...validateStrategy("spec.updateStrategy", spec.updateStrategy ?? {}),
		...validateRetention(spec.persistentVolumeClaimRetentionPolicy ?? {}),
		...validateNonNegative("spec.replicas", spec.replicas),
		...validateNonNegative("spec.minReadySeconds", spec.minReadySeconds),
		...validateNonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
		...validateNonNegative("spec.ordinals.start", spec.ordinals?.start),
		...(spec.serviceName ? invalids("spec.serviceName", spec.serviceName, dns1123LabelProblems(spec.serviceName)) : []),
		...validateSelector(spec),
		...validateTemplate(spec),
	];
}

function validateManagement(policy: string): readonly FieldError[] {
	const field = "spec.podManagementPolicy";
	if (policy === "") return [required(field, "")];
	const isKnown = policy === "OrderedReady" || policy === "Parallel";
	return isKnown ? [] : [invalid(field, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateStrategy(field: string, strategy: StatefulSetUpdateStrategy): readonly FieldError[] {
	const { type, rollingUpdate } = strategy;
	switch (type) {
		case undefined:
			return [required(field, "")];
		case "OnDelete":
			return rollingUpdate === undefined
				? []
				: [invalid(`${field}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
		case "RollingUpdate":
			return [
				...validateNonNegative(`${field}.rollingUpdate.partition`, rollingUpdate?.partition),
				...(rollingUpdate?.maxUnavailable === undefined
					? []
					: validateCountOrPercent(`${field}.rollingUpdate.maxUnavailable`, rollingUpdate.maxUnavailable)),
			];
		default:
			return [invalid(field, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
	}
}

function validateRetention(policy: NonNullable<Spec["persistentVolumeClaimRetentionPolicy"]>): readonly FieldError[] {
	const words = ["Delete", "Retain"];
	return (["whenDeleted", "whenScaled"] as const)
		.filter((key) => !words.includes(policy[key] ?? ""))
		.map((key) => notSupported(`spec.persistentVolumeClaimRetentionPolicy.${key}`, policy[key] ?? "", words));
}

function validateSelector({ selector }: Partial<Spec>): readonly FieldError[] {
	if (selector === undefined) return [required("spec.selector", "")];
	return [
		...validateLabelSelector("spec.selector", selector),
		...(isEmptySelector(selector)
			? [invalid("spec.selector", selector, "empty selector is invalid for statefulset")]
			: []),
	];
}

function validateTemplate({ selector, template, volumeClaimTemplates = [] }: Partial<Spec>): readonly FieldError[] {
	const field = "spec.template";
	if (template === undefined) return [required(field, "")];
	const { restartPolicy, activeDeadlineSeconds } = template.spec;
	return [
		...validateSelected(selector, template),
		...validatePodTemplate(
			field,
			template,
			volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ""),
		),
		...(restartPolicy === "Always" ? [] : [notSupported(`${field}.spec.restartPolicy`, restartPolicy, ["Always"])]),
		...(activeDeadlineSeconds === undefined
			? []
			: [forbidden(`${field}.spec.activeDeadlineSeconds`, "activeDeadlineSeconds in StatefulSet is not Supported")]),
	];
}

function validateSelected(selector: Spec["selector"] | undefined, template: Spec["template"]): readonly FieldError[] {
	if (selector === undefined || isEmptySelector(selector) || validateLabelSelector("", selector).length > 0) return [];
	const labels = template.metadata?.labels;
	return matchesLabels(requirementsOf(selector), labels)
		? []
		: [invalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`")];
}

const CHANGEABLE = [
	"replicas",
	"ordinals",
	"template",
	"updateStrategy",
	"revisionHistoryLimit",
	"persistentVolumeClaimRetentionPolicy",
	"minReadySeconds",
] as const;

const FIXED_SPEC =
	"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
	"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export function validateStatefulSetUpdate(next: StatefulSet, stored: StatefulSet): readonly FieldError[] {
	const kept = Object.fromEntries(CHANGEABLE.map((key) => [key, stored.spec[key]]));
	const isOther = !deepEqual({ ...next.spec, ...kept }, { ...stored.spec, ...kept });
	return [...validateStatefulSet(next), ...(isOther ? [forbidden("spec", FIXED_SPEC)] : [])];
}

export function validateStatefulSetStatus({ status = {} }: StatefulSet): readonly FieldError[] {
	const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
	const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] as const;
	return [
		...(["replicas", ...parts, "observedGeneration", "collisionCount"] as const).flatMap((key) =>
			validateNonNegative(`status.${key}`, status[key]),
		),
		...parts
			.filter((key) => (status[key] ?? 0) > replicas)
			.map((key) => invalid(`status.${key}`, status[key], "cannot be greater than status.replicas")),
		...(availableReplicas > readyReplicas
			? [invalid("status.availableReplicas", availableReplicas, "cannot be greater than status.readyReplicas")]
			: []),
	];
}
