/** Are EndpointSlices there, of the right family, and whose are they? */
import type { EndpointSlice } from "../api/types/discovery.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import { hasLiveAddress, isReady } from "../plan/pod-facts.ts";
import { type Finding, few, finding } from "./finding.ts";
import { type Subject, serviceName } from "./subject.ts";

export function sliceFindings(subject: Subject): readonly Finding[] {
	if (!subject.scene.has("EndpointSlice") || subject.service.spec.type === "ExternalName") return [];
	return [...missingSlices(subject), ...unlabelled(subject), ...ofOtherFamily(subject), ...managers(subject)];
}

function nameOf({ metadata }: EndpointSlice): string {
	return `EndpointSlice/${metadata.name}`;
}

function managerOf({ metadata }: EndpointSlice): string | undefined {
	return metadata.labels?.[SLICE_MANAGED_BY_LABEL];
}

function missingSlices(subject: Subject): readonly Finding[] {
	const { pods, slices, selector, namespace, service } = subject;
	const ready = pods.filter((pod) => hasLiveAddress(pod) && isReady(pod));
	if (selector === undefined || ready.length === 0 || slices.length > 0) return [];
	return [
		finding(
			"slices-missing",
			`${ready.length} Pods are ready, and there is no EndpointSlice for them: the controller does not run, or fails.`,
			[{ object: serviceName(subject), field: "spec.selector" }],
			`kubectl -n ${namespace} get events --field-selector involvedObject.name=${service.metadata.name}; look at the log of kube-controller-manager`,
		),
	];
}

/** A slice without the label that has the Service's name, or nearly, and is nobody else's. */
function unlabelled(subject: Subject): readonly Finding[] {
	const { scene, namespace, service, selector, slices } = subject;
	if (selector !== undefined || slices.length > 0) return [];
	const { name } = service.metadata;
	const meant = scene.snapshot.slices.filter(
		({ metadata }) =>
			metadata.namespace === namespace &&
			metadata.labels?.[SERVICE_NAME_LABEL] === undefined &&
			(metadata.name === name || metadata.name.startsWith(`${name}-`)),
	);
	if (meant.length === 0) return [];
	return [
		finding(
			"slice-without-service-name-label",
			`${few(meant.map(nameOf))} looks meant for the Service, and lacks the label ${SERVICE_NAME_LABEL}: a name says nothing.`,
			meant
				.slice(0, 3)
				.map((slice) => ({ object: nameOf(slice), field: "metadata.labels", value: SERVICE_NAME_LABEL })),
			`kubectl -n ${namespace} label endpointslice ${meant[0]?.metadata.name} ${SERVICE_NAME_LABEL}=${name}`,
		),
	];
}

function ofOtherFamily(subject: Subject): readonly Finding[] {
	const { slices, service } = subject;
	const used = slices.filter(({ endpoints }) => (endpoints ?? []).length > 0);
	if (used.length === 0) return [];
	if (used.every(({ addressType }) => addressType === "FQDN")) {
		const text = `All EndpointSlices of the Service are of type FQDN (${few(used.map(nameOf))}), which proxies and DNS do not use.`;
		return [
			finding(
				"only-fqdn-slices",
				text,
				used.slice(0, 3).map(typeEvidence),
				"use a Service of type ExternalName for one name, or addresses",
			),
		];
	}
	const families: readonly string[] = service.spec.ipFamilies ?? [];
	const other = used.filter(({ addressType }) => addressType !== "FQDN" && !families.includes(addressType));
	if (families.length === 0 || other.length === 0) return [];
	const text = `${few(other.map((slice) => `${nameOf(slice)} is ${slice.addressType}`))}, and the Service is ${families.join(" and ")}: nothing leads there.`;
	return [
		finding(
			"slice-of-other-family",
			text,
			other.slice(0, 3).map(typeEvidence),
			"make slices of the Service's families, or a Service of theirs",
		),
	];
}

function typeEvidence(slice: EndpointSlice) {
	return { object: nameOf(slice), field: "addressType", value: slice.addressType };
}

function managers(subject: Subject): readonly Finding[] {
	const { slices, service, selector } = subject;
	const named = [...new Set(slices.map(managerOf))];
	const [stale] = slices.filter((slice) => selector === undefined && managerOf(slice) === ENDPOINTSLICE_CONTROLLER);
	if (stale !== undefined) return [];
	const without = slices.filter((slice) => managerOf(slice) === undefined);
	const controllers = named.filter((name) => name !== undefined);
	const isMirrored = controllers.includes(ENDPOINTSLICEMIRRORING_CONTROLLER);
	const mirrored = isMirrored
		? ` The slices of ${ENDPOINTSLICEMIRRORING_CONTROLLER} are copies of Endpoints/${service.metadata.name}.`
		: "";
	return [
		...(controllers.length < 2
			? []
			: [
					finding(
						"slices-of-two-managers",
						`EndpointSlices of the Service come from ${controllers.join(" and ")}, and add up: ${few(endpointTexts(slices), 6)}.${mirrored}`,
						slices.slice(0, 3).map((slice) => ({
							object: nameOf(slice),
							field: `metadata.labels[${SLICE_MANAGED_BY_LABEL}]`,
							value: managerOf(slice) ?? "",
						})),
						"delete what one of them makes: the hand-made Endpoints, or the other's slices",
					),
				]),
		...(without.length === 0 || controllers.length === 0
			? []
			: [
					finding(
						"slice-without-managed-by",
						`${few(without.map(nameOf))} stands beside slices of ${controllers.join(", ")} and has no label ${SLICE_MANAGED_BY_LABEL}.`,
						without.slice(0, 3).map((slice) => ({ object: nameOf(slice), field: "metadata.labels" })),
						`label it with the name of who keeps it, or delete it`,
					),
				]),
	];
}

function endpointTexts(slices: readonly EndpointSlice[]): readonly string[] {
	return [...new Set(slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)))];
}
