/** Endpoints that somebody makes by hand: are they there, mirrored, and do their ports meet the Service's? */
import type { Endpoints } from "../api/types/core.ts";
import {
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	LEADER_ANNOTATION,
	OVER_CAPACITY_ANNOTATION,
	SERVICE_NAME_LABEL,
	SKIP_MIRROR_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import { mayBeMirrored } from "../plan/mirroring/eligibility.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl, labelFix, patchFix } from "./fix.ts";
import { endpointsName, manualEndpoints } from "./manual-endpoint-checks.ts";
import { portNames } from "./manual-port-checks.ts";
import { slicesMeantFor, slicesWithPortsOf } from "./meant-slices.ts";
import { type Subject, serviceName } from "./subject.ts";

export function manualFindings(subject: Subject): readonly Finding[] {
	const { service, selector, endpoints } = subject;
	if (service.spec.type === "ExternalName") return [];
	const shared = [...bothLists(subject), ...overCapacity(endpoints)];
	if (selector !== undefined) return [...portNames(subject), ...shared];
	return [
		...nothing(subject),
		...notMirrored(subject),
		...mirroredInPart(subject),
		...portNames(subject),
		...manualEndpoints(subject),
		...targetPorts(subject),
		...shared,
	];
}

function nothing(subject: Subject): readonly Finding[] {
	const { scene, slices, endpoints, namespace, service } = subject;
	const { name } = service.metadata;
	if (!scene.has("EndpointSlice", namespace) || !scene.has("Endpoints", namespace)) return [];
	const isEmpty = slices.every((slice) => (slice.endpoints ?? []).length === 0);
	// A finding of a slice that is meant says more.
	if (!isEmpty || (endpoints !== undefined && addressCount(endpoints) > 0) || slicesMeantFor(subject).length > 0) {
		return [];
	}
	const others = (scene.namespaced().endpoints.get(namespace) ?? []).filter(
		(each) =>
			addressCount(each) > 0 &&
			mayBeMirrored(each) &&
			scene.service(`${namespace}/${each.metadata.name}`) === undefined,
	);
	const unnamed = slicesWithPortsOf(subject);
	const [slice] = unnamed;
	const strays = [...others.map(endpointsName), ...unnamed.map(({ metadata }) => `EndpointSlice/${metadata.name}`)];
	const belongs = strays.length === 0 ? "" : ` ${few(strays)} belongs to no Service.`;
	const missing = finding(
		"no-selector-and-no-manual-endpoints",
		`The Service has no selector, and ${emptyWords(subject)}.${belongs}`,
		[
			{ object: serviceName(subject), field: "spec.selector" },
			...slices.slice(0, 2).map((each) => ({ object: `EndpointSlice/${each.metadata.name}`, field: "endpoints" })),
			...(endpoints === undefined ? [] : [{ object: endpointsName(endpoints), field: "subsets" }]),
			...unnamed
				.slice(0, 2)
				.map(({ metadata }) => ({ object: `EndpointSlice/${metadata.name}`, field: "metadata.labels" })),
		],
		slice !== undefined && strays.length === 1
			? labelFix({ kind: "EndpointSlice", namespace, name: slice.metadata.name }, [SERVICE_NAME_LABEL, name], IF_MEANT)
			: others.length > 0
				? `${anew(others, name)}, ${IF_MEANT}; else give it a selector, or an EndpointSlice with the label ${SERVICE_NAME_LABEL}=${name}`
				: `give it a selector, or an EndpointSlice with endpoints and the label ${SERVICE_NAME_LABEL}=${name}`,
	);
	return others.length === 0 ? [missing] : [missing, underAnotherName(others, name)];
}

const IF_MEANT = "if that is meant";

/** What there is instead of endpoints. */
function emptyWords({ slices, endpoints, service }: Subject): string {
	const { name } = service.metadata;
	const empty = [
		...slices.map(({ metadata }) => `EndpointSlice/${metadata.name}`),
		...(endpoints === undefined ? [] : [endpointsName(endpoints)]),
	];
	if (empty.length === 0) return `there are no EndpointSlices and no Endpoints of the name ${name}`;
	return `${few(empty)} ${empty.length === 1 ? "lists" : "list"} no address`;
}

function anew(others: readonly Endpoints[], name: string): string {
	return `make ${few(others.map(endpointsName))} anew with the name ${name}`;
}

function underAnotherName(others: readonly Endpoints[], name: string): Finding {
	return finding(
		"endpoints-under-another-name",
		`${few(others.map(endpointsName))} belongs to no Service: Endpoints belong to the Service of the same name.`,
		others
			.slice(0, 3)
			.map((each) => ({ object: endpointsName(each), field: "metadata.name", value: each.metadata.name })),
		anew(others, name),
	);
}

/** What keeps hand-made Endpoints out of mirroring. */
function exclusion({ metadata }: Endpoints) {
	const { labels, annotations } = metadata;
	if (labels?.[SKIP_MIRROR_LABEL] === "true") {
		const value = `${SKIP_MIRROR_LABEL}=true`;
		return { kind: "labels", key: SKIP_MIRROR_LABEL, value, rule: `label ${value}` } as const;
	}
	if (annotations?.[LEADER_ANNOTATION] === undefined) return undefined;
	const rule = `annotation ${LEADER_ANNOTATION}, which marks the lock of a leader election`;
	return { kind: "annotations", key: LEADER_ANNOTATION, value: LEADER_ANNOTATION, rule } as const;
}

function addressCount({ subsets = [] }: Endpoints): number {
	return subsets.reduce(
		(sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length,
		0,
	);
}

/** Of a Service without selector: what becomes of its Endpoints. */
export function mirroringText({ endpoints, slices }: Subject): readonly string[] {
	if (endpoints === undefined) return [];
	const rule = exclusion(endpoints)?.rule;
	const copies = slices.filter(
		({ metadata }) => metadata.labels?.[SLICE_MANAGED_BY_LABEL] === ENDPOINTSLICEMIRRORING_CONTROLLER,
	);
	const how =
		rule === undefined
			? `copied to ${copies.length === 0 ? "nothing yet" : few(copies.map(({ metadata }) => metadata.name))}`
			: `not mirrored: ${rule}`;
	return [`${endpointsName(endpoints)}: ${addressCount(endpoints)} addresses, ${how}`];
}

function notMirrored(subject: Subject): readonly Finding[] {
	const { endpoints, slices, namespace, scene } = subject;
	if (endpoints === undefined || slices.length > 0 || addressCount(endpoints) === 0) return [];
	const { name } = endpoints.metadata;
	const target = { kind: "Endpoints", namespace, name };
	const why = mayBeMirrored(endpoints) ? undefined : exclusion(endpoints);
	if (why !== undefined) {
		const at = { object: endpointsName(endpoints), field: `metadata.${why.kind}`, value: why.value };
		return [
			finding(
				"endpoints-not-mirrored",
				`${endpointsName(endpoints)} is left out of mirroring by its ${why.rule}, so there are no EndpointSlices, and proxies read nothing else.`,
				[at],
				patchFix(target, { metadata: { [why.kind]: { [why.key]: null } } }, "or make EndpointSlices of them"),
			),
		];
	}
	// Manifests on their own have not been mirrored by anyone yet.
	if (!scene.has("EndpointSlice", namespace)) return [];
	return [
		finding(
			"mirrored-slices-missing",
			`${endpointsName(endpoints)} may be mirrored, and there is no EndpointSlice of it: the mirroring controller does not run, or fails.`,
			[{ object: endpointsName(endpoints), field: "subsets" }],
			kubectl(
				[
					"-n",
					namespace,
					"get",
					"events",
					"--field-selector",
					`involvedObject.kind=Endpoints,involvedObject.name=${name}`,
				],
				"and look at the log of kube-controller-manager",
			),
		),
	];
}

/** `--mirroring-max-endpoints-per-subset` at its default. */
const MIRRORED_MAX = 1_000;

function mirroredInPart({ endpoints }: Subject): readonly Finding[] {
	if (endpoints === undefined || !mayBeMirrored(endpoints)) return [];
	const sizes = (endpoints.subsets ?? []).map(
		({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length,
	);
	const most = Math.max(0, ...sizes);
	if (most <= MIRRORED_MAX) return [];
	return [
		finding(
			"mirroring-over-capacity",
			`A subset of ${endpointsName(endpoints)} has ${most} addresses, and the first ${MIRRORED_MAX} of a subset are mirrored: the rest gets no traffic.`,
			[{ object: endpointsName(endpoints), field: `subsets[${sizes.indexOf(most)}].addresses`, value: String(most) }],
			"make EndpointSlices instead, with the label kubernetes.io/service-name: they have no such limit",
		),
	];
}

function targetPorts(subject: Subject): readonly Finding[] {
	const { service, slices } = subject;
	const ports = (service.spec.ports ?? []).filter(
		({ port, targetPort }) => targetPort !== undefined && targetPort !== port,
	);
	if (ports.length === 0 || slices.length === 0) return [];
	const words = ports.map(({ targetPort }) => String(targetPort)).join(", ");
	const used = [
		...new Set(slices.flatMap((slice) => (slice.ports ?? []).map(({ port }) => String(port ?? "any")))),
	].join(", ");
	return [
		finding(
			"target-port-has-no-effect",
			`targetPort ${words} is not used without a selector: the endpoints' own port ${used} is.`,
			[{ object: serviceName(subject), field: "spec.ports[*].targetPort", value: words }],
		),
	];
}

function bothLists({ endpoints }: Subject): readonly Finding[] {
	const subsets = endpoints?.subsets ?? [];
	const ready = new Set(subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)));
	const both = subsets
		.flatMap(({ notReadyAddresses = [] }) => notReadyAddresses.map(({ ip }) => ip))
		.filter((ip) => ready.has(ip));
	if (endpoints === undefined || both.length === 0) return [];
	return [
		finding(
			"address-ready-and-not-ready",
			`${few(both)} is ready and not ready in ${endpointsName(endpoints)}: in the slices made of it, what comes later counts.`,
			[{ object: endpointsName(endpoints), field: "subsets[*].notReadyAddresses", value: both.join(",") }],
			"keep it in one of the lists",
		),
	];
}

function overCapacity(endpoints: Endpoints | undefined): readonly Finding[] {
	if (endpoints?.metadata.annotations?.[OVER_CAPACITY_ANNOTATION] === undefined) return [];
	return [
		finding(
			"over-capacity",
			`${endpointsName(endpoints)} holds 1,000 addresses and no more; EndpointSlices hold all.`,
			[{ object: endpointsName(endpoints), field: "metadata.annotations", value: OVER_CAPACITY_ANNOTATION }],
		),
	];
}
