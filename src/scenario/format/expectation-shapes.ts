/** How expectations are read. */
import * as v from "valibot";
import type {
	EndpointsExpectation,
	Expectations,
	HttpExpectation,
	ObjectsExpectation,
	SliceExpectation,
	SlicesExpectation,
} from "./expectations.ts";
import { FINDINGS } from "./findings.ts";
import {
	count,
	duration,
	flag,
	keys,
	kind,
	listOf,
	mapOf,
	NAMES_NOTHING,
	namesObject,
	oneOf,
	pattern,
	pointer,
	raw,
	selectorEntries,
	text,
	texts,
	whole,
	yes,
} from "./vocabulary.ts";

type Shape<T> = v.GenericSchema<unknown, T>;

const more = v.exactOptional;
const eventType = oneOf("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR");

/** At least `least` keys: an expectation that compares nothing holds nothing. */
function comparing<const E extends v.ObjectEntries>(least: number, entries: E) {
	return v.pipe(
		keys(entries),
		v.check((map) => Object.keys(map).length >= least, "compares nothing: want at least one more key"),
	);
}

const PORT = /^[a-z0-9-]*:[0-9]+\/(TCP|UDP|SCTP)$/;
const ENDPOINT = /^\S+ ([Rr-][Ss-][Tt-])( (pod|node|zone|hostname|hints)=\S+)*$/;
const VIEWED = /^\S+ [Rr-][Ss-][Tt-]$/;

function matching(form: RegExp, wanted: string): Shape<string> {
	return v.pipe(text, v.regex(form, `want ${wanted}`));
}

const slice: Shape<SliceExpectation> = comparing(1, {
	name: more(text),
	managedBy: more(text),
	addressType: more(oneOf("IPv4", "IPv6", "FQDN")),
	ports: more(listOf(matching(PORT, "NAME:PORT/PROTO, such as http:8080/TCP"))),
	ports_count: more(whole),
	endpoints: more(listOf(matching(ENDPOINT, "ADDRESS FLAGS key=value, such as 10.1.0.10 RSt pod=a"))),
	endpoint_count: more(whole),
	ready_count: more(whole),
	labels: more(texts),
	labels_absent: more(listOf(text)),
	annotations: more(texts),
	ownerUID: more(text),
	ownerReferences: more(
		listOf(
			keys({
				apiVersion: more(text),
				kind: text,
				name: text,
				uid: text,
				controller: more(flag),
				blockOwnerDeletion: more(flag),
			}),
		),
	),
});

const slices: Shape<SlicesExpectation> = comparing(2, {
	service: text,
	ns: more(text),
	live: more(yes),
	exact: more(listOf(slice)),
	none_with: more(slice),
	endpoint_total: more(count),
	endpoint_max: more(whole),
	hint_counts: more(mapOf(text, whole)),
});

const endpointsObject: Shape<EndpointsExpectation> = comparing(1, {
	ready: more(listOf(text)),
	notReady: more(listOf(text)),
	ready_addresses: more(listOf(text)),
	ready_count: more(whole),
	notReady_count: more(whole),
	ports_absent: more(yes),
	subsets_empty: more(yes),
	labels: more(texts),
	labels_absent: more(listOf(text)),
	annotations: more(texts),
	annotations_absent: more(listOf(text)),
});

const objects: Shape<ObjectsExpectation> = v.pipe(
	keys({
		...selectorEntries,
		deleting: more(flag),
		exists: more(flag),
		count: more(count),
		fields: more(mapOf(pointer, v.unknown())),
		present: more(listOf(pointer)),
		keys: more(mapOf(pointer, listOf(text))),
		lists: more(mapOf(pointer, listOf(v.unknown()))),
		matches: more(mapOf(pointer, pattern)),
	}),
	v.check((selector) => namesObject(selector), NAMES_NOTHING),
);

const http: Shape<HttpExpectation> = comparing(1, {
	code: more(whole),
	code_in: more(listOf(whole)),
	reason: more(text),
	message_contains: more(listOf(text)),
	body_has: more(listOf(pointer)),
	body_lacks: more(listOf(pointer)),
	items: more(whole),
	first_event: more(keys({ type: eventType, object: more(raw) })),
	warnings: more(listOf(text)),
});

const component = oneOf("controllers", "proxy", "dns", "apiserver");
const rcode = oneOf("NOERROR", "NXDOMAIN", "SERVFAIL", "REFUSED");
const DST = /^(\S+):[0-9]+\/(TCP|UDP|SCTP)$/;

const SHAPES = {
	slices: listOf(slices),
	endpoints: mapOf(
		text,
		v.lazy(
			(input): Shape<"absent" | EndpointsExpectation> =>
				typeof input === "string" ? oneOf("absent") : endpointsObject,
		),
	),
	objects: listOf(objects),
	saved: mapOf(text, oneOf("unchanged", "same", "gone")),
	unique: listOf(keys({ kind, fields: listOf(pointer) })),
	writes: mapOf(
		kind,
		comparing(1, { create: more(count), update: more(count), delete: more(count), any: more(count) }),
	),
	events: listOf(
		keys({
			object: more(text),
			type: more(oneOf("Normal", "Warning")),
			reason: text,
			message_contains: more(listOf(text)),
		}),
	),
	retrying: mapOf(text, flag),
	health: mapOf(oneOf("controllers", "proxy", "dns"), oneOf("ready", "not-ready")),
	http,
	streams: mapOf(
		text,
		comparing(1, {
			exact: more(listOf(keys({ type: eventType, name: more(text), version_of: more(text) }))),
			not_types: more(listOf(eventType)),
			ended: more(oneOf("clean", "open")),
		}),
	),
	kubectl: listOf(
		comparing(2, {
			args: text,
			min_version: more(text),
			contains: more(listOf(text)),
			not_contains: more(listOf(text)),
			counts: more(mapOf(text, whole)),
			stderr_counts: more(mapOf(text, whole)),
			exit: more(whole),
		}),
	),
	log: listOf(
		keys({
			component,
			node: more(text),
			started_as: more(text),
			contains: listOf(text),
			after: more(duration),
			before: more(duration),
		}),
	),
	explain: listOf(
		comparing(2, {
			service: text,
			ns: more(text),
			from_node: more(text),
			cause: more(oneOf(...FINDINGS)),
			warning: more(oneOf(...FINDINGS)),
			must_say: more(listOf(text)),
			must_not_say: more(listOf(text)),
		}),
	),
	proxy: listOf(
		keys({
			node: text,
			dst: matching(DST, "ADDRESS:PORT/PROTO"),
			from: more(oneOf("pod", "external", "host")),
			client: more(text),
			action: oneOf("dnat", "reject", "drop", "absent"),
			to: more(listOf(text)),
			same_as_slices: more(yes),
			equal_weight: more(yes),
			snat: more(flag),
			affinity: more(oneOf("ClientIP")),
			timeout: more(whole),
			started_as: more(text),
		}),
	),
	http_on_node: listOf(keys({ node: text, port: whole, code: whole })),
	conntrack_deleted: listOf(text),
	kernel_order: listOf(oneOf("rules", "conntrack")),
	ruleset: listOf(
		comparing(2, {
			node: text,
			family: more(oneOf("IPv4", "IPv6")),
			contains: more(listOf(text)),
			not_contains: more(listOf(text)),
		}),
	),
	affinity_records: listOf(keys({ node: text, endpoint: text, exists: flag })),
	sysctls: listOf(keys({ node: text, name: text, written: flag })),
	dns: listOf(
		comparing(2, {
			q: matching(/^[A-Z]+ \S+\.$/, "TYPE name., such as A web.demo.svc.cluster.local."),
			transport: more(oneOf("udp", "tcp")),
			edns: more(v.union([v.literal("none"), whole], "want none or a buffer size")),
			rcode: more(rcode),
			rcode_in: more(listOf(rcode)),
			answer: more(listOf(text)),
			answer_contains: more(listOf(text)),
			answer_first: more(text),
			first_varies: more(yes),
			answer_count: more(count),
			answer_targets: more(listOf(text)),
			ports: more(listOf(whole)),
			additional: more(listOf(text)),
			authority: more(oneOf("SOA")),
			soa_minimum_max: more(whole),
			soa_ttl_max: more(whole),
			ttl_max: more(whole),
			no_address: more(yes),
			max_bytes: more(whole),
			tc: more(flag),
			within_ms: more(whole),
		}),
	),
	dns_lookups: mapOf(text, count),
	client_view: listOf(
		comparing(2, {
			service: text,
			ns: more(text),
			endpoints: more(listOf(matching(VIEWED, "ADDRESS:PORT FLAGS"))),
			ready: more(listOf(text)),
			ready_count: more(whole),
			families: more(keys({ IPv4: more(listOf(text)), IPv6: more(listOf(text)) })),
			same_as_slices: more(yes),
			fewest: more(count),
			within_ms: more(whole),
			errors: more(count),
		}),
	),
	client_cache: listOf(comparing(2, { kind, names: more(listOf(text)), has: more(listOf(text)) })),
	client_events: listOf(
		keys({
			kind,
			exact: listOf(keys({ type: oneOf("add", "update", "delete"), name: text, final_state_unknown: more(flag) })),
		}),
	),
	client_list: keys({ count: whole }),
	client_warnings: listOf(comparing(2, { contains: text, printed: more(count), hooked: more(count) })),
	requests: listOf(
		comparing(3, {
			verb: oneOf("list", "watch"),
			resource: text,
			resourceVersion: more(text),
			continue: more(flag),
			open: more(yes),
			count: more(count),
			min_gap: more(duration),
			min_gap_after: more(whole),
		}),
	),
	requests_begin: listOf(keys({ verb: oneOf("list", "watch"), resource: text, resourceVersion: more(text) })),
};

export const expectations: Shape<Expectations> = comparing(
	1,
	Object.fromEntries(Object.entries(SHAPES).map(([key, shape]) => [key, more(shape as Shape<unknown>)])),
) as Shape<Expectations>;
