/** Services that are names, and names below Services. */
import { parseIP } from "../api/ip.ts";
import { isHeadless } from "../plan/service-selector.ts";
import { type Finding, few, finding } from "./finding.ts";
import { kubectl, patchFix } from "./fix.ts";
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
	const absent = absentTarget(subject);
	if (absent !== undefined) return [absent, ...extra];
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

/** A name in a cluster of another domain looks alike: only the usual domain, or none, is this one's for sure. */
const OWN_DOMAIN = /^([^.]+)\.([^.]+)\.svc(?:\.cluster\.local)?\.?$/;

/** `namespace/name` of the Service of this cluster that an ExternalName stands for, there or not. */
export function serviceBehind({ service }: Subject): string | undefined {
	const { type, externalName = "" } = service.spec;
	const [, name, namespace] = OWN_DOMAIN.exec(externalName.toLowerCase()) ?? [];
	return type !== "ExternalName" || name === undefined ? undefined : `${namespace}/${name}`;
}

function absentTarget(subject: Subject): Finding | undefined {
	const { scene, service } = subject;
	const key = serviceBehind(subject);
	const [namespace = "", name = ""] = key?.split("/") ?? [];
	if (key === undefined || !scene.has("Service", namespace) || scene.service(key) !== undefined) return undefined;
	const { externalName = "" } = service.spec;
	return finding(
		"externalname-target-missing",
		`externalName ${externalName} is the name of Service ${name} in namespace ${namespace}, which does not exist: the name leads to nothing.`,
		[{ object: serviceName(subject), field: "spec.externalName", value: externalName }],
		kubectl(["get", "services", "-A", "--field-selector", `metadata.name=${name}`], "then correct spec.externalName"),
	);
}

function serviceNamed(name: string): string | undefined {
	const [service = "", namespace = "", svc] = name.split(".");
	return svc === "svc" ? `${namespace}/${service}` : undefined;
}

function subdomains(subject: Subject): readonly Finding[] {
	const { service, pods, scene, namespace } = subject;
	const { name } = service.metadata;
	const other = pods.filter(
		({ spec }) =>
			(spec.hostname ?? "") !== "" &&
			(spec.subdomain ?? "") !== "" &&
			spec.subdomain !== name &&
			// Below that one they have their names.
			scene.service(`${namespace}/${spec.subdomain}`) === undefined,
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
			(spec?.serviceName ?? "") !== service.metadata.name &&
			// A second Service beside the governing one is usual; a headless one alone is not.
			scene.service(`${namespace}/${spec?.serviceName ?? ""}`) === undefined,
	);
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
