/** The pages of docs/codes, and the table of codes in docs/explain.md: both are made of the catalogue. */
import type { KubeObject } from "../api/types/meta.ts";
import { stringifyYaml } from "../edge/codec/yaml.ts";
import type { ClientOrigin } from "../explain/client-place.ts";
import { CODES, type Code } from "../explain/codes.ts";
import { type Explanation, explainService } from "../explain/explain.ts";
import type { Finding } from "../explain/finding.ts";
import { explanationText } from "../explain/render.ts";
import { WORKLOAD_KINDS } from "../explain/snapshot.ts";
import { readObjects } from "../wiring/read-objects.ts";
import { BORN } from "./builders.ts";
import type { ExplainedWorld } from "./explained-objects.ts";
import { EXPLAINED_WORLDS, worldOf } from "./explained-worlds.ts";

const WIDTH = 100;
/** Longer inputs are told of, and not shown. */
const INPUT_LINES_MAX = 250;

/** A line for each code, as docs/explain.md has it. */
export function codeRows(): readonly string[] {
	return CODES.map(
		({ code, name, severity, meaning }) => `| [${code}](codes/${code}.md) | \`${name}\` | ${severity} | ${meaning} |`,
	);
}

/** Names of files and their texts. */
export async function codePages(): Promise<ReadonlyMap<string, string>> {
	const pages = await Promise.all(CODES.map(async (code) => [`${code.code}.md`, await pageOf(code)] as const));
	return new Map(pages);
}

/** What `sliceplane explain svc/web -f FILE` says of this text. */
export async function explainedText(input: string, from: ClientOrigin | undefined): Promise<string> {
	return explanationText(await explained(input, from), { width: WIDTH, isColoured: false });
}

async function explained(input: string, from: ClientOrigin | undefined): Promise<Explanation> {
	const { snapshot } = await readObjects([{ file: "web.yaml", chunks: chunksOf(input) }]);
	return explainService(snapshot, { namespace: "default", name: "web", ...(from === undefined ? {} : { from }) });
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
	yield new TextEncoder().encode(text);
}

async function pageOf(code: Code): Promise<string> {
	const world = EXPLAINED_WORLDS[code.name] as ExplainedWorld;
	const input = await inputFor(code, world);
	const from = world.from;
	// Files do not say when they were taken.
	const example = input === undefined ? inMemory(world) : await explained(input, from);
	const finding = example.findings.find(({ name }) => name === code.name) as Finding;
	return [
		`# ${code.code} ${code.name}`,
		"",
		`Severity: ${code.severity}. ${code.meaning}`,
		"",
		"## What shows it",
		"",
		...new Set(
			finding.evidence.map(({ object, field }) => `- ${kindOf(object)}${field === undefined ? "" : `: \`${field}\``}`),
		),
		"",
		"## What to do",
		"",
		...fixLines(finding),
		"",
		"## Example",
		"",
		...(await exampleLines(input, example, from)),
		"",
	].join("\n");
}

function inMemory({ fires, from }: ExplainedWorld): Explanation {
	return explainService(worldOf(fires), { namespace: "default", name: "web", ...(from === undefined ? {} : { from }) });
}

function kindOf(object: string): string {
	return object.slice(0, object.indexOf("/"));
}

function fixLines({ fix }: Finding): readonly string[] {
	if (fix === undefined) return ["Nothing, if that is what you want."];
	const { command, advice } = fix;
	if (command === undefined) return [sentence(advice ?? "")];
	return ["```text", command, "```", ...(advice === undefined ? [] : ["", sentence(advice)])];
}

function sentence(text: string): string {
	return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

async function exampleLines(
	input: string | undefined,
	example: Explanation,
	from: ClientOrigin | undefined,
): Promise<readonly string[]> {
	const output = [
		"```text",
		...explanationText(example, { width: WIDTH, isColoured: false }).trimEnd().split("\n"),
		"```",
	];
	const flag = from === undefined ? "" : ` --from-${from.kind} ${from.name}`;
	if (input === undefined) return ["In a live cluster only: files do not say when they were taken.", "", ...output];
	const lines = input.trimEnd().split("\n");
	if (lines.length > INPUT_LINES_MAX) return [`Of ${lines.length} lines of YAML:`, "", ...output];
	return [
		"```yaml explained",
		...lines,
		"```",
		"",
		`\`sliceplane explain svc/web -f web.yaml${flag}\` prints:`,
		"",
		...output,
	];
}

/** Undefined: no file shows it. An empty list of a kind says that there are none, where that matters. */
async function inputFor(code: Code, { fires, from }: ExplainedWorld): Promise<string | undefined> {
	const {
		services = [],
		pods = [],
		nodes = [],
		endpoints = [],
		slices = [],
		workloads = [],
		events = [],
		leases = [],
	} = fires;
	const objects = [...services, ...workloads, ...pods, ...events, ...endpoints, ...slices, ...nodes, ...leases];
	const known = new Set(objects.map(({ kind }) => kind));
	const empty = [
		["v1", "Service"],
		["v1", "Pod"],
		["v1", "Endpoints"],
		["discovery.k8s.io/v1", "EndpointSlice"],
	].flatMap(([apiVersion, kind = ""]) => (known.has(kind) ? [] : [{ apiVersion, kind: `${kind}List`, items: [] }]));
	const isFormer = code.name === "slices-of-former-service";
	const shown = objects.map((object) => plain(object, isFormer));
	for (const documents of [shown, [...shown, ...empty]]) {
		const text = (await Promise.all(documents.map(stringifyYaml))).join("---\n");
		if ((await explained(text, from)).findings.some(({ name }) => name === code.name)) return text;
	}
	return undefined;
}

/** As people write it: without what the server fills in. */
function plain(object: KubeObject, hasUid: boolean): unknown {
	const { apiVersion, kind, metadata, ...rest } = object;
	const { uid, resourceVersion: _, creationTimestamp, namespace, labels = {}, ...more } = metadata;
	return {
		apiVersion: WORKLOAD_KINDS.includes(kind) ? "apps/v1" : apiVersion,
		kind,
		metadata: {
			...more,
			...(namespace === undefined || namespace === "default" ? {} : { namespace }),
			...(Object.keys(labels).length === 0 ? {} : { labels }),
			...(hasUid && kind === "Service" ? { uid } : {}),
			...(creationTimestamp === BORN ? {} : { creationTimestamp }),
		},
		...rest,
	};
}
