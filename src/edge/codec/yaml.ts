/**
 * YAML as kubectl reads it: version 1.1 (`yes` is true, `0123` is octal), without the types that JSON has not:
 * times stay strings, and `22:22` is a string too.
 *
 * JSON is YAML, and most bodies that call themselves YAML are JSON, so that is tried first; the YAML package is
 * loaded only when it is needed, since that takes longer than anything else at start.
 */
import type { CST, Document, LineCounter, Tags } from "yaml";
import { DEPTH_MAX, isDeeperThan } from "../../api/schema/depth.ts";
import { isObject } from "../../kernel/json.ts";

/** Nodes that aliases may stand for, per use of an anchor: enough for people, too little for an attack. */
const ALIASES_MAX = 100;

export interface Malformed {
	readonly kind: "malformed";
	/** From 1. */
	readonly line: number;
	readonly column: number;
	/** `yaml: line 3, column 5: Map keys must be unique`. */
	readonly message: string;
}

export type ParsedYaml = { readonly kind: "ok"; readonly value: unknown } | Malformed;

export interface ManifestDocument {
	/** Of its first line that is not a comment, from 1. */
	readonly line: number;
	readonly value: Readonly<Record<string, unknown>>;
}

export type ParsedManifests = { readonly kind: "ok"; readonly documents: readonly ManifestDocument[] } | Malformed;

/**
 * One document as plain data. Nothing at all is null.
 *
 * @param repeated When given, a key may come twice: the last one counts, and the paths of such keys are added here.
 */
export async function parseYaml(text: string, repeated?: string[]): Promise<ParsedYaml> {
	const json = parsedJson(text);
	if (json !== undefined) return { kind: "ok", value: json };
	const read = await documentsOf(text);
	if (read.kind === "malformed") return read;
	const [document, second] = read.documents;
	if (second !== undefined) {
		const { line, col } = read.lines.linePos(second.range[0]);
		return malformed(line, col, "expected a single document");
	}
	if (document === undefined) return { kind: "ok", value: null };
	if (repeated !== undefined) repeated.push(...repeatedKeys(document.contents));
	return plainData(document, read.lines, repeated !== undefined);
}

/** The documents of a manifest file, empty ones left out. Each must be an object; a List is one document. */
export async function parseManifests(text: string): Promise<ParsedManifests> {
	const json = parsedJson(text);
	if (isObject(json)) return { kind: "ok", documents: [{ line: 1, value: json }] };
	const read = await documentsOf(text);
	if (read.kind === "malformed") return read;
	const { documents, lines } = read;
	const found: ManifestDocument[] = [];
	for (const document of documents) {
		const data = plainData(document, lines);
		if (data.kind === "malformed") return data;
		if (data.value === null) continue;
		const { line, col } = startOf(document, lines);
		if (!isObject(data.value)) return malformed(line, col, "a manifest must be an object with kind and apiVersion");
		found.push({ line, value: data.value });
	}
	return { kind: "ok", documents: found };
}

/** Block style as kubectl prints it; strings that YAML 1.1 would take for something else are quoted. */
export async function stringifyYaml(value: unknown): Promise<string> {
	const { stringify } = await import("yaml");
	return stringify(value, { compat: "yaml-1.1", lineWidth: 0, indentSeq: false, aliasDuplicateObjects: false });
}

/** What a text says that is JSON; undefined when it is none. */
export function parsedJson(text: string): unknown {
	if (!/^\s*\{/.test(text)) return undefined;
	try {
		return JSON.parse(text);
	} catch {
		// It may still be YAML's flow style, which looks alike.
		return undefined;
	}
}

interface Documents {
	readonly kind: "ok";
	readonly documents: readonly Document.Parsed[];
	readonly lines: LineCounter;
}

async function documentsOf(text: string): Promise<Documents | Malformed> {
	const { Composer, LineCounter, Parser } = await import("yaml");
	const lines = new LineCounter();
	const tokens = [...new Parser(lines.addNewLine).parse(text)];
	// The composer recurses, and an overflow of the stack inside it can end the process, so depth is checked before.
	const deep = tokens.find((token) => token.type === "document" && nestsDeeper(token.value, DEPTH_MAX));
	if (deep !== undefined) {
		const { line, col } = lines.linePos(deep.offset);
		return malformed(line, col, "exceeded max depth");
	}
	// The composer would hold each key against all before it: see `repeatedKey`.
	const options = { version: "1.1", customTags: withoutForeignTypes, logLevel: "error", uniqueKeys: false } as const;
	const composer = new Composer(options);
	return { kind: "ok", documents: [...composer.compose(tokens)], lines };
}

/** `spec.ports[0].name` of each key that its map had before. What an alias stands for was looked at where it is. */
function repeatedKeys(node: unknown, path = ""): string[] {
	if (typeof node !== "object" || node === null || !("items" in node) || !Array.isArray(node.items)) return [];
	const seen = new Set<string>();
	return node.items.flatMap((item: unknown, index) => {
		if (!isPair(item)) return repeatedKeys(item, `${path}[${index}]`);
		const key = String(item.key);
		const below = path === "" ? key : `${path}.${key}`;
		const isRepeated = seen.has(key) && key !== "<<";
		seen.add(key);
		return [...(isRepeated ? [below] : []), ...repeatedKeys(item.value, below)];
	});
}

/** Where the first key is that its map had before. */
function repeatedKey(node: unknown): number | undefined {
	if (typeof node !== "object" || node === null || !("items" in node) || !Array.isArray(node.items)) return undefined;
	const seen = new Set<unknown>();
	for (const item of node.items as readonly unknown[]) {
		const [key, value] = isPair(item) ? [item.key, item.value] : [undefined, item];
		// Of keys that are no scalars each is another.
		if (isObject(key) && "value" in key) {
			if (seen.has(key["value"])) return startOfNode(key);
			seen.add(key["value"]);
		}
		const deeper = repeatedKey(key) ?? repeatedKey(value);
		if (deeper !== undefined) return deeper;
	}
	return undefined;
}

function startOfNode({ range }: { readonly range?: unknown }): number {
	return Array.isArray(range) ? Number(range[0]) : 0;
}

function isPair(item: unknown): item is { readonly key: unknown; readonly value: unknown } {
	return isObject(item) && "key" in item && "value" in item && !("items" in item);
}

function nestsDeeper(token: CST.Token | null | undefined, levels: number): boolean {
	if (token === null || token === undefined || !("items" in token)) return false;
	if (levels === 0) return true;
	return token.items.some(({ key, value }) => nestsDeeper(key, levels - 1) || nestsDeeper(value, levels - 1));
}

const FOREIGN_TYPES = new Set(
	["binary", "omap", "pairs", "set", "timestamp"].map((name) => `tag:yaml.org,2002:${name}`),
);

/** The numbers of format TIME are base 60: `22:22`, a common mapping of ports, would be 1342. */
function withoutForeignTypes(tags: Tags): Tags {
	return tags.filter((tag) => typeof tag === "string" || (!FOREIGN_TYPES.has(tag.tag) && tag.format !== "TIME"));
}

function plainData(document: Document.Parsed, lines: LineCounter, mayRepeat = false): ParsedYaml {
	const [error] = document.errors;
	const repeatedAt = mayRepeat ? undefined : repeatedKey(document.contents);
	if (repeatedAt !== undefined && (error === undefined || repeatedAt < error.pos[0])) {
		const { line, col } = lines.linePos(repeatedAt);
		return malformed(line, col, "Map keys must be unique");
	}
	if (error !== undefined) {
		const { line, col } = lines.linePos(error.pos[0]);
		return malformed(line, col, error.message);
	}
	const { line, col } = startOf(document, lines);
	try {
		const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
		if (isDeeperThan(value, DEPTH_MAX)) return malformed(line, col, "exceeded max depth");
		const stranger = hasNumberOutsideJson(value);
		return stranger ? malformed(line, col, "infinite numbers and .nan are not allowed") : { kind: "ok", value };
	} catch (error) {
		// Too many aliases, or one of something that does not exist.
		return malformed(line, col, error instanceof Error ? error.message : String(error));
	}
}

function startOf(document: Document.Parsed, lines: LineCounter): { line: number; col: number } {
	return lines.linePos(document.contents?.range[0] ?? document.range[0]);
}

function hasNumberOutsideJson(value: unknown): boolean {
	if (typeof value === "number") return !Number.isFinite(value);
	return typeof value === "object" && value !== null && Object.values(value).some(hasNumberOutsideJson);
}

function malformed(line: number, column: number, why: string): Malformed {
	return { kind: "malformed", line, column, message: `yaml: line ${line}, column ${column}: ${why}` };
}
