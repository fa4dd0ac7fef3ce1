/** Endpoints that somebody makes by hand: are they there, mirrored, and do their ports meet the Service's? */
import type { Endpoints } from "../api/types/core.ts";
import type { EndpointSlice } from "../api/types/discovery.ts";
import {
	ENDPOINTSLICE_CONTROLLER,
	ENDPOINTSLICEMIRRORING_CONTROLLER,
	LEADER_ANNOTATION,
	OVER_CAPACITY_ANNOTATION,
	SKIP_MIRROR_LABEL,
	SLICE_MANAGED_BY_LABEL,
} from "../api/well-known.ts";
import { mayBeMirrored } from "../plan/mirroring/eligibility.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl, patchFix } from "./fix.ts";
import { slicesMeantFor } from "./meant-slices.ts";
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
		...otherNamespaces(subject),
		...targetPorts(subject),
		...shared,
	];
}

function endpointsName({ metadata }: Endpoints): string {
	return `Endpoints/${metadata.name}`;
}

function nothing(subject: Subject): readonly Finding[] {
	const { scene, slices, endpoints, namespace, service } = subject;
	const { name } = service.metadata;
	if (!scene.has("EndpointSlice") || !scene.has("Endpoints")) return [];
	const isEmpty =
		slices.every((slice) => (slice.endpoints ?? []).length === 0) && (endpoints?.subsets ?? []).length === 0;
	// A finding of a slice that is meant says more.
	if (!isEmpty || slices.length > 0 || slicesMeantFor(subject).length > 0) return [];
	const others = (scene.namespaced().endpoints.get(namespace) ?? []).filter(
		({ metadata, subsets = [] }) => subsets.length > 0 && scene.service(`${namespace}/${metadata.name}`) === undefined,
	);
	const text = `The Service has no selector, and there are no EndpointSlices and no Endpoints of the name ${name}.`;
	const missing = finding(
		"no-selector-and-no-manual-endpoints",
		others.length === 0 ? text : `${text} ${few(others.map(endpointsName))} belongs to no Service.`,
		[{ object: serviceName(subject), field: "spec.selector" }],
		`give it a selector, or an EndpointSlice with the label kubernetes.io/service-name=${name}`,
	);
	return others.length === 0 ? [missing] : [missing, underAnotherName(others, name)];
}

function underAnotherName(others: readonly Endpoints[], name: string): Finding {
	return finding(
		"endpoints-under-another-name",
		`${few(others.map(endpointsName))} belongs to no Service: Endpoints belong to the Service of the same name.`,
		others
			.slice(0, 3)
			.map((each) => ({ object: endpointsName(each), field: "metadata.name", value: each.metadata.name })),
		`make the Endpoints anew with the name ${name}`,
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
	if (!scene.has("EndpointSlice")) return [];
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

/** `unnamed` or `http`, as people say it. */
function portWord(name: string): string {
	return name === "" ? "unnamed" : name;
}

function portNames(subject: Subject): readonly Finding[] {
	const { service, slices, endpoints, selector } = subject;
	// Beside a selector those of the controller are as they should be, and others are somebody's own.
	const byHand =
		selector === undefined ? slices : slices.filter((slice) => managerOf(slice) !== ENDPOINTSLICE_CONTROLLER);
	const used = byHand.filter((slice) => (slice.endpoints ?? []).length > 0);
	const [first] = used;
	if (first === undefined) return [];
	const offered = new Set(
		used.flatMap(({ ports }) => (ports ?? []).map(({ name, protocol }) => `${protocol ?? "TCP"}/${name ?? ""}`)),
	);
	const missing = (service.spec.ports ?? []).filter(
		({ name = "", protocol = "TCP" }) => !offered.has(`${protocol}/${name}`),
	);
	if (missing.length === 0) return [];
	const source =
		endpoints === undefined || selector !== undefined
			? `EndpointSlice/${first.metadata.name}`
			: endpointsName(endpoints);
	const has = [...offered].map((text) => portWord(text.slice(text.indexOf("/") + 1)));
	const names = missing.map(({ name = "" }) => portWord(name)).join(", ");
	return [
		finding(
			"port-name-mismatch",
			`Port ${names} of the Service leads nowhere: ports of ${source} are ${has.join(", ")}. Names and protocols must be the same.`,
			[
				{
					object: serviceName(subject),
					field: "spec.ports[*].name",
					value: missing.map(({ name = "" }) => name).join(","),
				},
				{ object: source, field: "ports[*].name", value: has.join(",") },
			],
			namingFix(subject, source, used),
		),
	];
}

function managerOf({ metadata }: EndpointSlice): string | undefined {
	return metadata.labels?.[SLICE_MANAGED_BY_LABEL];
}

/** One port here and one there: there is no doubt which is meant. */
function namingFix({ service, endpoints, namespace }: Subject, source: string, used: readonly EndpointSlice[]) {
	const [port, second] = service.spec.ports ?? [];
	const [kind = "", name = ""] = source.split("/");
	const words = `name the ports of ${source} as those of the Service`;
	if (port === undefined || second !== undefined || used.length !== 1) return words;
	const isSlice = kind === "EndpointSlice";
	const subsets = endpoints?.subsets ?? [];
	const ports = isSlice ? used[0]?.ports : subsets.length === 1 ? subsets[0]?.ports : undefined;
	const [only, another] = ports ?? [];
	if (only === undefined || another !== undefined || (only.protocol ?? "TCP") !== (port.protocol ?? "TCP"))
		return words;
	const path = `${isSlice ? "" : "/subsets/0"}/ports/0/name`;
	return patchFix({ kind, namespace, name }, [{ op: "add", path, value: port.name ?? "" }], words);
}

function otherNamespaces(subject: Subject): readonly Finding[] {
	const { slices, namespace } = subject;
	const targets = slices.flatMap(({ endpoints }) =>
		(endpoints ?? []).flatMap(({ targetRef }) => (targetRef === undefined ? [] : [targetRef])),
	);
	const foreign = targets.filter(({ kind, namespace: own = namespace }) => kind === "Pod" && own !== namespace);
	if (foreign.length === 0) return [];
	const names = few(foreign.map(({ namespace: own = "", name = "" }) => `${own}/${name}`));
	return [
		finding("target-in-other-namespace", `Endpoints of the Service point at Pods of other namespaces: ${names}.`, [
			{ object: serviceName(subject), field: "metadata.namespace", value: namespace },
		]),
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
