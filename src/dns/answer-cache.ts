/**
 * Answers as they went out, by the packet that asked for them: whoever asks the same gets the same bytes, under its
 * own id, for as long as the zone has not changed.
 */

/** Answers kept; when there are more, all are forgotten. */
const ANSWERS_MAX = 20_000;
/** Longer answers, which go over TCP, are made anew. Octets. */
const ANSWER_LENGTH_MAX = 1232;
/** Packets that are longer carry something that will not come again, such as a cookie. Octets. */
const PACKET_LENGTH_MAX = 128;
/** Answers with several addresses are kept in so many orders. */
export const ORDERS = 4;

export class AnswerCache {
	readonly #answers = new Map<string, Uint8Array>();
	#version = 0;

	/** Bytes that nobody else has. @param order Which of the {@link ORDERS}. */
	get(packet: Uint8Array, transport: string, order: number, version: number): Uint8Array | undefined {
		if (version !== this.#version) {
			this.#answers.clear();
			this.#version = version;
		}
		const known = packet.length > PACKET_LENGTH_MAX ? undefined : this.#answers.get(keyOf(packet, transport, order));
		if (known === undefined) return undefined;
		const answer = known.slice();
		answer[0] = packet[0] ?? 0;
		answer[1] = packet[1] ?? 0;
		return answer;
	}

	put(packet: Uint8Array, transport: string, order: number, answer: Uint8Array): void {
		if (packet.length > PACKET_LENGTH_MAX || answer.length > ANSWER_LENGTH_MAX) return;
		if (this.#answers.size >= ANSWERS_MAX) this.#answers.clear();
		// A copy of its own: a view would keep the whole buffer that the answer was written into.
		this.#answers.set(keyOf(packet, transport, order), Uint8Array.from(answer));
	}
}

/** Everything but the id. */
function keyOf(packet: Uint8Array, transport: string, order: number): string {
	let key = `${transport}${order}`;
	for (let at = 2; at < packet.length; at++) key += String.fromCharCode(packet[at] ?? 0);
	return key;
}
