/**
 * What explanations look at, and nothing else: of a large cluster's objects the rest is most of the memory.
 *
 * The tests of every code run over objects that have been through here, so a check that reads more is found.
 */
import {
	LEADER_ANNOTATION,
	OVER_CAPACITY_ANNOTATION,
	TOPOLOGY_AWARE_HINTS_ANNOTATION,
	TOPOLOGY_MODE_ANNOTATION,
	TRIGGER_TIME_ANNOTATION,
} from "../api/well-known.ts";
import { isObject, setOwn } from "../kernel/json.ts";
import { WORKLOAD_KINDS } from "./snapshot.ts";

/** `true` keeps all of it; of a list every item is kept by the same. */
type Fields = true | { readonly [name: string]: Fields };

/** Without an effect since Kubernetes 1.11. */
export const TOLERATE_UNREADY = "service.alpha.kubernetes.io/tolerate-unready-endpoints";

const ANNOTATIONS = [
	LEADER_ANNOTATION,
	OVER_CAPACITY_ANNOTATION,
	TOLERATE_UNREADY,
	TOPOLOGY_AWARE_HINTS_ANNOTATION,
	TOPOLOGY_MODE_ANNOTATION,
	TRIGGER_TIME_ANNOTATION,
];

function all(...names: readonly string[]): { readonly [name: string]: Fields } {
	return Object.fromEntries(names.map((name) => [name, true]));
}

const METADATA: Fields = {
	...all("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "generation", "labels"),
	annotations: all(...ANNOTATIONS),
	ownerReferences: all("kind", "name", "uid", "controller"),
};
const CONDITIONS: Fields = all("type", "status", "reason", "message", "lastTransitionTime");
const CONTAINERS: Fields = all("name", "ports", "restartPolicy", "readinessProbe", "startupProbe");
const STATUSES: Fields = all("name", "ready", "started", "restartCount", "state", "lastState");
const TARGET: Fields = all("kind", "namespace", "name", "uid");
const WORKLOAD: Fields = { ...all("serviceName", "replicas", "paused"), template: { metadata: all("labels") } };

const BY_KIND: ReadonlyMap<string, { readonly [name: string]: Fields }> = new Map([
	["Service", { spec: true, status: all("loadBalancer") }],
	[
		"Pod",
		{
			spec: {
				...all("nodeName", "schedulerName", "hostname", "subdomain", "readinessGates"),
				containers: CONTAINERS,
				initContainers: CONTAINERS,
			},
			status: {
				...all("phase", "reason", "message", "podIP", "podIPs"),
				conditions: CONDITIONS,
				containerStatuses: STATUSES,
				initContainerStatuses: STATUSES,
			},
		},
	],
	["Endpoints", { subsets: true }],
	[
		"EndpointSlice",
		{
			...all("addressType", "ports"),
			endpoints: { ...all("addresses", "conditions", "hostname", "nodeName", "zone", "hints"), targetRef: TARGET },
		},
	],
	["Node", { status: { conditions: CONDITIONS } }],
	["Event", { ...all("reason", "message", "lastTimestamp", "eventTime", "series", "type"), involvedObject: TARGET }],
	["Lease", { spec: true }],
	...WORKLOAD_KINDS.map((kind): [string, { readonly [name: string]: Fields }] => [
		kind,
		{ spec: WORKLOAD, status: { conditions: CONDITIONS } },
	]),
]);

/** The kinds that are looked at; undefined for one that is not. */
export function keptFields(object: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
	const { kind } = object;
	const fields = typeof kind === "string" ? BY_KIND.get(kind) : undefined;
	if (fields === undefined) return undefined;
	return picked(object, { ...all("apiVersion", "kind"), metadata: METADATA, ...fields }) as Record<string, unknown>;
}

function picked(value: unknown, fields: Fields): unknown {
	if (fields === true) return value;
	if (Array.isArray(value)) return value.map((item) => picked(item, fields));
	if (!isObject(value)) return value;
	const kept: Record<string, unknown> = {};
	for (const [name, inner] of Object.entries(fields)) {
		if (Object.hasOwn(value, name)) setOwn(kept, name, picked(value[name], inner));
	}
	return kept;
}
