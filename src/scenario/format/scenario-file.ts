/** Reads a scenario file: every fault of it has a line and a column. */
import * as v from "valibot";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
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

/** A fault of a file. Lines and columns count from 1. */
export interface FileProblem {
	readonly line: number;
	readonly column: number;
	readonly message: string;
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
	slug: more(v.pipe(v.string(), v.regex(/^[a-z0-9-]+$/, "want small letters, digits and -"))),
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

/** Bytes of one file. */
const FILE_LENGTH_MAX = 1_048_576;
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
	if (source.length > FILE_LENGTH_MAX) return problems([at(1, 1, `longer than ${FILE_LENGTH_MAX} characters`)]);
	const lines = new LineCounter();
	const document = parseDocument(source, { lineCounter: lines, version: "1.2" });
	if (document.errors.length > 0) {
		return problems(
			document.errors.map(({ message, pos: [offset] }) => {
				const { line, col } = lines.linePos(offset);
				return at(line, col, message.split(/ at line |:?\n/)[0] ?? "no YAML");
			}),
		);
	}
	const read = v.safeParse(scenario, plain(document));
	if (read.success) return { kind: "scenario", scenario: read.output };
	return problems(
		read.issues.map((issue) => {
			const steps = (issue.path ?? []).map(({ key }) => key);
			const { line, col } = lines.linePos(offsetOf(document, steps, issue.expected === "never"));
			return at(line, col, `${shown(steps)}${issue.message}`);
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

function at(line: number, column: number, message: string): FileProblem {
	return { line, column, message };
}

/** Aliases could stand for more data than any machine has: a few are enough for people. */
function plain(document: ReturnType<typeof parseDocument>): unknown {
	return document.toJS({ maxAliasCount: 100 });
}

/** Where the value at this path stands, or its key when the key is the fault; else what is around it. */
function offsetOf(document: ReturnType<typeof parseDocument>, steps: readonly unknown[], isKey: boolean): number {
	for (let length = steps.length; length > 0; length--) {
		const path = steps.slice(0, length);
		const around = length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
		if (isKey && isMap(around)) {
			const pair = around.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
			if (isScalar(pair?.key) && pair.key.range != null) return pair.key.range[0];
		}
		const found = document.getIn(path, true) as Node | undefined;
		if (found?.range != null) return found.range[0];
	}
	return document.contents?.range?.[0] ?? 0;
}

function shown(steps: readonly unknown[]): string {
	if (steps.length === 0) return "";
	const path = steps.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
	return `${path.replace(/^\./, "")}: `;
}
