/**
 * Explanations as SARIF 2.1.0, which code hosts and editors show.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
import { CODES, type Severity } from "../codes.ts";
import type { Explanation } from "../explain.ts";
import type { Evidence, Finding } from "../finding.ts";

export interface SarifOptions {
	readonly version: string;
	/** Where an object was read from, if it was from a file; names are `Kind/namespace/name`. */
	/** Kinds that were not looked at. */
	readonly missing?: readonly string[];
	/** Whether what decides was looked at, of every Service that was asked for. */
	readonly isComplete?: boolean;
	readonly originOf: (key: string) => { readonly file: string; readonly line: number } | undefined;
}

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const LEVELS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "note" };
const INDEX: ReadonlyMap<string, number> = new Map(CODES.map(({ code }, index) => [code, index]));

export function explainSarif(all: readonly Explanation[], options: SarifOptions): object {
	const rules = CODES.map(({ code, name, severity, meaning }) => ({
		id: code,
		name,
		shortDescription: { text: meaning },
		help: { text: `${meaning} See docs/codes/${code}.md of Sliceplane.` },
		defaultConfiguration: { level: LEVELS[severity] },
	}));
	const driver = { name: "sliceplane", semanticVersion: options.version, rules };
	const results = all.flatMap(({ service, findings }) => findings.map((each) => resultOf(service, each, options)));
	const invocations = [invocationOf(all, options)];
	const run = { tool: { driver }, invocations, columnKind: "utf16CodeUnits", results };
	return { $schema: SCHEMA, version: "2.1.0", runs: [run] };
}

/** What was not looked at is told of the run: it is no result. */
function invocationOf(all: readonly Explanation[], { missing = [], isComplete = true }: SarifOptions) {
	const unknown = all.filter(({ verdict }) => verdict === "unknown");
	const notLooked =
		missing.length === 0 ? [] : [{ level: "note", message: { text: `Not looked at: ${missing.join(", ")}.` } }];
	const toolExecutionNotifications = [
		...unknown.map(({ service, unknown: why = "" }) => ({
			level: "warning",
			message: { text: `${service}: unknown: ${why}` },
			locations: [{ logicalLocations: [{ fullyQualifiedName: service, kind: "resource" }] }],
		})),
		...notLooked,
	];
	return { executionSuccessful: isComplete && unknown.length === 0, toolExecutionNotifications };
}

function resultOf(service: string, { code, severity, text, evidence, fix }: Finding, options: SarifOptions) {
	const namespace = service.slice(0, service.indexOf("/"));
	const name = service.slice(namespace.length + 1);
	const seen = evidence.length > 0 ? evidence : [{ object: `Service/${name}` }];
	return {
		ruleId: code,
		ruleIndex: INDEX.get(code) ?? -1,
		level: LEVELS[severity],
		message: { text },
		locations: seen.map((each) => locationOf(each, namespace, options)),
		// The same trouble of the same Service is the same result, in the next run too.
		partialFingerprints: { "serviceAndCode/v1": `${service}:${code}` },
		properties: { service, evidence, ...(fix === undefined ? {} : { fix }) },
	};
}

function locationOf({ object, namespace: own, field }: Evidence, namespace: string, { originOf }: SarifOptions) {
	const slash = object.indexOf("/");
	const [kind, name] = [object.slice(0, slash), object.slice(slash + 1)];
	const where = kind === "Node" ? "" : (own ?? namespace);
	const origin = originOf(`${kind}/${where}/${name}`);
	const fullyQualifiedName = [
		...(where === "" ? [] : [where]),
		kind,
		name,
		...(field === undefined ? [] : [field]),
	].join("/");
	return {
		logicalLocations: [{ name, fullyQualifiedName, kind: "resource" }],
		...(origin === undefined
			? {}
			: {
					physicalLocation: {
						artifactLocation: { uri: uriOf(origin.file) },
						region: { startLine: origin.line },
					},
				}),
	};
}

/** A path relative to where the command ran, or a `file:` URI of an absolute one. */
function uriOf(file: string): string {
	const path = file.split("/").map(encodeURIComponent).join("/");
	return file.startsWith("/") ? `file://${path}` : path.replace(/^(?:\.\/)+/, "");
}
