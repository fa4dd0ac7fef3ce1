/** IPAddress: the claim of a Service on an address of the service range. */

import { deepEqual } from "../../kernel/json.ts";
import { age } from "../age.ts";
import { type FieldError, invalid, required } from "../field-error.ts";
import { formatIP, parseIP } from "../ip.ts";
import { ALL_VERBS, defineResource, type NameRule, type ResourceType } from "../resource.ts";
import type { IPAddress } from "../types/networking.ts";
import { AGE_COLUMN, column, NAME_COLUMN, orNone } from "./cells.ts";

/** The name is the address, so that two claims on one address are two objects of one name. */
const canonicalAddressName: NameRule = (name) => {
	const ip = parseIP(name);
	if (ip === undefined) return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
	return formatIP(ip) === name ? [] : [`must be in canonical form ("${formatIP(ip)}")`];
};

export const IP_ADDRESS: ResourceType = defineResource<IPAddress>({
	group: "networking.k8s.io",
	version: "v1",
	kind: "IPAddress",
	plural: "ipaddresses",
	singular: "ipaddress",
	namespaced: false,
	shortNames: ["ip"],
	categories: [],
	verbs: ALL_VERBS,
	subresources: [],
	storagePrefix: "/registry/ipaddresses/",
	schema: "networking.IPAddress",
	nameProblems: canonicalAddressName,
	generation: "never",
	createOnUpdate: false,
	unconditionalUpdate: true,
	deleteAnswers: "status",
	fieldLabels: [],
	table: {
		columns: [
			NAME_COLUMN,
			column("ParentRef", "ParentRef references the resource that an IPAddress is attached to."),
			AGE_COLUMN,
		],
		cells: (address, nowMs) => [
			address.metadata.name,
			parentCell(address),
			age(nowMs, address.metadata.creationTimestamp),
		],
	},
	withDefaults: (address) => ({ ...address, spec: address.spec ?? {} }),
	prepareCreate: (address) => address,
	prepareUpdate: (next) => next,
	validate,
	validateUpdate: (next, stored) => [
		...validate(next),
		...(deepEqual(next.spec.parentRef, stored.spec.parentRef)
			? []
			: [invalid("spec.parentRef", next.spec.parentRef, "field is immutable")]),
	],
	warnings: () => [],
	fields: () => ({}),
});

function validate({ spec: { parentRef } }: IPAddress): readonly FieldError[] {
	if (parentRef === undefined) return [required("spec.parentRef", "")];
	return (["resource", "name"] as const)
		.filter((key) => (parentRef[key] ?? "") === "")
		.map((key) => required(`spec.parentRef.${key}`, ""));
}

function parentCell({ spec: { parentRef } }: IPAddress): string {
	if (parentRef === undefined) return "<none>";
	const { group = "", resource = "", namespace = "", name = "" } = parentRef;
	const resourceName = group === "" ? resource : `${resource}.${group}`;
	return orNone([resourceName, ...(namespace === "" ? [] : [namespace]), name].join("/"));
}
