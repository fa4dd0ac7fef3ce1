/**
 * What a client's name for a host means in the cluster: what the zone says of it, by a Pod's search list.
 *
 *     web, web.default, web.default.svc, web.default.svc.cluster.local      the Service
 *     web-0.web.default.svc.cluster.local                                   its endpoint with that hostname
 *     10-244-0-7.default.pod.cluster.local                                  the Pod with that address
 */
import type { Zone } from "./zone.ts";

export interface NameScope {
	/** `cluster.local`. */
	readonly clusterDomain: string;
	/** Of names that name none. */
	readonly namespace: string;
	readonly zone: Pick<Zone, "resolve" | "hasService">;
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
function fullMeaning(name: string, { zone, clusterDomain }: NameScope): NameMeaning {
	const results = ["A", "AAAA"].map((type) => zone.resolve({ name: `${name}.${clusterDomain}.`, type }));
	const answers = results.flatMap((result) => (result.kind === "answer" ? [result] : []));
	const ips = answers.flatMap((result) =>
		result.answers.flatMap(({ data }) => ("address" in data ? data.address : [])),
	);
	if (ips.length > 0) return { kind: "addresses", ips };
	const outside = answers.find((result) => result.outside !== undefined)?.outside;
	if (outside !== undefined) return { kind: "alias", name: outside.replace(/\.$/, "") };
	const isKnown = isService(name, zone);
	return { kind: "none", why: `${name}: ${isKnown ? "no endpoint is ready" : "no such name in the cluster"}`, isKnown };
}

/** `service.namespace.svc`, and names below it. */
function isService(name: string, zone: NameScope["zone"]): boolean {
	const [type, namespace = "", service = ""] = name.split(".").reverse();
	return type === "svc" && zone.hasService(`${namespace}/${service}`);
}
