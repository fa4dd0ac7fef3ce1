/**
 * Patterns of strangers, matched in time that grows with the text and not with the ways to read it: all ways are
 * followed at once, character by character, as Go's regexp does. A RegExp would try them one after the other, and
 * `(a+)+$` would stop the server.
 */
import { type Assertion, type CharacterSet, type PatternNode, PatternProblem, parsePattern } from "./pattern-syntax.ts";

export type CompiledPattern =
	| { readonly kind: "pattern"; readonly pattern: Pattern }
	/** In the words of Go's regexp. */
	| { readonly kind: "wrong"; readonly why: string };

const cache = new Map<string, CompiledPattern>();
const CACHED_MAX = 2_000;

export function compilePattern(text: string): CompiledPattern {
	const known = cache.get(text);
	if (known !== undefined) return known;
	const compiled = compile(text);
	if (cache.size >= CACHED_MAX) cache.clear();
	cache.set(text, compiled);
	return compiled;
}

function compile(text: string): CompiledPattern {
	try {
		return { kind: "pattern", pattern: new Pattern(parsePattern(text)) };
	} catch (error) {
		if (error instanceof PatternProblem) return { kind: "wrong", why: error.message };
		throw error;
	}
}

type Instruction =
	| { readonly kind: "set"; readonly set: CharacterSet; readonly next: number }
	| { readonly kind: "assert"; readonly what: Assertion; readonly next: number }
	| { readonly kind: "split"; readonly next: readonly number[] }
	| { readonly kind: "match" };

/** Instructions of one pattern. Go allows about as much. */
const PROGRAM_MAX = 5_000;
/** Steps of one match: about a tenth of a second. */
const STEPS_MAX = 5_000_000;

/** Steps that may be spent; several matches may share one. */
export class StepBudget {
	left: number;

	constructor(steps: number = STEPS_MAX) {
		this.left = steps;
	}
}

export class Pattern {
	readonly #program: Instruction[] = [{ kind: "match" }];
	readonly #start: number;

	/** @throws {PatternProblem} When it repeats so much that its program would be too large. */
	constructor(node: PatternNode) {
		this.#start = this.#emit(node, 0);
	}

	/** Whether the pattern fits anywhere in the text; undefined when the budget did not suffice to tell. */
	matches(text: string, budget: StepBudget = new StepBudget()): boolean | undefined {
		const seen = new Uint32Array(this.#program.length);
		const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
		let threads: number[] = [];
		for (let at = 0; at <= codes.length; at++) {
			threads.push(this.#start);
			const sets: number[] = [];
			if (this.#follow(threads, codes, at, seen, sets)) return true;
			budget.left -= threads.length + sets.length + 1;
			if (budget.left < 0) return undefined;
			threads = this.#advance(sets, codes[at]);
		}
		return false;
	}

	/** Goes on to what takes a character, without taking one. True when the end of the pattern is among it. */
	#follow(open: number[], codes: readonly number[], at: number, seen: Uint32Array, sets: number[]): boolean {
		for (let index = 0; index < open.length; index++) {
			const address = open[index] as number;
			if (seen[address] === at + 1) continue;
			seen[address] = at + 1;
			const instruction = this.#program[address] as Instruction;
			switch (instruction.kind) {
				case "match":
					return true;
				case "set":
					sets.push(address);
					break;
				case "assert":
					if (holds(instruction.what, codes, at)) open.push(instruction.next);
					break;
				case "split":
					open.push(...instruction.next);
					break;
			}
		}
		return false;
	}

	#advance(sets: readonly number[], code: number | undefined): number[] {
		if (code === undefined) return [];
		const next: number[] = [];
		for (const address of sets) {
			const instruction = this.#program[address] as Instruction & { kind: "set" };
			if (isIn(instruction.set, code)) next.push(instruction.next);
		}
		return next;
	}

	#emit(node: PatternNode, next: number): number {
		switch (node.kind) {
			case "empty":
				return next;
			case "set":
				return this.#push({ kind: "set", set: node.set, next });
			case "assert":
				return this.#push({ kind: "assert", what: node.what, next });
			case "sequence":
				return node.parts.reduceRight((after, part) => this.#emit(part, after), next);
			case "either":
				return this.#push({ kind: "split", next: node.parts.map((part) => this.#emit(part, next)) });
			case "repeat":
				return this.#emitRepeat(node, next);
		}
	}

	#emitRepeat({ part, min, max }: PatternNode & { kind: "repeat" }, next: number): number {
		let start = next;
		if (max === Number.POSITIVE_INFINITY) {
			start = this.#push({ kind: "match" });
			this.#program[start] = { kind: "split", next: [this.#emit(part, start), next] };
		} else {
			for (let count = min; count < max; count++) {
				start = this.#push({ kind: "split", next: [this.#emit(part, start), next] });
			}
		}
		for (let count = 0; count < min; count++) start = this.#emit(part, start);
		return start;
	}

	#push(instruction: Instruction): number {
		if (this.#program.length >= PROGRAM_MAX) throw new PatternProblem("error parsing regexp: expression too large");
		return this.#program.push(instruction) - 1;
	}
}

function isIn(set: CharacterSet, code: number): boolean {
	if (!set.folds) return contains(set, code) !== set.isNegated;
	const character = String.fromCodePoint(code);
	const variants = [character, character.toLowerCase(), character.toUpperCase()];
	return variants.some((variant) => contains(set, variant.codePointAt(0) ?? 0)) !== set.isNegated;
}

function contains({ ranges, classes }: CharacterSet, code: number): boolean {
	for (let index = 0; index < ranges.length; index += 2) {
		if (code >= (ranges[index] as number) && code <= (ranges[index + 1] as number)) return true;
	}
	return classes.length > 0 && classes.some((test) => test.test(String.fromCodePoint(code)));
}

function holds(what: Assertion, codes: readonly number[], at: number): boolean {
	const before = codes[at - 1];
	const after = codes[at];
	switch (what) {
		case "text-start":
			return at === 0;
		case "text-end":
			return at === codes.length;
		case "line-start":
			return before === undefined || before === 10;
		case "line-end":
			return after === undefined || after === 10;
		case "word-edge":
			return isWord(before) !== isWord(after);
		case "no-word-edge":
			return isWord(before) === isWord(after);
	}
}

function isWord(code: number | undefined): boolean {
	if (code === undefined) return false;
	return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}
