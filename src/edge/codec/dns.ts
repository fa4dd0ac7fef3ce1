/**
 * DNS on the wire. Queries are read by the library; answers are written here, since it writes names in full, and
 * an answer of many records must fit into a datagram.
 *
 * @see RFC 1035 section 4.1.4 (compression), RFC 6891 (EDNS)
 */
import { type DecodedPacket, decode } from "dns-packet";
import { parseIP } from "../../api/ip.ts";
import { UDP_SIZE_MAX } from "../../dns/answer.ts";
import type { Decoded, DnsCodec, Edns, Query, QueryQuestion, Response } from "../../dns/message.ts";
import type { DnsRecord, Rcode, RecordData } from "../../plan/dns-records/records.ts";

const RCODES: Readonly<Record<Rcode, number>> = {
	NOERROR: 0,
	FORMERR: 1,
	SERVFAIL: 2,
	NXDOMAIN: 3,
	NOTIMP: 4,
	REFUSED: 5,
	BADVERS: 16,
};
const TYPES: Readonly<Record<RecordData["type"], number>> = {
	A: 1,
	NS: 2,
	CNAME: 5,
	SOA: 6,
	PTR: 12,
	TXT: 16,
	AAAA: 28,
	SRV: 33,
};
const OPT = 41;
const OPT_LENGTH = 11;
const TRUNCATED = 0x0200;
const LABEL_LENGTH_MAX = 63;
const NAME_LENGTH_MAX = 255;
const HEADER_LENGTH = 12;
const MESSAGE_LENGTH_MAX = 65_535;
/** Stands for a dot that is in a label and does not end it; no octet is read as this. */
const DOT_IN_LABEL = "\uf02e";
/** Pointers have fourteen bits. */
const POINTER_MAX = 0x3fff;

export const dnsCodec: DnsCodec = { decode: decoded, encode };

const TYPE_NAMES: Readonly<Record<number, string>> = {
	...Object.fromEntries(Object.entries(TYPES).map(([name, code]) => [code, name])),
	251: "IXFR",
	252: "AXFR",
};

function decoded(bytes: Uint8Array): Decoded {
	const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (buffer.length < HEADER_LENGTH || (buffer.readUInt8(2) & 0x80) !== 0) return { kind: "ignored" };
	const header: Query = {
		id: buffer.readUInt16BE(0),
		opcode: (buffer.readUInt8(2) >> 3) & 0x0f,
		isRecursionDesired: (buffer.readUInt8(2) & 1) !== 0,
		isCheckingDisabled: (buffer.readUInt8(3) & 0x10) !== 0,
		questions: [],
	};
	if (header.opcode !== 0) return { kind: "query", query: header };
	const question = buffer.readUInt16BE(4) === 1 ? questionAt(buffer, HEADER_LENGTH) : undefined;
	if (question === undefined) return { kind: "malformed", query: header };
	const query = { ...header, questions: [question] };
	try {
		const edns = ednsOf(decode(buffer));
		return { kind: "query", query: edns === undefined ? query : { ...query, edns } };
	} catch {
		return { kind: "malformed", query };
	}
}

/** Undefined when it is cut off. */
function questionAt(buffer: Buffer, start: number): QueryQuestion | undefined {
	const labels: string[] = [];
	let at = start;
	for (let length = buffer[at]; length !== 0; length = buffer[at]) {
		if (length === undefined || length > LABEL_LENGTH_MAX || at - start > NAME_LENGTH_MAX) return undefined;
		const label = buffer.toString("latin1", at + 1, at + 1 + length);
		if (label.length < length) return undefined;
		labels.push(label.replaceAll(".", DOT_IN_LABEL));
		at += 1 + length;
	}
	if (at + 5 > buffer.length || at - start >= NAME_LENGTH_MAX) return undefined;
	const typeCode = buffer.readUInt16BE(at + 1);
	const type = TYPE_NAMES[typeCode] ?? `TYPE${typeCode}`;
	return { name: `${labels.join(".")}.`, type, typeCode, classCode: buffer.readUInt16BE(at + 3) };
}

function ednsOf({ additionals = [] }: DecodedPacket): Edns | undefined {
	const opt = additionals.find(({ type }) => type === "OPT");
	if (opt === undefined || opt.type !== "OPT") return undefined;
	return { version: opt.ednsVersion, udpSize: opt.udpPayloadSize, isDnssecOk: opt.flag_do };
}

/** Names are only pointed back at: what fits is told by writing until it does not. */
function encode(response: Response, size: number): Uint8Array {
	const { query, rcode, answers, authority, additional } = response;
	const writer = new MessageWriter();
	const code = RCODES[rcode];
	writer.uint16(query.id);
	writer.uint16(flagsOf(response, code));
	writer.uint16(query.questions.length);
	for (let section = 0; section < 3; section++) writer.uint16(0);
	for (const { name, typeCode, classCode } of query.questions) {
		writer.name(name);
		writer.uint16(typeCode);
		writer.uint16(classCode);
	}
	const room = size - (query.edns === undefined ? 0 : OPT_LENGTH);
	const counts = [answers, authority, additional].map((records) => writer.records(records, room));
	if (query.edns !== undefined) writer.opt(query.edns, code >> 4);
	const all = answers.length + authority.length + additional.length;
	const [answered = 0, authorities = 0, added = 0] = counts;
	if (answered + authorities + added < all) writer.flag(TRUNCATED);
	return writer.counted([answered, authorities, added + (query.edns === undefined ? 0 : 1)]);
}

function flagsOf({ query, isAuthoritative, isRecursionAvailable }: Response, code: number): number {
	return (
		0x8000 |
		(query.opcode << 11) |
		(isAuthoritative ? 0x0400 : 0) |
		(query.isRecursionDesired ? 0x0100 : 0) |
		(isRecursionAvailable ? 0x0080 : 0) |
		(query.isCheckingDisabled ? 0x0010 : 0) |
		(code & 0x0f)
	);
}

/** Writes into one buffer; names that were written before are pointed at. */
class MessageWriter {
	#buffer: Buffer = Buffer.allocUnsafe(512);
	#length = 0;
	/** Where a name, or the rest of one, stands; spelled as it was written. */
	readonly #names = new Map<string, number>();
	#isFull = false;

	/** The message, with the numbers of records in its sections. */
	counted(counts: readonly number[]): Uint8Array {
		for (const [section, count] of counts.entries()) this.#buffer.writeUInt16BE(count, 6 + section * 2);
		return this.#buffer.subarray(0, this.#length);
	}

	flag(bits: number): void {
		this.#buffer.writeUInt16BE(this.#buffer.readUInt16BE(2) | bits, 2);
	}

	/** How many there was room for. @param end The message ends there at the latest, once one record did not fit. */
	records(records: readonly DnsRecord[], end: number): number {
		for (const [index, record] of records.entries()) {
			const before = this.#length;
			if (!this.#isFull) this.#record(record);
			this.#isFull ||= this.#length > end;
			if (!this.#isFull) continue;
			this.#length = before;
			return index;
		}
		return records.length;
	}

	uint8(value: number): void {
		this.#room(1);
		this.#length = this.#buffer.writeUInt8(value, this.#length);
	}

	uint16(value: number): void {
		this.#room(2);
		this.#length = this.#buffer.writeUInt16BE(value & 0xffff, this.#length);
	}

	uint32(value: number): void {
		this.#room(4);
		this.#length = this.#buffer.writeUInt32BE(value >>> 0, this.#length);
	}

	name(name: string, isCompressed = true): void {
		let rest = name.replace(/\.$/, "");
		while (rest !== "") {
			const known = isCompressed ? this.#names.get(rest) : undefined;
			if (known !== undefined) {
				this.uint16(0xc000 | known);
				return;
			}
			if (this.#length <= POINTER_MAX) this.#names.set(rest, this.#length);
			const dot = rest.indexOf(".");
			const label = dot < 0 ? rest : rest.slice(0, dot);
			this.#text(label);
			rest = dot < 0 ? "" : rest.slice(dot + 1);
		}
		this.uint8(0);
	}

	#record({ name, ttl, data }: DnsRecord): void {
		this.name(name);
		this.uint16(TYPES[data.type]);
		this.uint16(1);
		this.uint32(ttl);
		const at = this.#length;
		this.uint16(0);
		this.#data(data);
		this.#buffer.writeUInt16BE(this.#length - at - 2, at);
	}

	opt({ isDnssecOk }: Edns, extendedCode: number): void {
		this.uint8(0);
		this.uint16(OPT);
		this.uint16(UDP_SIZE_MAX);
		this.uint8(extendedCode);
		this.uint8(0);
		this.uint16(isDnssecOk ? 0x8000 : 0);
		this.uint16(0);
	}

	#data(data: RecordData): void {
		if ("address" in data) this.#address(data.address, data.type === "A" ? 4 : 16);
		else if (data.type === "TXT") {
			for (const text of data.texts) this.#text(text);
		} else if (data.type === "SOA") {
			this.name(data.mname);
			this.name(data.rname);
			for (const value of [data.serial, data.refresh, data.retry, data.expire, data.minimum]) this.uint32(value);
		} else if (data.type === "SRV") {
			for (const value of [data.priority, data.weight, data.port]) this.uint16(value);
			// RFC 2782: a target must not be a pointer.
			this.name(data.target, false);
		} else this.name(data.target);
	}

	#address(address: string, length: number): void {
		let value = parseIP(address)?.value ?? 0n;
		this.#room(length);
		for (let i = length - 1; i >= 0; i--) {
			this.#buffer[this.#length + i] = Number(value & 0xffn);
			value >>= 8n;
		}
		this.#length += length;
	}

	/** With its length in front. */
	#text(text: string): void {
		const bytes = Buffer.from(text.replaceAll(DOT_IN_LABEL, "."), "latin1");
		this.uint8(bytes.length);
		this.#room(bytes.length);
		this.#length += bytes.copy(this.#buffer, this.#length);
	}

	#room(count: number): void {
		if (this.#length + count <= this.#buffer.length) return;
		const larger = Buffer.allocUnsafe(Math.min(MESSAGE_LENGTH_MAX * 4, this.#buffer.length * 2 + count));
		this.#buffer.copy(larger, 0, 0, this.#length);
		this.#buffer = larger;
	}
}
