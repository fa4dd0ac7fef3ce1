/**
 * What a client's name for a host means in the cluster: a Service, one of its endpoints by hostname, or nothing.
 *
 *     web, web.default, web.default.svc, web.default.svc.cluster.local      the Service
 *     web-0.web.default.svc.cluster.local                                   its endpoint with that hostname
 *     10-244-0-7.default.pod.cluster.local                                  the Pod with that address
 */
import { canonicalIP, parseIP } from "../../api/ip.ts";
import type { ServedService } from "./served-service.ts";

export interface NameScope {
	/** `cluster.local`. */
	readonly clusterDomain: string;
	/** Of names that name none. */
	readonly namespace: string;
	/** `key` is `namespace/name`. */
	service(key: string): ServedService | undefined;
}

export type NameMeaning =
	/** At least one; each is as good as the others. */
	| { readonly kind: "addresses"; readonly ips: readonly string[] }
	/** Another name stands for it, such as an ExternalName's. */
	| { readonly kind: "alias"; readonly name: string }
	/** It could be a name of the cluster, and has no address now; `isKnown`: there is such a Service. */
	| { readonly kind: "none"; readonly why: string; readonly isKnown: boolean }
	/** No name of the cluster. */
	| { readonly kind: "foreign" };

const FOREIGN: NameMeaning = { kind: "foreign" };

/** A name that does not end in the cluster's domain is looked for as a Pod's resolver does, by its search list. */
export function meaningOf(text: string, scope: NameScope): NameMeaning {
	const name = text.toLowerCase().replace(/\.$/, "");
	const suffix = `.${scope.clusterDomain}`;
	if (name.endsWith(suffix)) return fullMeaning(name.slice(0, -suffix.length), scope);
	const meanings = [`${name}.${scope.namespace}.svc`, `${name}.svc`, name].map((each) => fullMeaning(each, scope));
	const found = meanings.find(({ kind }) => kind !== "none");
	// What is no name of a Service may be a host of the outside world.
	return found ?? meanings.find((each) => each.kind === "none" && each.isKnown) ?? own(name);
}

/** Nobody but the cluster has names that end in `svc`. */
function own(name: string): NameMeaning {
	return name.endsWith(".svc") ? { kind: "none", why: `${name}: no such Service`, isKnown: false } : FOREIGN;
}

/** @param name Without the cluster's domain. */
function fullMeaning(name: string, scope: NameScope): NameMeaning {
	const labels = name.split(".");
	const type = labels.at(-1);
	if (type === "pod") return podMeaning(labels);
	if (type === "svc") return serviceMeaning(labels.slice(0, -1), scope, name);
	return { kind: "none", why: `${name}: no such name in the cluster`, isKnown: false };
}

/** `name, namespace` or `hostname, name, namespace`. */
function serviceMeaning(labels: readonly string[], { service }: NameScope, text: string): NameMeaning {
	const [name = "", namespace = ""] = labels.slice(-2);
	const served = labels.length < 2 || labels.length > 3 ? undefined : service(`${namespace}/${name}`);
	if (served === undefined) return { kind: "none", why: `${text}: no such Service`, isKnown: false };
	const { spec } = served.service;
	const hostname = labels.length === 3 ? labels[0] : undefined;
	if (spec.type === "ExternalName" && hostname === undefined) return { kind: "alias", name: spec.externalName ?? "" };
	const isHeadless = spec.clusterIP === "None";
	if (!isHeadless && hostname === undefined) return addresses([spec.clusterIP ?? ""], text);
	return addresses(isHeadless ? endpointAddresses(served, hostname) : [], text);
}

/** Of endpoints that are ready, or whose readiness nobody told. */
function endpointAddresses({ slices }: ServedService, hostname: string | undefined): readonly string[] {
	const ready = slices
		.filter(({ addressType }) => addressType !== "FQDN")
		.flatMap(({ endpoints }) => endpoints ?? [])
		.filter(
			(endpoint) => (endpoint.conditions.ready ?? true) && (hostname === undefined || endpoint.hostname === hostname),
		);
	return [...new Set(ready.flatMap((endpoint) => endpoint.addresses.slice(0, 1)))];
}

function addresses(ips: readonly string[], text: string): NameMeaning {
	const known = ips.filter((ip) => ip !== "");
	return known.length === 0
		? { kind: "none", why: `${text}: no endpoint is ready`, isKnown: true }
		: { kind: "addresses", ips: known };
}

/** `10-244-0-7, namespace, pod`: IPv6 has dashes for its colons. */
function podMeaning(labels: readonly string[]): NameMeaning {
	const [dashed = ""] = labels;
	const ip = [dashed.replaceAll("-", "."), dashed.replaceAll("-", ":")].find((each) => parseIP(each) !== undefined);
	const canonical = labels.length === 3 && ip !== undefined ? canonicalIP(ip) : undefined;
	if (canonical === undefined)
		return { kind: "none", why: `${labels.join(".")}: want an address with dashes`, isKnown: false };
	return { kind: "addresses", ips: [canonical] };
}
