/** Reads YAML into plain data, and remembers where each part of it stands. */
import {
	type Alias,
	type Document,
	isAlias,
	isMap,
	isScalar,
	LineCounter,
	type Node,
	parseDocument,
	visit,
	type YAMLError,
} from "yaml";

/** A fault of a file. Lines and columns count from 1. */
export interface FileProblem {
	readonly line: number;
	readonly column: number;
	readonly message: string;
}

export interface YamlText {
	readonly value: unknown;
	/** Where the value at this path stands, or its key when the key is the fault; else what is around it. */
	problemAt(path: readonly unknown[], isKey: boolean, message: string): FileProblem;
}

/** Characters of one file. */
const LENGTH_MAX = 1_048_576;
/** Aliases could stand for more data than any machine has: a few are enough for people. */
const ALIASES_MAX = 100;

/** Never throws, whatever the text is. */
export function readYamlText(source: string): YamlText | { readonly problems: readonly FileProblem[] } {
	if (source.length > LENGTH_MAX) return { problems: [at(1, 1, `longer than ${LENGTH_MAX} characters`)] };
	const lines = new LineCounter();
	const problem = (offset: number, message: string): FileProblem => {
		const { line, col } = lines.linePos(offset);
		return at(line, col, message);
	};
	const document = parseDocument(source, { lineCounter: lines, version: "1.2", logLevel: "error" });
	const faults = [...document.errors, ...document.warnings];
	if (faults.length > 0) return { problems: faults.map((fault) => problem(fault.pos[0], messageOf(fault))) };
	const alias = badAlias(document);
	if (alias !== undefined) return { problems: [problem(alias.node.range?.[0] ?? 0, alias.message)] };
	try {
		return {
			value: document.toJS({ maxAliasCount: ALIASES_MAX }),
			problemAt: (path, isKey, message) => problem(offsetOf(document, path, isKey), message),
		};
	} catch (error) {
		// Data that is deeper than the stack, or aliases of aliases.
		const isDeep = error instanceof RangeError;
		return { problems: [at(1, 1, isDeep ? TOO_DEEP : `want at most ${ALIASES_MAX} aliases, and few of each other`)] };
	}
}

const TOO_DEEP = "nested too deeply";

/** In words for somebody who does not know the parser. */
function messageOf({ code, message }: YAMLError): string {
	if (code === "MULTIPLE_DOCS") return "want one document, found another";
	if (message.startsWith("Maximum call stack")) return TOO_DEEP;
	return message.split(/ at line |:?\n/)[0] ?? "no YAML";
}

/** An alias of nothing, or of what it is a part of. */
function badAlias(document: Document): { readonly node: Alias; readonly message: string } | undefined {
	let found: { node: Alias; message: string } | undefined;
	visit(document, {
		Alias(_, node, path) {
			const target = node.resolve(document);
			if (target !== undefined && !path.includes(target)) return undefined;
			const why = target === undefined ? "there is no anchor of that name before it" : "it is a part of itself";
			found = { node, message: `alias *${node.source}: ${why}` };
			return visit.BREAK;
		},
	});
	return found;
}

function offsetOf(document: Document, steps: readonly unknown[], isKey: boolean): number {
	for (let length = steps.length; length > 0; length--) {
		const path = steps.slice(0, length);
		const around = length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
		if (isKey && isMap(around)) {
			const pair = around.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1));
			if (isScalar(pair?.key) && pair.key.range != null) return pair.key.range[0];
		}
		const found = nodeAt(document, path);
		if (found?.range != null) return found.range[0];
	}
	return document.contents?.range?.[0] ?? 0;
}

function nodeAt(document: Document, path: readonly unknown[]): Node | undefined {
	const found = document.getIn(path, true) as Node | undefined;
	return isAlias(found) ? undefined : found;
}

function at(line: number, column: number, message: string): FileProblem {
	return { line, column, message };
}
