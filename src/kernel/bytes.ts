/** Bytes, without naming Node's Buffer. */

export const NO_BYTES: Uint8Array = new Uint8Array(0);

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
	let length = 0;
	for (const chunk of chunks) length += chunk.length;
	const whole = new Uint8Array(length);
	let offset = 0;
	for (const chunk of chunks) {
		whole.set(chunk, offset);
		offset += chunk.length;
	}
	return whole;
}

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
	return encoder.encode(text);
}
