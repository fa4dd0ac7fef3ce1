/** What a step can be: a map with one key. */
import * as v from "valibot";
import { expectations } from "./expectation-shapes.ts";
import type { Expectations } from "./expectations.ts";
import {
	type CreateStep,
	createStep,
	type PodShorthand,
	type PodStep,
	type PutStep,
	podStep,
	pods,
	putStep,
	type Repeat,
	type ServiceShorthand,
	type SsaStep,
	type StoreRawStep,
	services,
	ssaStep,
	storeRawStep,
} from "./objects.ts";
import {
	duration,
	flag,
	type Kind,
	keys,
	kind,
	listOf,
	NAMES_NOTHING,
	name,
	namesObject,
	type ObjectSelector,
	oneOf,
	pointer,
	positive,
	type Raw,
	raw,
	selectorEntries,
	text,
	whole,
	yes,
} from "./vocabulary.ts";

export type Component = "controllers" | "proxy" | "dns" | "apiserver" | "client";

export type SaveStep = { readonly as: string } & (
	| (ObjectSelector & { readonly deleting?: boolean; readonly ruleset?: never })
	| { readonly ruleset: { readonly node: string; readonly family?: "IPv4" | "IPv6" } }
);

export interface HttpStep {
	readonly method: string;
	readonly path: string;
	readonly body?: Raw | readonly unknown[];
	/** Of a PATCH. */
	readonly type?: "merge" | "json" | "strategic";
	/** Keep the watch open under this name. */
	readonly stream?: string;
	readonly save_continue?: string;
}

export interface FailRequestsStep {
	readonly path?: string;
	readonly verb?: "list" | "watch";
	readonly resource?: string;
	readonly resourceVersion?: string;
	readonly continue?: boolean;
	readonly code: number;
	readonly reason?: string;
	/** Milliseconds. */
	readonly for?: number;
	readonly times?: number;
}

/** Durations are in milliseconds. Every key's value is what the format's table of steps says of it. */
export interface StepValues {
	readonly settle: true | { readonly allow_retry: true };
	readonly check: Expectations;
	readonly wait: { readonly max: number };
	readonly tick: number;
	readonly save: SaveStep;
	readonly reset_counts: true;
	readonly create: CreateStep;
	readonly put: PutStep;
	readonly patch: ObjectSelector & {
		readonly type: "merge" | "json" | "strategic";
		readonly body: Raw | readonly unknown[];
	};
	readonly ssa: SsaStep;
	readonly delete: ObjectSelector & {
		/** Milliseconds. */
		readonly grace?: number;
		readonly gone?: true;
		readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
	};
	readonly pod: PodStep;
	readonly pods_repeat: Repeat<PodShorthand>;
	readonly services_repeat: Repeat<ServiceShorthand>;
	readonly delete_pods: {
		readonly match?: string;
		readonly keep?: number;
		readonly from_each_slice?: number;
		readonly keep_one_per_slice?: true;
		readonly match_slice_of?: string;
	};
	/** `create` and `check` are read anew for each value, so that `{value}` may stand anywhere. */
	readonly for_each: { readonly value: readonly string[]; readonly create: Raw; readonly check: Raw };
	readonly store_raw: StoreRawStep;
	readonly lag: { readonly informer: Kind };
	readonly release_lag: true;
	readonly hold_reply: ObjectSelector & { readonly verb: "create" | "update" | "delete" };
	readonly release_reply: true;
	readonly pause: { readonly component: Component };
	readonly resume: { readonly component: Component };
	readonly stop: { readonly component: Component; readonly node?: string };
	readonly start: { readonly component: Component; readonly node?: string };
	readonly restart: { readonly component: Component; readonly node?: string; readonly slow_lists?: readonly Kind[] };
	readonly gc: "pause" | "resume";
	readonly proxy_sync: { readonly node: string };
	readonly affinity_record: { readonly node: string; readonly client: string; readonly endpoint: string };
	readonly http: HttpStep;
	readonly fail_requests: FailRequestsStep;
	readonly compact: true;
	readonly drop_watch: { readonly component: Component };
	readonly restore_watch: { readonly component: Component };
	readonly stall_connection: { readonly component: Component };
	readonly client_informer: {
		readonly kind: Kind;
		readonly ns?: string;
		readonly watch_from?: string;
		readonly list_from?: string;
		readonly restart_on_error?: number;
		readonly watch_timeout?: number;
	};
	readonly client_start: true;
	readonly client_list: { readonly kind: Kind; readonly limit?: number; readonly hook_warnings?: true };
	readonly watch_client: { readonly service: string; readonly ns?: string; readonly port?: string };
}

export type StepKey = keyof StepValues;

/** One key and its value. */
export type Step = { readonly [K in StepKey]: { readonly key: K; readonly value: StepValues[K] } }[StepKey];

type Shape<T> = v.GenericSchema<unknown, T>;

const family = v.exactOptional(oneOf("IPv4", "IPv6"));
const patchType = oneOf("merge", "json", "strategic");
const body = v.union([v.array(v.unknown()), raw], "want a map or a list");

const { index: _, ...namedWithoutIndex } = selectorEntries;

const saved = v.pipe(
	keys({ as: name, ...selectorEntries, deleting: v.exactOptional(flag) }),
	v.check((selector) => namesObject(selector), NAMES_NOTHING),
);
const savedRuleset = keys({ as: name, ruleset: keys({ node: text, family }) });

const patch = v.pipe(
	keys({ ...selectorEntries, type: patchType, body }),
	v.check((selector) => namesObject(selector), NAMES_NOTHING),
);
const deletion = v.pipe(
	keys({
		...selectorEntries,
		grace: v.exactOptional(duration),
		gone: v.exactOptional(yes),
		propagationPolicy: v.exactOptional(oneOf("Background", "Foreground", "Orphan")),
	}),
	v.check((selector) => namesObject(selector), NAMES_NOTHING),
);

const deletePods = v.pipe(
	keys({
		match: v.exactOptional(text),
		keep: v.exactOptional(whole),
		from_each_slice: v.exactOptional(positive),
		keep_one_per_slice: v.exactOptional(yes),
		match_slice_of: v.exactOptional(text),
	}),
	v.check(
		(ways) => Object.keys(ways).length === 1,
		"want one of match, keep, from_each_slice, keep_one_per_slice, match_slice_of",
	),
);

const paused = keys({ component: oneOf("controllers", "proxy", "dns") });
const started = keys({ component: oneOf("controllers", "proxy", "dns", "apiserver"), node: v.exactOptional(text) });
const cutOff = keys({ component: oneOf("client", "proxy") });

const STEPS: { readonly [K in StepKey]: Shape<StepValues[K]> } = {
	settle: v.lazy((input) => (input === true ? yes : keys({ allow_retry: yes }))),
	check: expectations,
	wait: keys({ max: duration }),
	tick: duration,
	save: v.lazy((input) => (isMapWith(input, "ruleset") ? savedRuleset : saved)),
	reset_counts: yes,
	create: createStep,
	put: putStep,
	patch,
	ssa: ssaStep,
	delete: deletion,
	pod: podStep,
	pods_repeat: pods,
	services_repeat: services,
	delete_pods: deletePods,
	for_each: keys({ value: listOf(text), create: raw, check: raw }),
	store_raw: storeRawStep,
	lag: keys({ informer: kind }),
	release_lag: yes,
	hold_reply: keys({ verb: oneOf("create", "update", "delete"), ...namedWithoutIndex }),
	release_reply: yes,
	pause: paused,
	resume: paused,
	stop: started,
	start: started,
	restart: keys({
		component: oneOf("controllers", "proxy", "dns", "apiserver"),
		node: v.exactOptional(text),
		slow_lists: v.exactOptional(listOf(kind)),
	}),
	gc: oneOf("pause", "resume"),
	proxy_sync: keys({ node: text }),
	affinity_record: keys({ node: text, client: text, endpoint: text }),
	http: keys({
		method: oneOf("GET", "POST", "PUT", "PATCH", "DELETE"),
		path: pointer,
		type: v.exactOptional(patchType),
		body: v.exactOptional(body),
		stream: v.exactOptional(text),
		save_continue: v.exactOptional(text),
	}),
	fail_requests: keys({
		verb: v.exactOptional(oneOf("list", "watch")),
		resource: v.exactOptional(text),
		resourceVersion: v.exactOptional(text),
		continue: v.exactOptional(flag),
		path: v.exactOptional(pointer),
		code: v.pipe(whole, v.minValue(400, "want 400 or more")),
		reason: v.exactOptional(text),
		for: v.exactOptional(duration),
		times: v.exactOptional(positive),
	}),
	compact: yes,
	drop_watch: cutOff,
	restore_watch: cutOff,
	stall_connection: keys({ component: oneOf("client") }),
	client_informer: keys({
		kind,
		ns: v.exactOptional(text),
		watch_from: v.exactOptional(text),
		list_from: v.exactOptional(text),
		restart_on_error: v.exactOptional(duration),
		watch_timeout: v.exactOptional(duration),
	}),
	client_start: yes,
	client_list: keys({ kind, limit: v.exactOptional(positive), hook_warnings: v.exactOptional(yes) }),
	watch_client: keys({ service: text, ns: v.exactOptional(text), port: v.exactOptional(text) }),
};

const optionalSteps = Object.fromEntries(Object.entries(STEPS).map(([key, shape]) => [key, v.exactOptional(shape)]));

export const step: Shape<Step> = v.pipe(
	keys(optionalSteps),
	v.check((map) => Object.keys(map).length === 1, "want one key: a step does one thing"),
	v.transform((map) => {
		const [[key, value]] = Object.entries(map) as [[string, unknown]];
		// The key chose the shape that the value was read by.
		return { key, value } as Step;
	}),
);

function isMapWith(input: unknown, key: string): boolean {
	return typeof input === "object" && input !== null && Object.hasOwn(input, key);
}
