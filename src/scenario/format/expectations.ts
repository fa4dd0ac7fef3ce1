/** What can be expected: of the last step's end, or of a `check` in between. */
import type { Finding } from "./findings.ts";
import type { Count, Kind, ObjectSelector, Raw, Texts } from "./vocabulary.ts";

export interface SliceExpectation {
	readonly name?: string;
	readonly managedBy?: string;
	readonly addressType?: string;
	/** `NAME:PORT/PROTO`. */
	readonly ports?: readonly string[];
	readonly ports_count?: number;
	/** `ADDRESS FLAGS key=value...` */
	readonly endpoints?: readonly string[];
	readonly endpoint_count?: number;
	readonly ready_count?: number;
	readonly labels?: Texts;
	readonly labels_absent?: readonly string[];
	readonly annotations?: Texts;
	readonly ownerUID?: string;
	readonly ownerReferences?: readonly Raw[];
}

export interface SlicesExpectation {
	readonly service: string;
	readonly ns?: string;
	readonly live?: true;
	readonly exact?: readonly SliceExpectation[];
	readonly none_with?: SliceExpectation;
	readonly endpoint_total?: Count;
	readonly endpoint_max?: number;
	readonly hint_counts?: Readonly<Record<string, number>>;
}

export interface EndpointsExpectation {
	readonly ready?: readonly string[];
	readonly notReady?: readonly string[];
	readonly ready_addresses?: readonly string[];
	readonly ready_count?: number;
	readonly notReady_count?: number;
	readonly ports_absent?: true;
	readonly subsets_empty?: true;
	readonly labels?: Texts;
	readonly labels_absent?: readonly string[];
	readonly annotations?: Texts;
	readonly annotations_absent?: readonly string[];
}

export interface ObjectsExpectation extends ObjectSelector {
	readonly deleting?: boolean;
	readonly exists?: boolean;
	readonly count?: Count;
	readonly fields?: Raw;
	readonly present?: readonly string[];
	readonly keys?: Readonly<Record<string, readonly string[]>>;
	readonly lists?: Readonly<Record<string, readonly unknown[]>>;
	readonly matches?: Texts;
}

export interface WritesExpectation {
	readonly create?: Count;
	readonly update?: Count;
	readonly delete?: Count;
	readonly any?: Count;
}

export interface EventExpectation {
	/** `KIND/NAME`; absent: of any object. */
	readonly object?: string;
	readonly type?: string;
	readonly reason: string;
	readonly message_contains?: readonly string[];
}

export interface HttpExpectation {
	readonly code?: number;
	readonly code_in?: readonly number[];
	readonly reason?: string;
	readonly message_contains?: readonly string[];
	readonly body_has?: readonly string[];
	readonly body_lacks?: readonly string[];
	readonly items?: number;
	readonly first_event?: { readonly type: string; readonly object?: Raw };
	readonly warnings?: readonly string[];
}

export interface StreamExpectation {
	readonly exact?: readonly { readonly type: string; readonly name?: string; readonly version_of?: string }[];
	readonly not_types?: readonly string[];
	readonly ended?: "clean" | "open";
}

export interface KubectlExpectation {
	readonly args: string;
	readonly min_version?: string;
	readonly contains?: readonly string[];
	readonly not_contains?: readonly string[];
	readonly counts?: Readonly<Record<string, number>>;
	readonly stderr_counts?: Readonly<Record<string, number>>;
	readonly exit?: number;
}

export interface ExplainExpectation {
	readonly service: string;
	readonly ns?: string;
	readonly from_node?: string;
	readonly cause?: Finding;
	readonly warning?: Finding;
	readonly must_say?: readonly string[];
	readonly must_not_say?: readonly string[];
}

export interface LogExpectation {
	readonly component: "controllers" | "proxy" | "dns" | "apiserver";
	readonly node?: string;
	readonly started_as?: string;
	readonly contains: readonly string[];
	/** Milliseconds after the component's start. */
	readonly after?: number;
	readonly before?: number;
}

export interface ProxyExpectation {
	readonly node: string;
	/** `ADDRESS:PORT/PROTO`. */
	readonly dst: string;
	readonly from?: "pod" | "external" | "host";
	readonly client?: string;
	readonly action: "dnat" | "reject" | "drop" | "absent";
	readonly to?: readonly string[];
	readonly same_as_slices?: true;
	readonly equal_weight?: true;
	readonly snat?: boolean;
	readonly affinity?: "ClientIP";
	readonly timeout?: number;
	readonly started_as?: string;
}

export interface DnsExpectation {
	/** `TYPE name.` */
	readonly q: string;
	readonly transport?: "udp" | "tcp";
	/** A buffer size; absent as `none`: no EDNS. */
	readonly edns?: "none" | number;
	readonly rcode?: string;
	readonly rcode_in?: readonly string[];
	readonly answer?: readonly string[];
	readonly answer_contains?: readonly string[];
	readonly answer_first?: string;
	readonly first_varies?: true;
	readonly answer_count?: Count;
	readonly answer_targets?: readonly string[];
	readonly ports?: readonly number[];
	readonly additional?: readonly string[];
	readonly authority?: "SOA";
	readonly soa_minimum_max?: number;
	readonly soa_ttl_max?: number;
	readonly ttl_max?: number;
	readonly no_address?: true;
	readonly max_bytes?: number;
	readonly tc?: boolean;
	readonly within_ms?: number;
}

export interface RulesetExpectation {
	readonly node: string;
	readonly family?: "IPv4" | "IPv6";
	readonly contains?: readonly string[];
	readonly not_contains?: readonly string[];
}

/** Keys of subjects that judge themselves have the raw map that the format allows. */
export interface Expectations {
	readonly slices?: readonly SlicesExpectation[];
	/** By name of the object, in namespace demo. */
	readonly endpoints?: Readonly<Record<string, "absent" | EndpointsExpectation>>;
	readonly objects?: readonly ObjectsExpectation[];
	readonly saved?: Readonly<Record<string, "unchanged" | "same" | "gone">>;
	readonly unique?: readonly { readonly kind: Kind; readonly fields: readonly string[] }[];
	readonly writes?: Readonly<Record<string, WritesExpectation>>;
	readonly events?: readonly EventExpectation[];
	readonly retrying?: Readonly<Record<string, boolean>>;
	readonly health?: Readonly<Record<string, "ready" | "not-ready">>;
	readonly http?: HttpExpectation;
	readonly streams?: Readonly<Record<string, StreamExpectation>>;
	readonly kubectl?: readonly KubectlExpectation[];
	readonly log?: readonly LogExpectation[];
	readonly explain?: readonly ExplainExpectation[];
	readonly proxy?: readonly ProxyExpectation[];
	readonly http_on_node?: readonly { readonly node: string; readonly port: number; readonly code: number }[];
	readonly conntrack_deleted?: readonly string[];
	readonly kernel_order?: readonly string[];
	readonly ruleset?: readonly RulesetExpectation[];
	readonly affinity_records?: readonly { readonly node: string; readonly endpoint: string; readonly exists: boolean }[];
	readonly sysctls?: readonly { readonly node: string; readonly name: string; readonly written: boolean }[];
	readonly dns?: readonly DnsExpectation[];
	readonly dns_lookups?: Readonly<Record<string, Count>>;
	readonly client_view?: readonly Raw[];
	readonly client_cache?: readonly Raw[];
	readonly client_events?: readonly Raw[];
	readonly client_list?: { readonly count: number };
	readonly client_warnings?: readonly Raw[];
	readonly requests?: readonly Raw[];
	readonly requests_begin?: readonly Raw[];
}

export type ExpectationKey = keyof Expectations;
