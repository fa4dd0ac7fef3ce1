/** The syntax of patterns, which is Go's (RE2): no backward references and no look-around. @see https://github.com/google/re2/wiki/Syntax */

export type PatternNode =
	| { readonly kind: "empty" }
	| { readonly kind: "set"; readonly set: CharacterSet }
	| { readonly kind: "assert"; readonly what: Assertion }
	| { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
	| { readonly kind: "either"; readonly parts: readonly PatternNode[] }
	| { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number };

export type Assertion = "text-start" | "text-end" | "line-start" | "line-end" | "word-edge" | "no-word-edge";

/** Code points; `classes` are tests of one character. */
export interface CharacterSet {
	readonly isNegated: boolean;
	/** Pairs of first and last. */
	readonly ranges: readonly number[];
	readonly classes: readonly RegExp[];
	/** Upper and lower case count as the same. */
	readonly folds: boolean;
}

/** Why a text is no pattern, in the words of Go's regexp. */
export class PatternProblem extends Error {
	override readonly name = "PatternProblem";
}

interface Flags {
	readonly folds: boolean;
	readonly isMultiline: boolean;
	readonly dotTakesAll: boolean;
}

/** Go's limit for one repetition. */
const REPEAT_MAX = 1000;
const DEPTH_MAX = 100;

const PERL_CLASSES: Readonly<Record<string, readonly number[]>> = {
	d: [48, 57],
	w: [48, 57, 65, 90, 95, 95, 97, 122],
	s: [9, 10, 12, 13, 32, 32],
};
const POSIX_CLASSES: ReadonlyMap<string, RegExp> = new Map([
	["alnum", /^[0-9A-Za-z]$/],
	["alpha", /^[A-Za-z]$/],
	["ascii", /^\p{ASCII}$/u],
	["blank", /^[\t ]$/],
	["cntrl", /^(?=\p{ASCII})\p{Cc}$/u],
	["digit", /^[0-9]$/],
	["graph", /^[!-~]$/],
	["lower", /^[a-z]$/],
	["print", /^[ -~]$/],
	["punct", /^[!-/:-@[-`{-~]$/],
	["space", /^[\t\n\v\f\r ]$/],
	["upper", /^[A-Z]$/],
	["word", /^[0-9A-Za-z_]$/],
	["xdigit", /^[0-9A-Fa-f]$/],
]);
const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** @throws {PatternProblem} */
export function parsePattern(text: string): PatternNode {
	const parser = new PatternParser([...text]);
	const node = parser.either({ folds: false, isMultiline: false, dotTakesAll: false }, 0);
	parser.requireEnd();
	return node;
}

class PatternParser {
	readonly #text: readonly string[];
	#at = 0;

	constructor(text: readonly string[]) {
		this.#text = text;
	}

	requireEnd(): void {
		if (this.#at < this.#text.length) throw problem(`unexpected ): \`${this.#text.join("")}\``);
	}

	either(outer: Flags, depth: number): PatternNode {
		if (depth > DEPTH_MAX) throw problem("expression nests too deeply");
		let flags = outer;
		const options: PatternNode[] = [];
		let parts: PatternNode[] = [];
		for (;;) {
			const next = this.#peek();
			if (next === undefined || next === ")") break;
			if (next === "|") {
				this.#at++;
				options.push(sequence(parts));
				parts = [];
				continue;
			}
			const changed = this.#flagGroup(flags);
			if (changed !== undefined) flags = changed;
			else parts.push(this.#repeated(flags, depth));
		}
		options.push(sequence(parts));
		return options.length === 1 ? (options[0] as PatternNode) : { kind: "either", parts: options };
	}

	#peek(ahead = 0): string | undefined {
		return this.#text[this.#at + ahead];
	}

	#rest(): string {
		return this.#text.slice(this.#at).join("");
	}

	/** `(?i)`, which holds up to the end of the group it stands in. */
	#flagGroup(flags: Flags): Flags | undefined {
		const found = /^\(\?([imsU]*)(?:-([imsU]+))?\)/.exec(this.#text.slice(this.#at, this.#at + 12).join(""));
		if (found === null || found[0] === "(?)") return undefined;
		this.#at += found[0].length;
		return withFlags(flags, found[1] ?? "", found[2] ?? "");
	}

	#repeated(flags: Flags, depth: number): PatternNode {
		let node = this.#atom(flags, depth);
		for (let isFirst = true; ; isFirst = false) {
			const start = this.#at;
			const range = this.#quantifier();
			if (range === undefined) return node;
			const [min, max] = range;
			if (!isFirst) {
				throw problem(`invalid nested repetition operator: \`${this.#text.slice(start - 1, this.#at).join("")}\``);
			}
			if (this.#peek() === "?") this.#at++;
			node = { kind: "repeat", part: node, min, max };
		}
	}

	#quantifier(): readonly [number, number] | undefined {
		switch (this.#peek()) {
			case "*":
				this.#at++;
				return [0, Number.POSITIVE_INFINITY];
			case "+":
				this.#at++;
				return [1, Number.POSITIVE_INFINITY];
			case "?":
				this.#at++;
				return [0, 1];
			case "{":
				return this.#counted();
			default:
				return undefined;
		}
	}

	/** A brace that counts nothing is a character. */
	#counted(): readonly [number, number] | undefined {
		const found = /^\{(\d{1,9})(,(\d{1,9})?)?\}/.exec(this.#text.slice(this.#at, this.#at + 24).join(""));
		if (found === null) return undefined;
		const min = Number(found[1]);
		const max = found[2] === undefined ? min : found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3]);
		if (min > REPEAT_MAX || (Number.isFinite(max) && (max > REPEAT_MAX || max < min))) {
			throw problem(`invalid repeat count: \`${found[0]}\``);
		}
		this.#at += found[0].length;
		return [min, max];
	}

	#atom(flags: Flags, depth: number): PatternNode {
		const character = this.#text[this.#at++] as string;
		switch (character) {
			case "(":
				return this.#group(flags, depth);
			case "[":
				return this.#bracket(flags);
			case ".":
				return {
					kind: "set",
					set: { isNegated: true, ranges: flags.dotTakesAll ? [] : [10, 10], classes: [], folds: false },
				};
			case "^":
				return { kind: "assert", what: flags.isMultiline ? "line-start" : "text-start" };
			case "$":
				return { kind: "assert", what: flags.isMultiline ? "line-end" : "text-end" };
			case "\\":
				return this.#escape(flags);
			case "*":
			case "+":
			case "?":
				throw problem(`missing argument to repetition operator: \`${character}\``);
			default:
				return literal(character, flags);
		}
	}

	#group(flags: Flags, depth: number): PatternNode {
		let inner = flags;
		if (this.#peek() === "?") {
			const head = /^\?(?:P?<(\w+)>|([imsU]*)(?:-([imsU]+))?:)/.exec(this.#rest().slice(0, 64));
			if (head === null) {
				throw problem(`invalid or unsupported Perl syntax: \`(${this.#rest().slice(0, 2)}\``);
			}
			this.#at += head[0].length;
			inner = withFlags(flags, head[2] ?? "", head[3] ?? "");
		}
		const node = this.either(inner, depth + 1);
		if (this.#peek() !== ")") throw problem(`missing closing ): \`${this.#text.join("")}\``);
		this.#at++;
		return node;
	}

	#escape(flags: Flags): PatternNode {
		const character = this.#peek();
		if (character === undefined) throw problem("trailing backslash at end of expression: ``");
		const what = ASSERTIONS[character];
		if (what !== undefined) {
			this.#at++;
			return { kind: "assert", what };
		}
		if (character === "Q") {
			this.#at++;
			const text = this.#rest();
			const end = text.indexOf("\\E");
			const quoted = [...(end < 0 ? text : text.slice(0, end))];
			this.#at += quoted.length + (end < 0 ? 0 : 2);
			return sequence(quoted.map((each) => literal(each, flags)));
		}
		const set = this.#class();
		if (set !== undefined) return { kind: "set", set: { ...set, folds: flags.folds } };
		return literal(String.fromCodePoint(this.#escapedCharacter()), flags);
	}

	/** `\d`, `\W`, `\pL`, `\p{Greek}`; the backslash has been read. */
	#class(): CharacterSet | undefined {
		const character = this.#peek() ?? "";
		const perl = PERL_CLASSES[character.toLowerCase()];
		if (perl !== undefined && "dwsDWS".includes(character)) {
			this.#at++;
			return { isNegated: character !== character.toLowerCase(), ranges: perl, classes: [], folds: false };
		}
		if (character !== "p" && character !== "P") return undefined;
		const found = /^[pP](?:\{(\^?)(\w+)\}|(\w))/.exec(this.#rest().slice(0, 40));
		const name = found?.[2] ?? found?.[3] ?? "";
		const tests = unicodeClass(name);
		if (found === null || tests === undefined) throw problem(`invalid character class range: \`\\${character}\``);
		this.#at += [...found[0]].length;
		return { isNegated: (character === "P") !== (found[1] === "^"), ranges: [], classes: [tests], folds: false };
	}

	#escapedCharacter(): number {
		const hex = /^x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(this.#rest().slice(0, 10));
		if (hex !== null) {
			const code = Number.parseInt(hex[1] ?? hex[2] ?? "", 16);
			if (code > 0x10ffff) throw problem(`invalid escape sequence: \`\\${hex[0]}\``);
			this.#at += hex[0].length;
			return code;
		}
		const character = this.#text[this.#at++] as string;
		const control = Object.hasOwn(CONTROL, character) ? CONTROL[character] : undefined;
		if (control !== undefined) return control;
		if (/[0-9A-Za-z]/.test(character)) throw problem(`invalid escape sequence: \`\\${character}\``);
		return codeOf(character);
	}

	#bracket(flags: Flags): PatternNode {
		const start = this.#at - 1;
		const isNegated = this.#peek() === "^";
		if (isNegated) this.#at++;
		const ranges: number[] = [];
		const classes: RegExp[] = [];
		for (let isFirst = true; ; isFirst = false) {
			const next = this.#peek();
			if (next === undefined) throw problem(`missing closing ]: \`${this.#text.slice(start).join("")}\``);
			if (next === "]" && !isFirst) break;
			if (!this.#bracketClass(ranges, classes)) this.#bracketRange(ranges);
		}
		this.#at++;
		return { kind: "set", set: { isNegated, ranges, classes, folds: flags.folds } };
	}

	#bracketClass(ranges: number[], classes: RegExp[]): boolean {
		const posix = /^\[:(\^?)(\w+):\]/.exec(this.#text.slice(this.#at, this.#at + 14).join(""));
		if (posix !== null) {
			const test = POSIX_CLASSES.get(posix[2] ?? "");
			if (test === undefined) throw problem(`invalid character class range: \`${posix[0]}\``);
			classes.push(posix[1] === "^" ? new RegExp(`^(?!${test.source.slice(1, -1)})[\\s\\S]$`, "u") : test);
			this.#at += posix[0].length;
			return true;
		}
		if (this.#peek() !== "\\") return false;
		this.#at++;
		const set = this.#class();
		if (set === undefined) {
			this.#at--;
			return false;
		}
		if (set.isNegated) classes.push(testOf(set));
		else {
			ranges.push(...set.ranges);
			classes.push(...set.classes);
		}
		return true;
	}

	#bracketRange(ranges: number[]): void {
		const first = this.#bracketCharacter();
		let last = first;
		if (this.#peek() === "-" && this.#peek(1) !== undefined && this.#peek(1) !== "]") {
			this.#at++;
			last = this.#bracketCharacter();
			if (last < first) {
				const shown = `${String.fromCodePoint(first)}-${String.fromCodePoint(last)}`;
				throw problem(`invalid character class range: \`${shown}\``);
			}
		}
		ranges.push(first, last);
	}

	#bracketCharacter(): number {
		const character = this.#text[this.#at++];
		if (character === undefined) throw problem(`missing closing ]: \`${this.#text.join("")}\``);
		if (character !== "\\") return codeOf(character);
		if (this.#peek() === undefined) throw problem("trailing backslash at end of expression: ``");
		return this.#escapedCharacter();
	}
}

const ASSERTIONS: Readonly<Record<string, Assertion | undefined>> = Object.assign(Object.create(null), {
	A: "text-start",
	z: "text-end",
	b: "word-edge",
	B: "no-word-edge",
});

function withFlags(flags: Flags, on: string, off: string): Flags {
	const flag = (letter: string, was: boolean): boolean => (on.includes(letter) || was) && !off.includes(letter);
	return {
		folds: flag("i", flags.folds),
		isMultiline: flag("m", flags.isMultiline),
		dotTakesAll: flag("s", flags.dotTakesAll),
	};
}

function sequence(parts: readonly PatternNode[]): PatternNode {
	if (parts.length === 1) return parts[0] as PatternNode;
	return parts.length === 0 ? { kind: "empty" } : { kind: "sequence", parts };
}

function literal(character: string, { folds }: Flags): PatternNode {
	const code = codeOf(character);
	return { kind: "set", set: { isNegated: false, ranges: [code, code], classes: [], folds } };
}

function codeOf(character: string): number {
	return character.codePointAt(0) ?? 0;
}

/** Unicode's own names are the same in both languages: a general category, or a script. */
function unicodeClass(name: string): RegExp | undefined {
	for (const property of [`gc=${name}`, `sc=${name}`]) {
		try {
			return new RegExp(`^\\p{${property}}$`, "u");
		} catch {
			// Not a name of this kind.
		}
	}
	return undefined;
}

/** A negated class inside brackets, as the test of one character. */
function testOf({ ranges, classes }: CharacterSet): RegExp {
	const [only] = classes;
	if (only !== undefined) return new RegExp(only.source.replace("^\\p", "^\\P"), "u");
	const hex = (code: number): string => `\\u{${code.toString(16)}}`;
	let body = "";
	for (let index = 0; index < ranges.length; index += 2) {
		body += `${hex(ranges[index] as number)}-${hex(ranges[index + 1] as number)}`;
	}
	return new RegExp(`^[^${body}]$`, "u");
}

function problem(why: string): PatternProblem {
	return new PatternProblem(`error parsing regexp: ${why}`);
}
