/** Does a client get anywhere at all? What is said here stands last: what names the cause comes before it. */
import type { Endpoint, EndpointSlice } from "../api/types/discovery.ts";
import { HEADLESS_LABEL, SERVICE_NAME_LABEL } from "../api/well-known.ts";
import { isProxied } from "../plan/service-map/service-ports.ts";
import { type Evidence, type Finding, few, finding } from "./finding.ts";
import { kubectl, labelFix } from "./fix.ts";
import { familiesThatFail, isReached, reachedLines } from "./reached.ts";
import { type Subject, serviceName, serviceTarget } from "./subject.ts";

/** Of a Service with a cluster IP: labels that keep proxies from it, or from all of its slices. */
export function labelFindings(subject: Subject): readonly Finding[] {
	const { service, slices, namespace } = subject;
	const { clusterIP = "", type } = service.spec;
	if (type === "ExternalName" || clusterIP === "" || clusterIP === "None") return [];
	const field = `metadata.labels[${HEADLESS_LABEL}]`;
	if (isLabelled(service)) {
		const text = `The label ${HEADLESS_LABEL} says that the Service has no cluster IP, and it has ${clusterIP}: proxies make no rules for it, and nobody answers there.`;
		const at = { object: serviceName(subject), field, value: service.metadata.labels?.[HEADLESS_LABEL] ?? "" };
		return [finding("headless-label", text, [at], labelFix(serviceTarget(subject), [HEADLESS_LABEL, null]))];
	}
	const used = slices.filter(({ endpoints }) => (endpoints ?? []).length > 0);
	const [first] = used;
	if (first === undefined || !used.every(isLabelled) || !isProxied(service)) return [];
	const target = { kind: "EndpointSlice", namespace, name: first.metadata.name };
	return [
		finding(
			"headless-label",
			`The label ${HEADLESS_LABEL} keeps proxies from ${few(used.map(nameOf))}: it is for slices of Services without a cluster IP.`,
			used.slice(0, 3).map((slice) => ({
				object: nameOf(slice),
				field,
				value: slice.metadata.labels?.[HEADLESS_LABEL] ?? "",
			})),
			labelFix(target, [HEADLESS_LABEL, null]),
		),
	];
}

function isLabelled({ metadata }: { readonly metadata: { readonly labels?: object } }): boolean {
	return metadata.labels !== undefined && Object.hasOwn(metadata.labels, HEADLESS_LABEL);
}

/** @param hasError Another finding says why. */
export function reachFindings(subject: Subject, hasError: boolean): readonly Finding[] {
	const { service, scene, namespace } = subject;
	if (service.spec.type === "ExternalName" || !scene.has("EndpointSlice", namespace)) return [];
	if (hasError) return [];
	if (!isReached(subject)) return [nothingReached(subject)];
	return (service.spec.ipFamilies ?? []).length > 1 ? familyAlone(subject) : [];
}

function nothingReached(subject: Subject): Finding {
	const { namespace, service, slices } = subject;
	const seen = slices.flatMap((slice) => (slice.endpoints ?? []).map((endpoint, at) => ({ slice, endpoint, at })));
	const what =
		slices.length === 0
			? "There are no EndpointSlices."
			: seen.length === 0
				? `${few(slices.map(nameOf))} lists no endpoints.`
				: `Of the endpoints none is used: ${few(seen.map(({ endpoint }) => stateOf(endpoint)))}.`;
	return finding(
		"nothing-reached",
		`No port of the Service leads anywhere: ${few(reachedLines(subject))}. ${what}`,
		seen.length === 0
			? slices.slice(0, 3).map((slice) => ({ object: nameOf(slice), field: "endpoints", value: "none" }))
			: seen.slice(0, 3).map(({ slice, endpoint, at }) => conditionEvidence(slice, endpoint, at)),
		kubectl(
			["-n", namespace, "get", "endpointslices", "-l", `${SERVICE_NAME_LABEL}=${service.metadata.name}`, "-o", "yaml"],
			"want an endpoint that is ready, in a slice of the Service's family, with a port of its name, protocol and number",
		),
	);
}

function nameOf({ metadata }: EndpointSlice): string {
	return `EndpointSlice/${metadata.name}`;
}

function stateOf({ addresses, conditions }: Endpoint): string {
	const state = conditions?.terminating === true ? "terminating" : conditions?.ready === false ? "not ready" : "ready";
	return `${addresses[0] ?? "no address"} is ${state}`;
}

function conditionEvidence(slice: EndpointSlice, { conditions }: Endpoint, at: number): Evidence {
	const value = Object.entries(conditions ?? {}).map(([name, holds]) => `${name}=${String(holds)}`);
	return { object: nameOf(slice), field: `endpoints[${at}].conditions`, value: value.join(",") || "none" };
}

function familyAlone(subject: Subject): readonly Finding[] {
	const failing = familiesThatFail(subject);
	if (failing.length === 0) return [];
	const { ipFamilies = [] } = subject.service.spec;
	const names = failing.join(" and ");
	return [
		finding(
			"family-without-endpoints",
			`The Service is ${ipFamilies.join(" and ")}, and no endpoint is of ${names}: clients that take its ${names} address are refused.`,
			[
				{ object: serviceName(subject), field: "spec.ipFamilies", value: ipFamilies.join(",") },
				...subject.slices
					.slice(0, 2)
					.map((slice) => ({ object: nameOf(slice), field: "addressType", value: slice.addressType })),
			],
			`make endpoints of ${names} too, or the Service of one family (spec.ipFamilyPolicy: SingleStack)`,
		),
	];
}
