/** Services that are names, and names below Services. */
import { parseIP } from "../api/ip.ts";
import { isHeadless } from "../plan/service-selector.ts";
import { type Finding, few, finding } from "./finding.ts";
import { patchFix } from "./fix.ts";
import { podName, type Subject, serviceName, serviceTarget } from "./subject.ts";

/** A loop that is longer is none that people make. */
const HOPS_MAX = 16;

export function nameFindings(subject: Subject): readonly Finding[] {
	if (subject.service.spec.type === "ExternalName") return externalName(subject);
	return [...subdomains(subject), ...statefulSets(subject), ...headless(subject)];
}

function externalName(subject: Subject): readonly Finding[] {
	const { service } = subject;
	const { externalName = "", selector = {} } = service.spec;
	const at = { object: serviceName(subject), field: "spec.externalName", value: externalName };
	const hasSelector = Object.keys(selector).length > 0;
	const ignored = hasSelector ? " Its selector is ignored." : "";
	const extra = hasSelector
		? [
				finding(
					"externalname-with-selector",
					"The selector has no effect: the selector is ignored for type ExternalName.",
					[{ object: serviceName(subject), field: "spec.selector" }],
					patchFix(serviceTarget(subject), { spec: { selector: null } }, "nothing changes but what readers think"),
				),
			]
		: [];
	if (parseIP(externalName) !== undefined) {
		const fix = "make a Service without selector and an EndpointSlice with the address";
		const text = `externalName ${externalName} is an address, and DNS gives it out as a name, which does not resolve. A Service without selector with an EndpointSlice is for addresses.`;
		return [finding("externalname-is-an-ip", text, [at], fix), ...extra];
	}
	const loop = loopFrom(subject);
	if (loop !== undefined) {
		return [
			finding(
				"externalname-loop",
				`ExternalName Services point at each other: ${loop.join(" -> ")}.`,
				[at],
				"let one of them name something outside",
			),
			...extra,
		];
	}
	const text = `The Service is another name for ${externalName}: it has no endpoints, and needs none.${ignored}`;
	return [finding("externalname-has-no-endpoints", text, [at]), ...extra];
}

/** Follows names of the form `name.namespace.svc…`. */
function loopFrom({ scene, key, service }: Subject): readonly string[] | undefined {
	const path = [key];
	let next: string | undefined = serviceNamed(service.spec.externalName ?? "");
	for (let hop = 0; hop < HOPS_MAX && next !== undefined; hop++) {
		if (path.includes(next)) return [...path, next];
		path.push(next);
		const found = scene.service(next);
		next = found?.spec.type === "ExternalName" ? serviceNamed(found.spec.externalName ?? "") : undefined;
	}
	return undefined;
}

function serviceNamed(name: string): string | undefined {
	const [service = "", namespace = "", svc] = name.split(".");
	return svc === "svc" ? `${namespace}/${service}` : undefined;
}

function subdomains(subject: Subject): readonly Finding[] {
	const { service, pods } = subject;
	const { name } = service.metadata;
	const other = pods.filter(
		({ spec }) => (spec.hostname ?? "") !== "" && (spec.subdomain ?? "") !== "" && spec.subdomain !== name,
	);
	if (!isHeadless(service) || other.length === 0) return [];
	const words = few(other.map(({ metadata, spec }) => `${metadata.name} has subdomain ${spec.subdomain}`));
	return [
		finding(
			"pod-subdomain-differs",
			`Pods get a name of their own below the Service that their subdomain names, and that is not ${name}: ${words}.`,
			other
				.slice(0, 3)
				.map((pod) => ({ object: podName(pod), field: "spec.subdomain", value: pod.spec.subdomain ?? "" })),
			`set spec.subdomain to ${name} (of a StatefulSet: spec.serviceName)`,
		),
	];
}

function statefulSets(subject: Subject): readonly Finding[] {
	const { scene, namespace, pods, service } = subject;
	const owners = new Set(
		pods.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind}/${name}`)),
	);
	if (!isHeadless(service) || owners.size === 0) return [];
	const other = (scene.namespaced().workloads.get(namespace) ?? []).filter(
		({ kind, metadata, spec }) =>
			kind === "StatefulSet" &&
			owners.has(`StatefulSet/${metadata.name}`) &&
			(spec?.serviceName ?? "") !== service.metadata.name,
	);
	// A second Service beside the governing one is usual; a headless one alone is not.
	if (other.length === 0) return [];
	const [first] = other;
	return [
		finding(
			"statefulset-of-other-service",
			`StatefulSet/${first?.metadata.name} names ${first?.spec?.serviceName || "no Service"} as its serviceName: stable names of its Pods are below that one.`,
			[
				{
					object: `StatefulSet/${first?.metadata.name}`,
					field: "spec.serviceName",
					value: first?.spec?.serviceName ?? "",
				},
			],
			`make the StatefulSet anew with spec.serviceName: ${service.metadata.name} (it cannot be changed)`,
		),
	];
}

function headless(subject: Subject): readonly Finding[] {
	const { loadBalancerIP } = subject.service.spec;
	if (loadBalancerIP?.toLowerCase() !== "none" || isHeadless(subject.service)) return [];
	return [
		finding(
			"looks-meant-headless",
			"loadBalancerIP is None, and the Service has a cluster IP: clusterIP: None makes a Service headless.",
			[{ object: serviceName(subject), field: "spec.loadBalancerIP", value: loadBalancerIP }],
			"make it anew with spec.clusterIP: None",
		),
	];
}
