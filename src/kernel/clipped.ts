/** Texts for people that quote what somebody sent: nobody reads more of it, and each copy costs. */

/** The beginning of a longer text, and how long it was: `abc... (1200 characters)`. */
export function clipped(text: string, charactersMax: number): string {
	if (text.length <= charactersMax) return text;
	return `${text.slice(0, wholeEnd(text, charactersMax))}... (${text.length} characters)`;
}

/** Not between the halves of one character. */
function wholeEnd(text: string, end: number): number {
	const last = text.charCodeAt(end - 1);
	return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

/** As `JSON.stringify` of plain data, made only as far as it is shown: the rest of a long value costs nothing. */
export function clippedJson(value: unknown, charactersMax: number): string {
	const writer = new ShortWriter(charactersMax);
	writer.write(value);
	return writer.text.length <= charactersMax && writer.isWhole
		? writer.text
		: `${writer.text.slice(0, wholeEnd(writer.text, Math.min(writer.text.length, charactersMax)))}...`;
}

class ShortWriter {
	text = "";
	/** Nothing was left out. */
	isWhole = true;
	readonly #max: number;

	constructor(charactersMax: number) {
		this.#max = charactersMax;
	}

	write(value: unknown): void {
		if (Array.isArray(value)) this.#writeList(value);
		else if (typeof value === "object" && value !== null) this.#writeObject(value as Readonly<Record<string, unknown>>);
		else if (typeof value === "string") this.#writeString(value);
		else this.text += JSON.stringify(value) ?? "null";
	}

	#writeString(text: string): void {
		const isShort = text.length <= this.#max;
		this.text += JSON.stringify(isShort ? text : text.slice(0, wholeEnd(text, this.#max)));
		this.isWhole &&= isShort;
	}

	#writeList(list: readonly unknown[]): void {
		this.text += "[";
		for (const [index, item] of list.entries()) {
			if (this.#isFull()) return;
			if (index > 0) this.text += ",";
			this.write(item);
		}
		this.text += "]";
	}

	#writeObject(object: Readonly<Record<string, unknown>>): void {
		this.text += "{";
		let isFirst = true;
		for (const key in object) {
			if (!Object.hasOwn(object, key) || object[key] === undefined) continue;
			if (this.#isFull()) return;
			if (!isFirst) this.text += ",";
			isFirst = false;
			this.#writeString(key);
			this.text += ":";
			this.write(object[key]);
		}
		this.text += "}";
	}

	#isFull(): boolean {
		const isFull = this.text.length > this.#max;
		this.isWhole &&= !isFull;
		return isFull;
	}
}
