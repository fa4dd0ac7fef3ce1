/**
 * Fields that a JSON text gives twice. JSON.parse takes the last one in silence, so the text itself must be read:
 * `{"spec": {"ports": [], "ports": []}}` gives `duplicate field "spec.ports"`.
 */

import { ODDITIES_MAX } from "../../api/schema/decode.ts";

/** An object or list that is open where the reader stands. */
interface Open {
	readonly isObject: boolean;
	/** Of an object: the keys so far, until they are many. */
	readonly keys: string[];
	/** Of an object with many keys. */
	table?: Set<string>;
	/** The key, or the index, of the value that comes next. */
	at: string | number;
	/** Whether the next string of an object is a key. */
	isBeforeKey: boolean;
}

/** @param text JSON that JSON.parse has read without an error. */
export function duplicateFields(text: string): readonly string[] {
	const reader = new Reader(text);
	for (let index = 0; index < text.length; index++) index = reader.step(index);
	return reader.found;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

const NO_KEYS: string[] = [];
/** Keys that are looked through: a table for each of thousands of small objects takes long to make. */
const SCANNED_MAX = 8;

function isKnown({ keys, table }: Open, key: string): boolean {
	return table?.has(key) ?? keys.includes(key);
}

class Reader {
	readonly found: string[] = [];
	readonly #text: string;
	readonly #open: Open[] = [];

	constructor(text: string) {
		this.#text = text;
	}

	/** Takes in the character at `index`. @returns Where it, or the string that it begins, ends. */
	step(index: number): number {
		switch (this.#text.charCodeAt(index)) {
			case OPEN_OBJECT:
				this.#open.push({ isObject: true, keys: [], at: "", isBeforeKey: true });
				return index;
			case OPEN_LIST:
				this.#open.push({ isObject: false, keys: NO_KEYS, at: 0, isBeforeKey: false });
				return index;
			case CLOSE_OBJECT:
			case CLOSE_LIST:
				this.#open.pop();
				return index;
			case COMMA:
				this.#next();
				return index;
			case QUOTE:
				return this.#string(index);
			default:
				return index;
		}
	}

	#next(): void {
		const open = this.#open.at(-1);
		if (open === undefined) return;
		open.isBeforeKey = open.isObject;
		if (typeof open.at === "number") open.at++;
	}

	#string(start: number): number {
		let end = start + 1;
		let hasEscapes = false;
		for (; this.#text.charCodeAt(end) !== QUOTE; end++) {
			if (this.#text.charCodeAt(end) !== BACKSLASH) continue;
			hasEscapes = true;
			end++;
		}
		const open = this.#open.at(-1);
		if (open?.isBeforeKey) {
			const raw = this.#text.slice(start + 1, end);
			this.#key(open, hasEscapes ? String(JSON.parse(`"${raw}"`)) : raw);
		}
		return end;
	}

	#key(open: Open, key: string): void {
		open.isBeforeKey = false;
		open.at = key;
		if (isKnown(open, key)) {
			if (this.found.length < ODDITIES_MAX) this.found.push(`duplicate field "${this.#path()}"`);
			return;
		}
		if (open.keys.length < SCANNED_MAX) {
			open.keys.push(key);
			return;
		}
		open.table ??= new Set(open.keys);
		open.table.add(key);
	}

	#path(): string {
		return this.#open.reduce((path, { at }) => {
			if (typeof at === "number") return `${path}[${at}]`;
			return path === "" ? at : `${path}.${at}`;
		}, "");
	}
}
