/** What the specs of Deployment and ReplicaSet have in common: a count, a selector and a template. */
import { deepEqual } from "../../kernel/json.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import { isEmptySelector, matchesLabels, requirementsOf, validateLabelSelector } from "../label-selector.ts";
import type { PodTemplateSpec } from "../types/core.ts";
import type { LabelSelector } from "../types/meta.ts";
import { validatePodTemplate } from "./pod-template-validation.ts";

interface WorkloadSpec {
	readonly selector?: LabelSelector;
	readonly template?: PodTemplateSpec;
}

export function validateNonNegative(field: string, value: number | undefined): readonly FieldError[] {
	return value !== undefined && value < 0 ? [invalid(field, value, "must be greater than or equal to 0")] : [];
}

/** The word "deployment" is in the text for both kinds. */
export function validateWorkloadSelector({ selector }: WorkloadSpec): readonly FieldError[] {
	if (selector === undefined) return [required("spec.selector", "")];
	return [
		...validateLabelSelector("spec.selector", selector),
		...(isEmptySelector(selector)
			? [invalid("spec.selector", selector, "empty selector is invalid for deployment")]
			: []),
	];
}

export function validateWorkloadTemplate({ selector, template }: WorkloadSpec): readonly FieldError[] {
	if (template === undefined) return [required("spec.template", "")];
	return [
		...validateSelected(selector, template),
		...validatePodTemplate("spec.template", template),
		...(template.spec.restartPolicy === "Always"
			? []
			: [notSupported("spec.template.spec.restartPolicy", template.spec.restartPolicy, ["Always"])]),
		...(template.spec.activeDeadlineSeconds === undefined
			? []
			: [
					forbidden("spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in ReplicaSet is not Supported"),
				]),
	];
}

/** A workload that does not select its own pods would make them for ever. */
function validateSelected(selector: LabelSelector | undefined, template: PodTemplateSpec): readonly FieldError[] {
	if (selector === undefined || isEmptySelector(selector)) return [];
	const field = "spec.template.metadata.labels";
	if (validateLabelSelector("", selector).length > 0) {
		return [invalid("spec.selector", selector, "invalid label selector")];
	}
	const labels = template.metadata?.labels;
	return matchesLabels(requirementsOf(selector), labels)
		? []
		: [invalid(field, labels ?? null, "`selector` does not match template `labels`")];
}

export function validateSelectorKept(next: WorkloadSpec, stored: WorkloadSpec): readonly FieldError[] {
	return deepEqual(next.selector, stored.selector)
		? []
		: [invalid("spec.selector", next.selector, "field is immutable")];
}
