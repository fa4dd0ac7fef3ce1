/** Are EndpointSlices there, of the right family, and whose are they? */
import type { EndpointSlice } from "../api/types/discovery.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	SERVICE_NAME_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import { controllerFindings } from "./controller-checks.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl, labelFix } from "./fix.ts";
import { slicesMeantFor } from "./meant-slices.ts";
import { isStale } from "./stale-checks.ts";
import type { Subject } from "./subject.ts";

/** Stands for the name of who keeps a slice. */
const YOURS = "you.example.com";

export function sliceFindings(subject: Subject): readonly Finding[] {
	if (!subject.scene.has("EndpointSlice", subject.namespace) || subject.service.spec.type === "ExternalName") return [];
	return [
		...controllerFindings(subject),
		...misnamed(subject),
		...ofOtherFamily(subject),
		...managers(subject),
		...claims(subject),
		...ofFormerService(subject),
	];
}

function nameOf({ metadata }: EndpointSlice): string {
	return `EndpointSlice/${metadata.name}`;
}

function managerOf({ metadata }: EndpointSlice): string | undefined {
	return metadata.labels?.[SLICE_MANAGED_BY_LABEL];
}

/** Slices that look meant for the Service, and do not name it, or name one that is not there. */
function misnamed(subject: Subject): readonly Finding[] {
	const { namespace, service, selector, slices } = subject;
	if (selector !== undefined || slices.length > 0) return [];
	const { name } = service.metadata;
	const meant = slicesMeantFor(subject);
	const [first] = meant;
	if (first === undefined) return [];
	const wrong = first.metadata.labels?.[SERVICE_NAME_LABEL];
	const fix = labelFix({ kind: "EndpointSlice", namespace, name: first.metadata.name }, [SERVICE_NAME_LABEL, name]);
	const evidence = meant.slice(0, 3).map((slice) => ({
		object: nameOf(slice),
		field: `metadata.labels[${SERVICE_NAME_LABEL}]`,
		value: slice.metadata.labels?.[SERVICE_NAME_LABEL] ?? "",
	}));
	if (wrong === undefined) {
		const text = `${few(meant.map(nameOf))} looks meant for the Service, and lacks the label ${SERVICE_NAME_LABEL}: a name says nothing.`;
		return [finding("slice-without-service-name-label", text, evidence, fix)];
	}
	const text = `${few(meant.map(nameOf))} looks meant for the Service, and its label ${SERVICE_NAME_LABEL} names ${wrong}, which is no Service of the namespace.`;
	return [finding("slice-with-wrong-service-name", text, evidence, fix)];
}

/** Slices that say that a controller made them, and that it did not make: it would name its owner. */
function claims(subject: Subject): readonly Finding[] {
	const { slices, namespace } = subject;
	const theirs = slices.filter((slice) => {
		const manager = managerOf(slice);
		const isControllers = manager === ENDPOINTSLICE_CONTROLLER || manager === ENDPOINTSLICEMIRRORING_CONTROLLER;
		return isControllers && slice.metadata.ownerReferences === undefined;
	});
	const [first] = theirs;
	if (first === undefined) return [];
	return [
		finding(
			"slice-claims-a-controller",
			`${few(theirs.map(nameOf))} says that ${managerOf(first)} keeps it, and has no owner, as that one's have: the controller takes it for its own, and changes or deletes it.`,
			theirs.slice(0, 3).map((slice) => ({
				object: nameOf(slice),
				field: `metadata.labels[${SLICE_MANAGED_BY_LABEL}]`,
				value: managerOf(slice) ?? "",
			})),
			labelFix(
				{ kind: "EndpointSlice", namespace, name: first.metadata.name },
				[SLICE_MANAGED_BY_LABEL, YOURS],
				"with a name of your own",
			),
		),
	];
}

/** A Service that was deleted and made anew under its name has another uid. */
function ofFormerService({ slices, service, namespace }: Subject): readonly Finding[] {
	const { uid } = service.metadata;
	if (uid === undefined) return [];
	const former = slices.flatMap((slice) => {
		const owner = (slice.metadata.ownerReferences ?? []).find(({ kind }) => kind === "Service");
		return owner === undefined || owner.uid === uid || owner.uid === undefined ? [] : [{ slice, owner }];
	});
	const [first] = former;
	if (first === undefined) return [];
	return [
		finding(
			"slices-of-former-service",
			`The Service was made anew: ${few(former.map(({ slice }) => nameOf(slice)))} belongs to the one before it, and the garbage collector deletes it with what it lists.`,
			former.slice(0, 3).map(({ slice, owner }) => ({
				object: nameOf(slice),
				field: "metadata.ownerReferences[0].uid",
				value: owner.uid,
			})),
			kubectl(
				["-n", namespace, "delete", "endpointslice", first.slice.metadata.name],
				"the controller makes those of the new one",
			),
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
	if (selector === undefined && slices.some(isStale)) return [];
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
						labelFix(
							{ kind: "EndpointSlice", namespace: subject.namespace, name: without[0]?.metadata.name ?? "" },
							[SLICE_MANAGED_BY_LABEL, YOURS],
							"with a name of your own, or delete it",
						),
					),
				]),
	];
}

function endpointTexts(slices: readonly EndpointSlice[]): readonly string[] {
	return [...new Set(slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)))];
}
