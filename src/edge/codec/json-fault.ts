/** Where a text stops being JSON, and what was wanted there: `JSON.parse` says one of the two at best. */

export interface JsonFault {
	/** Characters before it. */
	readonly at: number;
	readonly wanted: string;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[\u007f-\u009f])*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first fault of a text that `JSON.parse` refuses; undefined when there is none. */
export function jsonFault(text: string): JsonFault | undefined {
	return new Reading(text).fault();
}

/** Keeps what is open in a list of its own: nesting costs no stack. */
class Reading {
	readonly #text: string;
	readonly #open: ("{" | "[")[] = [];
	#at = 0;

	constructor(text: string) {
		this.#text = text;
	}

	fault(): JsonFault | undefined {
		let wanted = this.#value();
		while (wanted === undefined && this.#open.length > 0) wanted = this.#afterValue();
		if (wanted === undefined && this.#peek() === "") return undefined;
		return { at: this.#at, wanted: wanted ?? "the end" };
	}

	/** Every step answers with what it misses. Opens what is to be opened, and ends behind the first value in it. */
	#value(): string | undefined {
		for (;;) {
			const first = this.#peek();
			if (first !== "{" && first !== "[") return this.#takes(STRING) || this.#takes(SCALAR) ? undefined : "a value";
			this.#at++;
			if (this.#peek() === endOf(first)) {
				this.#at++;
				return undefined;
			}
			this.#open.push(first);
			const wanted = first === "{" ? this.#key() : undefined;
			if (wanted !== undefined) return wanted;
		}
	}

	#afterValue(): string | undefined {
		const inside = this.#open.at(-1) ?? "[";
		const next = this.#peek();
		if (next === endOf(inside)) {
			this.#at++;
			this.#open.pop();
			return undefined;
		}
		if (next !== ",") return `a comma or ${endOf(inside)}`;
		this.#at++;
		return (inside === "{" ? this.#key() : undefined) ?? this.#value();
	}

	#key(): string | undefined {
		this.#peek();
		if (!this.#takes(STRING)) return "a property name in double quotes";
		if (this.#peek() !== ":") return "a colon after the property name";
		this.#at++;
		return undefined;
	}

	/** The next character that is no space; "" at the end. */
	#peek(): string {
		this.#takes(SPACE);
		return this.#text[this.#at] ?? "";
	}

	#takes(pattern: RegExp): boolean {
		pattern.lastIndex = this.#at;
		if (!pattern.test(this.#text) || pattern.lastIndex === this.#at) return false;
		this.#at = pattern.lastIndex;
		return true;
	}
}

function endOf(bracket: "{" | "["): string {
	return bracket === "{" ? "}" : "]";
}
