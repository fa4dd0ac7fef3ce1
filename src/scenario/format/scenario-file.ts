/** Reads a scenario file: every fault of it has a line and a column. */
import * as v from "valibot";
import { expectations } from "./expectation-shapes.ts";
import type { Expectations } from "./expectations.ts";
import {
	type EndpointsShorthand,
	endpoints,
	type NodeShorthand,
	node,
	type PodShorthand,
	pod,
	pods,
	type Repeat,
	type ServiceShorthand,
	type SliceShorthand,
	service,
	services,
	slice,
	slices,
} from "./objects.ts";
import { type Step, step } from "./steps.ts";
import { keys, listOf, oneOf, positive, type Raw, raw, text } from "./vocabulary.ts";
import { type FileProblem, readYamlText } from "./yaml-text.ts";

export interface Given {
	readonly namespaces?: readonly string[];
	readonly nodes?: readonly NodeShorthand[];
	readonly services?: readonly ServiceShorthand[];
	readonly services_repeat?: readonly Repeat<ServiceShorthand>[];
	readonly pods?: readonly PodShorthand[];
	readonly pods_repeat?: readonly Repeat<PodShorthand>[];
	readonly endpoints?: readonly EndpointsShorthand[];
	readonly slices?: readonly SliceShorthand[];
	readonly slices_repeat?: readonly Repeat<SliceShorthand>[];
	readonly raw?: readonly Raw[];
	readonly controller?: { readonly maxEndpointsPerSlice?: number };
	readonly conntrack?: readonly Raw[];
}

export interface Scenario {
	/** Three digits. */
	readonly id?: string;
	readonly slug?: string;
	readonly group?: string;
	readonly title: string;
	readonly given: Given;
	readonly steps: readonly Step[];
	readonly expect: Expectations;
}

export type Parsed =
	| { readonly kind: "scenario"; readonly scenario: Scenario }
	| { readonly kind: "problems"; readonly problems: readonly FileProblem[] };

const more = v.exactOptional;

const given: v.GenericSchema<unknown, Given> = keys({
	namespaces: more(listOf(text)),
	nodes: more(listOf(node)),
	services: more(listOf(service)),
	services_repeat: more(listOf(services)),
	pods: more(listOf(pod)),
	pods_repeat: more(listOf(pods)),
	endpoints: more(listOf(endpoints)),
	slices: more(listOf(slice)),
	slices_repeat: more(listOf(slices)),
	raw: more(listOf(raw)),
	controller: more(keys({ maxEndpointsPerSlice: more(positive) })),
	conntrack: more(
		listOf(keys({ id: text, proto: oneOf("udp", "tcp"), orig_src: text, orig_dst: text, reply_src: text })),
	),
});

export const scenario: v.GenericSchema<unknown, Scenario> = keys({
	id: more(v.pipe(v.string("want three digits, in quotes"), v.regex(/^[0-9]{3}$/, "want three digits, in quotes"))),
	slug: more(v.pipe(text, v.regex(/^[a-z0-9-]+$/, "want small letters, digits and -"))),
	group: more(oneOf("a", "b", "c", "d", "e", "f")),
	title: text,
	source: more(text),
	source_url: more(text),
	also: more(listOf(text)),
	fault: more(text),
	given,
	steps: listOf(step),
	expect: expectations,
	remark: more(listOf(text)),
	confidence: more(oneOf("high", "medium", "low")),
	confirmed: more(oneOf("1.36.2 control plane", "1.36.2 kube-proxy", "1.36.2 control plane and kube-proxy")),
	basis: more(text),
	notes: more(text),
});

/** Faults told of one file; more would hide the first. */
const PROBLEMS_MAX = 20;

/**
 * Reads a scenario file's text; never throws, whatever the text is.
 *
 * @returns The scenario, or every fault of the text with its line and column, from 1.
 * @example
 *     const parsed = parseScenario("title: x");
 *     assert.equal(parsed.kind, "problems");
 */
export function parseScenario(source: string): Parsed {
	const yaml = readYamlText(source);
	if ("problems" in yaml) return problems(yaml.problems);
	const read = v.safeParse(scenario, yaml.value);
	if (read.success) return { kind: "scenario", scenario: read.output };
	return problems(
		read.issues.map(({ path = [], expected, message }) => {
			const steps = path.map(({ key }) => key);
			const isKey = expected === "never" || path.at(-1)?.origin === "key";
			return yaml.problemAt(steps, isKey, `${shown(steps)}${message}`);
		}),
	);
}

/** Reads `create` and `check` of a `for_each`, its value put in. @throws {Error} that names the fault. */
export function readStep(value: unknown): Step {
	const read = v.safeParse(step, value);
	if (read.success) return read.output;
	const [issue] = read.issues;
	throw new Error(`${shown((issue.path ?? []).map(({ key }) => key))}${issue.message}`);
}

function problems(found: readonly FileProblem[]): Parsed {
	return { kind: "problems", problems: found.slice(0, PROBLEMS_MAX) };
}

function shown(steps: readonly unknown[]): string {
	if (steps.length === 0) return "";
	const path = steps.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
	return `${path.replace(/^\./, "")}: `;
}
