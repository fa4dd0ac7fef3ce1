/**
 * Reads JSON of any length item by item: what `kubectl get -o json` prints of a large cluster.
 *
 * Bytes are only looked at to find where an item of the top object's `items` begins and ends; each is then read by
 * `JSON.parse`, given away, and forgotten. An object that is no list is one item. Objects may follow each other.
 */
import { DEPTH_MAX } from "../../api/schema/depth.ts";
import { isObject } from "../../kernel/json.ts";
import { jsonFault } from "./json-fault.ts";

/** Of one item, and of all that a list has beside its items. An API server takes objects of 1.5 MiB at most. */
const ITEM_BYTES_MAX = 16 * 1024 * 1024;
const KEY = [...new TextEncoder().encode("items")];

export interface JsonItem {
	readonly value: unknown;
	/** Of its first character, from 1. */
	readonly line: number;
	/** Of the list, `kind` and `apiVersion`, if they come before the items: items may have none of their own. */
	readonly list: Readonly<Record<string, unknown>>;
}

interface Place {
	readonly line: number;
	/** Bytes of the whole text before it. */
	readonly offset: number;
}

/** Bytes that are kept until they are a whole. */
class Capture {
	#parts: Uint8Array[] = [];
	#bytes = 0;
	/** Where it goes on in the chunk at hand; -1: not now. */
	#from = -1;
	/** Where it was taken up, and what it had by then. */
	readonly #begun: (Place & { readonly bytes: number })[] = [];

	resume(at: number, place: Place): void {
		this.#from = at;
		this.#begun.push({ ...place, bytes: this.#bytes });
	}

	get start(): Place {
		return this.#begun[0] ?? { line: 1, offset: 0 };
	}

	/** Of what comes after the first characters of {@link text}. */
	placeAfter(passed: string): Place {
		const bytes = Buffer.byteLength(passed);
		const begun = this.#begun.findLast((each) => each.bytes <= bytes) ?? { line: 1, offset: 0, bytes: 0 };
		const since = Buffer.from(passed).subarray(begun.bytes).toString("utf8");
		return { line: begun.line + since.split("\n").length - 1, offset: begun.offset + bytes - begun.bytes };
	}

	pause(chunk: Uint8Array, at: number): void {
		if (this.#from < 0) return;
		if (at > this.#from) {
			this.#parts.push(chunk.subarray(this.#from, at));
			this.#bytes += at - this.#from;
		}
		this.#from = -1;
	}

	/** The chunk is used up. */
	turn(chunk: Uint8Array): void {
		if (this.#from < 0) return;
		this.pause(chunk, chunk.length);
		this.#from = 0;
	}

	get bytes(): number {
		return this.#bytes;
	}

	text(): string {
		return Buffer.concat(this.#parts).toString("utf8");
	}
}

export class JsonItems {
	readonly #file: string;
	readonly #found: (item: JsonItem) => void;
	#line = 1;
	/** Bytes of the chunks before. */
	#before = 0;
	#depth = 0;
	#isString = false;
	#isEscaped = false;
	/** How much of `items` the string at hand has; -1: it is another one. */
	#matched = -1;
	/** The next value of the top object is that of `items`. */
	#isItemsNext = false;
	/** What may come between the items of a list; undefined: not in a list. */
	#next: "item or ]" | "comma or ]" | "item" | undefined;
	/** The top object without its items. */
	#top: Capture | undefined;
	#item: Capture | undefined;
	#list: Readonly<Record<string, unknown>> = {};
	#count = 0;

	/** @param file For messages. @param found Called for each item, in order. */
	constructor(file: string, found: (item: JsonItem) => void) {
		this.#file = file;
		this.#found = found;
	}

	/** @param chunk Not to be changed afterwards. @throws {Error} With the file, the line and the byte, and what was wanted there. */
	push(chunk: Uint8Array): void {
		for (let at = 0; at < chunk.length; at++) {
			if (this.#isString) {
				at = this.#afterString(chunk, at);
				continue;
			}
			const byte = chunk[at] as number;
			if (byte > 0x20) this.#token(byte, chunk, at);
			else if (byte === 0x0a) this.#line++;
		}
		this.#top?.turn(chunk);
		this.#item?.turn(chunk);
		this.#limit(this.#item ?? this.#top);
		this.#before += chunk.length;
	}

	/** @throws {Error} When the text ends too early. */
	end(): void {
		if (this.#top === undefined) {
			if (this.#count === 0 && Object.keys(this.#list).length === 0) this.#fail(0, "an object, and the file is empty");
			return;
		}
		const where = this.#item === undefined ? "" : ` (it began at line ${this.#item.start.line})`;
		const wanted = this.#isString ? 'the end of a string (")' : "the end of an object or a list";
		this.#fail(0, `${wanted}, and the file ends within item ${this.#count + 1}${where}: is it cut off?`);
	}

	/** Of the quote that ends the string at hand, or of the end of the chunk. Most bytes of a list pass here. */
	#afterString(chunk: Uint8Array, from: number): number {
		let at = from;
		if (this.#isEscaped) {
			this.#isEscaped = false;
			at++;
		}
		for (; at < chunk.length; at++) {
			const byte = chunk[at];
			if (byte === 0x22) {
				this.#isString = false;
				return at;
			}
			if (this.#depth === 1) this.#matched = byte === KEY[this.#matched] ? this.#matched + 1 : -1;
			if (byte === 0x5c) at++;
		}
		// A backslash at the end of the chunk: what it escapes is the first of the next one.
		this.#isEscaped = at > chunk.length;
		return at;
	}

	#token(byte: number, chunk: Uint8Array, at: number): void {
		if (this.#next !== undefined && this.#depth === 2) {
			this.#betweenItems(byte, at);
			return;
		}
		switch (byte) {
			case 0x22: // "
				if (this.#depth === 0) this.#fail(at, "an object");
				this.#isString = true;
				this.#matched = 0;
				break;
			case 0x7b: // {
			case 0x5b: // [
				this.#opened(byte, chunk, at);
				break;
			case 0x7d: // }
			case 0x5d: // ]
				this.#closed(chunk, at);
				break;
			case 0x3a: // :
				if (this.#depth === 1) this.#isItemsNext = this.#matched === KEY.length;
				break;
			default:
				if (this.#depth === 0) this.#fail(at, "an object");
		}
	}

	#opened(byte: number, chunk: Uint8Array, at: number): void {
		if (this.#depth === 0) {
			if (byte !== 0x7b) this.#fail(at, "an object");
			this.#top = new Capture();
			this.#top.resume(at, this.#place(at));
		}
		this.#depth++;
		if (this.#depth > DEPTH_MAX) this.#fail(at, `at most ${DEPTH_MAX} objects and lists in each other`);
		if (this.#depth === 2 && this.#isItemsNext && byte === 0x5b) this.#beginItems(chunk, at);
		if (this.#depth === 2) this.#isItemsNext = false;
	}

	/** What the top object has said so far is looked at now: after a million items would be too late. */
	#beginItems(chunk: Uint8Array, at: number): void {
		this.#next = "item or ]";
		this.#top?.pause(chunk, at + 1);
		const text = `${this.#top?.text() ?? ""}]}`;
		const top = this.#parsed(text, this.#top);
		this.#list = isObject(top) ? top : {};
	}

	#betweenItems(byte: number, at: number): void {
		const next = this.#next;
		if (byte === 0x5d && next !== "item") {
			this.#next = undefined;
			this.#depth--;
			this.#top?.resume(at, this.#place(at));
		} else if (byte === 0x2c && next === "comma or ]") this.#next = "item";
		else if (byte === 0x7b && next !== "comma or ]") {
			this.#item = new Capture();
			this.#item.resume(at, this.#place(at));
			this.#depth++;
		} else this.#fail(at, next === "comma or ]" ? "a comma or ] after an item" : "an item, which is an object");
	}

	#closed(chunk: Uint8Array, at: number): void {
		if (this.#depth === 0) this.#fail(at, "an object");
		this.#depth--;
		if (this.#item !== undefined && this.#depth === 2) {
			const item = this.#item;
			item.pause(chunk, at + 1);
			this.#item = undefined;
			this.#next = "comma or ]";
			this.#give(item, this.#list);
		} else if (this.#depth === 0 && this.#top !== undefined) {
			const top = this.#top;
			top.pause(chunk, at + 1);
			this.#top = undefined;
			// Of a list only what is left over: it says which kind it is of, also when it has no items.
			this.#give(top, {});
			this.#list = {};
		}
	}

	#give(capture: Capture, list: Readonly<Record<string, unknown>>): void {
		this.#limit(capture);
		const value = this.#parsed(capture.text(), capture);
		this.#count++;
		this.#found({ value, line: capture.start.line, list });
	}

	#parsed(text: string, from: Capture | undefined): unknown {
		try {
			return JSON.parse(text);
		} catch (error) {
			const { at, wanted } = jsonFault(text) ?? { at: 0, wanted: String(error) };
			throw this.#error(from?.placeAfter(text.slice(0, at)) ?? this.#place(0), wanted);
		}
	}

	#limit(capture: Capture | undefined): void {
		if (capture === undefined || capture.bytes <= ITEM_BYTES_MAX) return;
		throw this.#error(capture.start, `an item of at most ${ITEM_BYTES_MAX / 2 ** 20} MiB`);
	}

	#place(at: number): Place {
		return { line: this.#line, offset: this.#before + at };
	}

	#fail(at: number, wanted: string): never {
		throw this.#error(this.#place(at), wanted);
	}

	#error({ line, offset }: Place, wanted: string): Error {
		return new Error(`${this.#file}: line ${line}, byte ${offset}: want ${wanted}`);
	}
}
