/** Endpoints that somebody makes by hand: are they there, mirrored, and do their ports meet the Service's? */
import type { Endpoints } from "../api/types/core.ts";
import { LEADER_ANNOTATION, OVER_CAPACITY_ANNOTATION, SKIP_MIRROR_LABEL } from "../api/well-known.ts";
import { mayBeMirrored } from "../plan/mirroring/eligibility.ts";
import { type Finding, few, finding } from "./finding.ts";
import { type Subject, serviceName } from "./subject.ts";

export function manualFindings(subject: Subject): readonly Finding[] {
	const { service, selector, endpoints } = subject;
	if (service.spec.type === "ExternalName") return [];
	const shared = [...bothLists(subject), ...overCapacity(endpoints)];
	if (selector !== undefined) return shared;
	return [
		...nothing(subject),
		...notMirrored(subject),
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
	if (!scene.has("EndpointSlice") || !scene.has("Endpoints")) return [];
	const isEmpty =
		slices.every((slice) => (slice.endpoints ?? []).length === 0) && (endpoints?.subsets ?? []).length === 0;
	if (!isEmpty || slices.length > 0) return [];
	const { name } = service.metadata;
	const unlabelled = scene.snapshot.slices.some(
		({ metadata }) =>
			metadata.namespace === namespace && (metadata.name === name || metadata.name.startsWith(`${name}-`)),
	);
	// That finding says more.
	if (unlabelled) return [];
	const others = scene.snapshot.endpoints.filter(
		({ metadata, subsets = [] }) =>
			metadata.namespace === namespace &&
			subsets.length > 0 &&
			scene.service(`${namespace}/${metadata.name}`) === undefined,
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

function notMirrored(subject: Subject): readonly Finding[] {
	const { endpoints, slices, namespace } = subject;
	if (
		endpoints === undefined ||
		slices.length > 0 ||
		(endpoints.subsets ?? []).length === 0 ||
		mayBeMirrored(endpoints)
	)
		return [];
	const { labels, annotations } = endpoints.metadata;
	const why =
		labels?.[SKIP_MIRROR_LABEL] === "true"
			? { field: "metadata.labels", value: `${SKIP_MIRROR_LABEL}=true` }
			: annotations?.[LEADER_ANNOTATION] === undefined
				? { field: "metadata.labels", value: "of the Endpoints controller" }
				: { field: "metadata.annotations", value: LEADER_ANNOTATION };
	return [
		finding(
			"endpoints-not-mirrored",
			`${endpointsName(endpoints)} is left out of mirroring (${why.value}), so there are no EndpointSlices, and proxies read nothing else.`,
			[{ object: endpointsName(endpoints), ...why }],
			`take it away (kubectl -n ${namespace} edit endpoints ${endpoints.metadata.name}), or make EndpointSlices`,
		),
	];
}

/** `unnamed` or `http`, as people say it. */
function portWord(name: string): string {
	return name === "" ? "unnamed" : name;
}

function portNames(subject: Subject): readonly Finding[] {
	const { service, slices, endpoints } = subject;
	const used = slices.filter((slice) => (slice.endpoints ?? []).length > 0);
	if (used.length === 0) return [];
	const offered = new Set(
		used.flatMap(({ ports }) => (ports ?? []).map(({ name, protocol = "TCP" }) => `${protocol}/${name ?? ""}`)),
	);
	const missing = (service.spec.ports ?? []).filter(
		({ name = "", protocol = "TCP" }) => !offered.has(`${protocol}/${name}`),
	);
	if (missing.length === 0) return [];
	const source = endpoints === undefined ? `EndpointSlice/${used[0]?.metadata.name}` : endpointsName(endpoints);
	const has = [...offered].map((text) => portWord(text.slice(text.indexOf("/") + 1)));
	const text = `Port ${missing.map(({ name = "" }) => portWord(name)).join(", ")} of the Service leads nowhere: ports of ${source} are ${has.join(", ")}. Names and protocols must be the same.`;
	return [
		finding(
			"port-name-mismatch",
			text,
			[
				{
					object: serviceName(subject),
					field: "spec.ports[*].name",
					value: missing.map(({ name = "" }) => name).join(","),
				},
				{ object: source, field: "ports[*].name", value: has.join(",") },
			],
			`name the ports of ${source} as those of the Service`,
		),
	];
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
